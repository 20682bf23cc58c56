package console

import (
	"context"
	"strconv"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

var subscriptionStates = listField{Name: "state", Label: "Situação", None: "Não encerradas", Options: []choiceOption{
	{string(subscription.ListSuspended), "Suspensas"}, {string(subscription.ListEnded), "Encerradas"},
}}

var subscriptionsList = listOf(listing{
	name:    "subscriptions",
	title:   "Assinaturas",
	persons: true,
	access:  everyone,
	fields: []listField{
		ofOne,
		subscriptionStates,
		{Name: "plan", Label: "Plano", None: "Todos", Text: true},
		{Name: "from", Label: "Início de"},
		{Name: "to", Label: "Início até"},
		{
			Name:    "sort",
			Label:   "Ordem",
			Options: []choiceOption{{"old", "Mais antigas primeiro"}, {"new", "Mais novas primeiro"}},
		},
	},
	action: &endMany,
	gather: (*Console).gatherSubscriptions,
}, filter.readSubscriptions, rowOfSubscription)

func rowOfSubscription(s subscription.Subscription, f filter) listRow {
	var last, end string
	if day := s.LastDay(); day != 0 {
		last, end = day.String(), day.Time().Format("02/01/2006")
	}
	state := subscriptionBadge(s, f.now)
	if state.Kind == "good" {
		state.Kind = "" // quiet: it is the usual one
	}
	seq := strconv.FormatInt(s.Seq, 10)
	return listRow{Key: string(f.Partner) + "/" + seq, Name: "a assinatura " + seq, Cells: []listCell{
		{Label: "Nº", Class: "m num", Export: "número", Text: seq},
		{
			Label:  "Pessoa",
			Class:  "c",
			Export: "pessoa",
			Text:   maskPersonName(s.Beneficiary.Name),
			Path:   joinPath("subscriptions", f.Partner, seq),
			Hidden: "assinatura " + seq,
		},
		{
			Label:  "CPF",
			Class:  "x",
			Export: "CPF",
			Text:   identifier.MaskValue(identifier.CPF, s.Beneficiary.CPF),
			IsCode: true,
		},
		{Label: "Plano", Class: "a", Export: "plano", Text: string(s.Plan)},
		exportCell("início", s.Start.String()),
		exportCell("fim", last),
		{Label: "Fim", Class: "x", Text: end},
		{Label: "Situação", Class: "d", Export: "situação", Badge: state},
		{Label: "Início", Class: "b num", Text: s.Start.Time().Format("02/01/2006")},
	}}
}

// readSubscriptions returns a page of subscriptions. The days of its filter are days in Brazil, the last one included.
func (f filter) readSubscriptions(
	ctx context.Context, in *Rules, limit int,
) ([]subscription.Subscription, string, error) {
	l := subscription.ListFilter{
		State:       subscription.ListState(f.valueOfName("state")),
		Plan:        plan.ID(f.valueOfName("plan")),
		User:        f.user,
		NewestFirst: f.valueOfName("sort") == "new",
		After:       f.parseNumber(),
		Limit:       limit,
	}
	if !f.From.IsZero() {
		l.From = subscription.DayInBrazil(f.From)
	}
	if !f.To.IsZero() {
		l.To = subscription.DayInBrazil(f.To) - 1
	}
	list, next, err := in.FindSubscriptions.SubscriptionList(ctx, f.Partner, l)
	return list, formatSeq(next), err
}
