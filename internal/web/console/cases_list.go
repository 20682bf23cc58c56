package console

import (
	"context"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
)

// casesList is shown by the desk, in lanes or as a table. Its export goes through the statuses in their order.
var casesList = listOf(listing{
	name: "cases", title: "Casos", access: everyone,
	persons: true,
	fields: []listField{
		partnerField,
		{Name: "status", Label: "Situação", None: "Em aberto", Options: plainOptions(cyber.CaseStatuses())},
		{Name: "service", Label: "Serviço", None: "Todos", Text: true},
		{Name: "owner", Label: "Responsável", None: "Qualquer", Text: true},
		{
			Name:    "due",
			Label:   "Prazo",
			Options: []choiceOption{{"late", "Atrasados"}, {"today", "Vencem hoje"}},
			Tab:     true,
		},
		{Name: "view", Options: []choiceOption{{"lanes", "Faixas"}}, Tab: true},
		{Name: "from", Label: "Aberto de"},
		{Name: "to", Label: "Aberto até"},
		{Name: "sort", Label: "Ordem", Options: []choiceOption{
			{"urgent", "Mais urgentes primeiro"},
			{string(cyber.LaneNewest), "Mais novos primeiro"},
			{string(cyber.LaneOldest), "Mais antigos primeiro"},
		}},
	},
	show: showCases,
}, filter.readCases, rowOfCase)

// rowOfCase lays a case out as the desk does: three lines a case on a telephone.
func rowOfCase(t ticket, f filter) listRow {
	id, short := string(t.ID), strconv.FormatInt(t.Short, 10)
	person := listCell{Label: "Pessoa", Class: "word a", Text: "sem nome", Tone: "soft"}
	if t.Name != "" {
		person.Text, person.Tone, person.Avatar = t.Name, "", &avatar{Initials: t.Mark}
	}
	state := string(t.Status)
	if !t.Ending.At.IsZero() {
		state = "Passa a " + string(t.Ending.To)
	}
	said := listCell{Label: "Última mensagem", Class: "word f", Text: t.LastWord, Tone: "soft"}
	if t.FromPerson {
		said.Tone = "waits"
	}
	owner, who := avatar{Initials: "–", Class: "none", Says: "ninguém"}, t.Assignee
	if who != "" {
		if f.confined { // which operator of the service works on a case is not for partners
			who = theService
		}
		owner = avatar{Initials: monogramOf(who), Class: "us", Says: who}
	}
	due, _ := t.Clock.Due()
	return listRow{Key: id, Name: "o caso " + short, Cells: []listCell{
		exportCell("id", id),
		{Label: "Caso", Class: "num soft x", Export: "número", Text: short},
		person,
		exportCell("serviço", string(t.Service)),
		{Label: "Serviço", Class: "c", Text: t.ServiceName, Path: joinPath("cases", id)},
		f.partnerCell("x", t.Partner),
		exportCell("situação", string(t.Status)),
		{Label: "Situação", Class: "word d", Text: state},
		stampCell("aberto", t.CreatedAt),
		stampCell("prazo", due),
		{Label: "Prazo", Class: "word b", Tone: "soft", Badge: t.Deadline},
		said,
		exportCell("responsável", who),
		{Label: "Responsável", Class: "e", Avatar: &owner},
	}}
}

// laneFilter returns the filter of one lane of the desk. Owners are named by words of our own or by an operator's
// e-mail address, which never gets into the address of a page.
func (f filter) laneFilter(status cyber.CaseStatus, limit int) cyber.LaneFilter {
	l := cyber.LaneFilter{
		Partner:  f.Partner,
		LiveOnly: f.isOfLivePartners(),
		User:     f.user,
		Service:  cyber.ServiceID(f.valueOfName("service")),
		Status:   status,
		From:     f.From,
		To:       f.To,
		Limit:    limit,
	}
	switch f.valueOfName("due") {
	case "late":
		l.DueTo = f.now
	case "today":
		l.DueFrom, l.DueTo = f.now, nextMidnight(f.now)
	}
	if order := f.valueOfName("sort"); order != "urgent" {
		l.Order = cyber.LaneOrder(order)
	}
	if l.Assignee = f.valueOfName("owner"); l.Assignee == ownerNone {
		l.Assignee, l.Unassigned = "", true
	}
	return l
}

// readCases reads cases of the status that the place names, and goes on with the next status behind its end.
func (f filter) readCases(ctx context.Context, in *Rules, limit int) ([]ticket, string, error) {
	status, after, _ := strings.Cut(f.After, ".")
	at, _ := strconv.Atoi(status) // anything else is the beginning
	only := f.valueOfName("status")
	for statuses := cyber.CaseStatuses(); at < len(statuses); at, after = at+1, "" {
		if only != "" && only != string(statuses[at]) || only == "" && !statuses[at].Open() {
			continue
		}
		one := f.laneFilter(statuses[at], limit)
		one.After = parseLaneMark(after)
		lane, err := in.Cases.ListLane(ctx, one)
		if err != nil {
			return nil, "", err
		}
		list := make([]ticket, len(lane.Cases))
		for i, one := range lane.Cases {
			list[i].Case = one
		}
		if lane.Next.ID != "" {
			return list, strconv.Itoa(at) + "." + formatLaneMark(lane.Next), nil
		}
		if len(list) > 0 {
			return list, strconv.Itoa(at + 1), nil
		}
	}
	return nil, "", nil
}
