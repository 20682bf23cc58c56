package console

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
)

// statusOptions returns the statuses of a case as options of a select field.
func statusOptions() (options []choiceOption) {
	for _, s := range cyber.CaseStatuses() {
		options = append(options, choiceOption{string(s), string(s)})
	}
	return options
}

// casesList has no table of its own: the desk shows it in lanes. Its export goes through the statuses in their order.
var casesList = listing{
	name: "cases", title: "Casos", role: operator.Viewer, portal: look,
	persons: true,
	fields: []listField{
		partnerField, {Name: "status", Label: "Situação", None: "Em aberto", Options: statusOptions()}, {Name: "service", Label: "Serviço", None: "Todos", Text: true},
		{Name: "owner", Label: "Responsável", None: "Qualquer", Text: true}, {Name: "due", Label: "Prazo", Options: []choiceOption{{"late", "Atrasados"}, {"today", "Vencem hoje"}}, Tab: true}, {Name: "view", Options: []choiceOption{{"lanes", "Faixas"}}, Tab: true}, {Name: "from", Label: "Aberto de"}, {Name: "to", Label: "Aberto até"},
		{Name: "sort", Label: "Ordem", Options: []choiceOption{
			{"urgent", "Mais urgentes primeiro"}, {string(cyber.LaneNewest), "Mais novos primeiro"}, {string(cyber.LaneOldest), "Mais antigos primeiro"},
		}},
	},
	header: []string{"id", "número", "serviço", "parceiro", "situação", "aberto", "prazo", "responsável"},
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		lane, next, err := f.readLane(ctx, in, limit)
		if err != nil {
			return nil, "", err
		}
		names, err := partnerNamesIn(ctx, in)
		lines := make([]listLine, len(lane.Cases))
		for i, one := range lane.Cases {
			due, _ := one.Clock.Due()
			lines[i] = listLine{string(one.Partner) + "/" + string(one.ID), []string{
				string(one.ID), strconv.FormatInt(one.Short, 10), string(one.Service), names[one.Partner], string(one.Status), formatStamp(one.CreatedAt), formatStamp(due), f.assigneeOf(one),
			}}
		}
		return lines, next, err
	},
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
		Partner: f.Partner, User: f.user, Service: cyber.ServiceID(f.valueOfName("service")), Status: status, From: f.From, To: f.To, Limit: limit,
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
	switch owner := f.valueOfName("owner"); owner {
	case ownerNone:
		l.Unassigned = true
	default:
		l.Assignee = owner
	}
	return l
}

// readLane reads cases of the status that the place names, and goes on with the next status behind its end.
func (f filter) readLane(ctx context.Context, in *Rules, limit int) (cyber.Lane, string, error) {
	statuses := cyber.CaseStatuses()
	parts := strings.SplitN(f.After, ".", 3)
	at, _ := strconv.Atoi(parts[0]) // anything else is the beginning
	for ; at < len(statuses); at++ {
		status := statuses[at]
		if only := f.valueOfName("status"); only != "" && only != string(status) || only == "" && !status.Open() {
			parts = nil
			continue
		}
		one := f.laneFilter(status, limit)
		if len(parts) == 3 {
			one.After.ID = cyber.CaseID(parts[2])
			if due, _ := strconv.ParseInt(parts[1], 10, 64); due != 0 {
				one.After.Due = time.UnixMicro(due)
			}
		}
		lane, err := in.Cases.ListLane(ctx, one)
		if err != nil {
			return lane, "", err
		}
		if lane.Next.ID != "" {
			due := int64(0)
			if !lane.Next.Due.IsZero() {
				due = lane.Next.Due.UnixMicro()
			}
			return lane, strings.Join([]string{strconv.Itoa(at), strconv.FormatInt(due, 10), string(lane.Next.ID)}, "."), nil
		}
		if len(lane.Cases) > 0 {
			return lane, strconv.Itoa(at + 1), nil
		}
		parts = nil
	}
	return cyber.Lane{}, "", nil
}

// auditList is the trail without what its lines say beyond their columns, which may name people.
var auditList = listing{
	name: "audit", title: "Auditoria", role: operator.Admin, portal: integrate,
	fields: []listField{
		{Name: "actor", Label: "Quem", Hint: "e-mail, op_… ou cli:…", Max: 320}, {Name: "action", Label: "Ação", Hint: "partner.create", Max: 60},
		{Name: "subject", Label: "Sobre", Hint: "pt_…", Max: 320}, fromField, toField,
		{Name: "sort", Label: "Ordem", Options: []choiceOption{{"new", "Mais novas primeiro"}, {"old", "Mais antigas primeiro"}}},
	},
	header: []string{"número", "quando", "quem", "ação", "sobre"},
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		entries, next, err := f.readEntries(ctx, in, limit)
		if err != nil {
			return nil, "", err
		}
		emails, err := operatorEmails(ctx, in)
		lines := make([]listLine, len(entries))
		for i, e := range entries {
			who := e.Name
			if email := emails[e.Name]; email != "" {
				who = email
			}
			lines[i] = listLine{strconv.FormatInt(e.Seq, 10), []string{strconv.FormatInt(e.Seq, 10), formatStamp(e.At), who, e.Action, e.Subject}}
		}
		return lines, formatSeq(next), err
	},
}

// readEntries reads lines of the trail that fit, and the number that the next page goes on from; 0 at the end.
func (f filter) readEntries(ctx context.Context, in *Rules, limit int) ([]operator.Entry, int64, error) {
	actor := f.valueOfName("actor")
	if strings.Contains(actor, "@") { // the trail names people by their ids: addresses change hands
		emails, err := operatorEmails(ctx, in)
		if err != nil {
			return nil, 0, err
		}
		for id, email := range emails {
			if strings.EqualFold(email, actor) {
				actor = id
			}
		}
	}
	entries, err := in.Audit.ListEntries(ctx, operator.Filter{
		Actor: actor, Action: f.valueOfName("action"), Subject: f.valueOfName("subject"), From: f.From, To: f.To, OldestFirst: f.isOldestFirst(), Before: f.parseNumber(), Limit: limit + 1,
	})
	if len(entries) <= limit {
		return entries, 0, err
	}
	return entries[:limit], entries[limit-1].Seq, err
}

// operatorEmails returns the e-mail addresses of operators, by their ids.
func operatorEmails(ctx context.Context, in *Rules) (map[string]string, error) {
	people, err := in.Operators.Operators(ctx)
	emails := make(map[string]string, len(people))
	for _, o := range people {
		emails[string(o.ID)] = o.Email
	}
	return emails, err
}
