package console

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
)

// auditList is the trail without what its lines say beyond their columns, which may name people.
var auditList = listing{
	name: "audit", title: "Auditoria", role: operator.Admin, portal: integrate,
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
	header: []string{"número", "quando", "quem", "o que fez", "ação", "sobre"},
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		entries, next, err := f.readEntries(ctx, in, limit)
		if err != nil {
			return nil, "", err
		}
		emails, err := operatorEmails(ctx, in)
		if err != nil {
			return nil, "", err
		}
		lines := make([]listLine, len(entries))
		for i, e := range entries {
			seq := strconv.FormatInt(e.Seq, 10)
			who := cmp.Or(emails[e.Name], e.Name)
			cells := []string{seq, formatStamp(e.At), who, describeAction(e.Action), e.Action, e.Subject}
			lines[i] = listLine{seq, cells}
		}
		return lines, next, nil
	},
}

// readEntries reads lines of the trail that fit, and the number that the next page goes on from; empty at the end.
func (f filter) readEntries(ctx context.Context, in *Rules, limit int) ([]operator.Entry, string, error) {
	actor := f.valueOfName("actor")
	if strings.Contains(actor, "@") { // the trail names people by their ids: addresses change hands
		emails, err := operatorEmails(ctx, in)
		if err != nil {
			return nil, "", err
		}
		for id, email := range emails {
			if strings.EqualFold(email, actor) {
				actor = id
			}
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
	if len(entries) <= limit {
		return entries, "", err
	}
	return entries[:limit], formatSeq(entries[limit-1].Seq), err
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
