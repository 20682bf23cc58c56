package console

import (
	"context"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// casesList has no table of its own: the desk shows it in lanes. Its export goes through the statuses in their order.
var casesList = listing{
	name: "cases", title: "Casos", role: operator.Viewer, portal: look,
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
	header: []string{"id", "número", "serviço", "parceiro", "situação", "aberto", "prazo", "responsável"},
	read: linesOf(filter.readCases, func(f filter, partners map[partner.ID]string, one cyber.Case) listLine {
		due, _ := one.Clock.Due()
		return listLine{string(one.Partner) + "/" + string(one.ID), []string{
			string(one.ID),
			strconv.FormatInt(one.Short, 10),
			string(one.Service),
			partners[one.Partner],
			string(one.Status),
			formatStamp(one.CreatedAt),
			formatStamp(due),
			f.assigneeOf(one),
		}}
	}),
}

// assigneeOf returns who works on a case; partners' people do not see which operator of the service does.
func (f filter) assigneeOf(one cyber.Case) string {
	if f.confined && one.Assignee != "" {
		return theService
	}
	return one.Assignee
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
func (f filter) readCases(ctx context.Context, in *Rules, limit int) ([]cyber.Case, string, error) {
	parts := strings.SplitN(f.After, ".", 3)
	at, _ := strconv.Atoi(parts[0]) // anything else is the beginning
	only := f.valueOfName("status")
	for statuses := cyber.CaseStatuses(); at < len(statuses); at, parts = at+1, nil {
		if only != "" && only != string(statuses[at]) || only == "" && !statuses[at].Open() {
			continue
		}
		one := f.laneFilter(statuses[at], limit)
		if len(parts) == 3 {
			one.After = cyber.LaneMark{Due: parseMicros(parts[1]), ID: cyber.CaseID(parts[2])}
		}
		lane, err := in.Cases.ListLane(ctx, one)
		if err != nil {
			return nil, "", err
		}
		if lane.Next.ID != "" {
			place := []string{strconv.Itoa(at), formatMicros(lane.Next.Due), string(lane.Next.ID)}
			return lane.Cases, strings.Join(place, "."), nil
		}
		if len(lane.Cases) > 0 {
			return lane.Cases, strconv.Itoa(at + 1), nil
		}
	}
	return nil, "", nil
}

// tableOfCases lays cases out as the desk does: three lines a case on a telephone.
func (c *Console) tableOfCases(list []ticket) listTable {
	t := newListTable("Casos", listColumn{"Caso", "num soft x"}, listColumn{"Pessoa", "word a"},
		listColumn{"Serviço", "c"}, listColumn{"Parceiro", "x"}, listColumn{"Situação", "word d"},
		listColumn{"Prazo", "word b"}, listColumn{"Última mensagem", "word f"}, listColumn{"Responsável", "e"})
	t.Layout = "desk-rows"
	for _, one := range list {
		person := listCell{Text: "sem nome", Tone: "soft"}
		if one.Name != "" {
			person = listCell{Text: one.Name, Avatar: &avatar{Initials: one.Mark}}
		}
		state := string(one.Status)
		if !one.Ending.At.IsZero() {
			state = "Passa a " + string(one.Ending.To)
		}
		due := listCell{Text: one.Deadline.Text, Tone: "soft"}
		if one.Deadline.Class != "" {
			due = listCell{Badge: badge{one.Deadline.Class, one.Deadline.Text}}
		}
		said := listCell{Text: one.LastWord, Tone: "soft"}
		if one.FromPerson {
			said.Tone = "waits"
		}
		owner := avatar{Initials: "–", Class: "none", Says: "ninguém"}
		if one.Assignee != "" {
			owner = avatar{Initials: monogramOf(one.Assignee), Class: "us", Says: one.Assignee}
		}
		t.addRow(listRow{
			Key:  string(one.ID),
			Name: "o caso " + strconv.FormatInt(one.Short, 10),
			Cells: []listCell{
				{Text: strconv.FormatInt(one.Short, 10)},
				person,
				{Text: one.ServiceName, Path: joinPath("cases", string(one.ID))},
				{Text: one.PartnerName},
				{Text: state},
				due,
				said,
				{Avatar: &owner},
			},
		})
	}
	if c.confined {
		t.withoutPartner()
	}
	return t
}
