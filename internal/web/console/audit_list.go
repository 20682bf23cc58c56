package console

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
)

// auditList is the trail without what its lines say beyond their columns, which may name people.
var auditList = listOf(listing{
	name: "audit", title: "Auditoria", access: adminsAndDevelopers,
	fields: []listField{
		{Name: "actor", Label: "Quem", Hint: "e-mail, op_… ou cli:…", Max: 320},
		{Name: "action", Label: "O que fez", Options: actionOptions(), None: "Qualquer ação"},
		{Name: "subject", Label: "Sobre", Hint: "pt_…", Max: 320},
		fromField,
		toField,
		{
			Name:    "sort",
			Label:   "Ordem",
			Options: []choiceOption{{"new", "Mais novas primeiro"}, {"old", "Mais antigas primeiro"}},
		},
	},
	gather: (*Console).gatherAudit,
}, filter.readEntries, rowOfEntry)

// auditRow is a line of the trail. Who is the e-mail of an operator, or the actor as it stands.
type auditRow struct {
	operator.Entry
	Who string
}

// rowOfEntry has no columns of the page, which also tells from where a line is and its details.
func rowOfEntry(e auditRow, _ filter) listRow {
	return listRow{Cells: []listCell{
		exportCell("número", strconv.FormatInt(e.Seq, 10)),
		stampCell("quando", e.At),
		exportCell("quem", e.Who),
		exportCell("o que fez", describeAction(e.Action)),
		exportCell("ação", e.Action),
		exportCell("sobre", e.Subject),
	}}
}

// readEntries reads lines of the trail that fit, and the number that the next page goes on from; empty at the end.
func (f filter) readEntries(ctx context.Context, in *Rules, limit int) ([]auditRow, string, error) {
	emails, err := operatorEmails(ctx, in)
	if err != nil {
		return nil, "", err
	}
	actor := f.valueOfName("actor")
	for id, email := range emails { // the trail names people by their ids: addresses change hands
		if strings.EqualFold(email, actor) {
			actor = id
		}
	}
	entries, err := in.Audit.ListEntries(ctx, operator.Filter{
		Actor:       actor,
		Action:      f.valueOfName("action"),
		Subject:     f.valueOfName("subject"),
		From:        f.From,
		To:          f.To,
		OldestFirst: f.isOldestFirst(),
		Before:      f.parseNumber(),
		Limit:       limit + 1,
	})
	next := ""
	if len(entries) > limit {
		entries, next = entries[:limit], formatSeq(entries[limit-1].Seq)
	}
	return newAuditRows(entries, emails, f.confined), next, err
}

// newAuditRows puts e-mails in the place of operators' ids. Who of the service it was, from where and with what words
// is not for partners.
func newAuditRows(entries []operator.Entry, emails map[string]string, confined bool) []auditRow {
	rows := make([]auditRow, len(entries))
	for i, e := range entries {
		rows[i] = auditRow{e, cmp.Or(emails[e.Name], e.Name)}
		if confined && emails[e.Name] == "" {
			rows[i] = auditRow{operator.Entry{Seq: e.Seq, At: e.At, Action: e.Action, Subject: e.Subject}, theService}
		}
	}
	return rows
}

// operatorEmails returns the e-mail addresses of operators, by their ids.
func operatorEmails(ctx context.Context, in *Rules) (map[string]string, error) {
	people, err := in.Operators.ListOperators(ctx)
	emails := make(map[string]string, len(people))
	for _, o := range people {
		emails[string(o.ID)] = o.Email
	}
	return emails, err
}
