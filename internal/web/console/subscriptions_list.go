package console

import (
	"context"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

var subscriptionStates = listField{Name: "state", Label: "Situação", None: "Não encerradas", Options: []choiceOption{
	{string(subscription.ListSuspended), "Suspensas"}, {string(subscription.ListEnded), "Encerradas"},
}}

var subscriptionsList = listing{
	name:    "subscriptions",
	title:   "Assinaturas",
	persons: true,
	role:    operator.Viewer,
	portal:  look,
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
	header: []string{"número", "pessoa", "CPF", "plano", "início", "fim", "situação"},
	action: &endMany,
	read: linesOf(
		filter.readSubscriptions,
		func(f filter, _ map[partner.ID]string, s subscription.Subscription) listLine {
			last := ""
			if s.LastDay() != 0 {
				last = s.LastDay().String()
			}
			return listLine{string(f.Partner) + "/" + strconv.FormatInt(s.Seq, 10), []string{
				strconv.FormatInt(s.Seq, 10),
				maskPersonName(s.Beneficiary.Name),
				identifier.MaskValue(identifier.CPF, s.Beneficiary.CPF),
				string(s.Plan),
				s.Start.String(),
				last,
				subscriptionBadge(s, f.now).Text,
			}}
		},
	),
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

// tableOfSubscriptions lays a partner's subscriptions out.
func tableOfSubscriptions(id partner.ID, list []subscription.Subscription, now time.Time) listTable {
	t := newListTable("Assinaturas", listColumn{"Nº", "m num"}, listColumn{"Pessoa", "c"}, listColumn{"CPF", "x"},
		listColumn{"Plano", "a"}, listColumn{"Fim", "x"}, listColumn{"Situação", "d"}, listColumn{"Início", "b num"})
	for _, s := range list {
		end := "–"
		if s.LastDay() != 0 {
			end = s.LastDay().Time().Format("02/01/2006")
		}
		state := subscriptionBadge(s, now)
		if state.Kind == "good" {
			state.Kind = "" // quiet: it is the usual one
		}
		seq := strconv.FormatInt(s.Seq, 10)
		t.addRow(listRow{
			Key:  string(id) + "/" + seq,
			Name: "a assinatura " + seq,
			Cells: []listCell{
				{Text: seq},
				{
					Text:   orDash(maskPersonName(s.Beneficiary.Name)),
					Path:   joinPath("subscriptions", string(id), seq),
					Hidden: "assinatura " + seq,
				},
				{Text: identifier.MaskValue(identifier.CPF, s.Beneficiary.CPF), IsCode: true},
				{Text: string(s.Plan)},
				{Text: end},
				{Badge: state},
				{Text: s.Start.Time().Format("02/01/2006")},
			},
		})
	}
	return t
}
