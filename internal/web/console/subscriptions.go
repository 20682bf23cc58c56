package console

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Subscriptions finds subscriptions by what an operator knows of them.
type Subscriptions interface {
	// SubscriptionList returns a page and the number that the next goes on from; 0 at the end.
	SubscriptionList(
		ctx context.Context, id partner.ID, f subscription.ListFilter,
	) ([]subscription.Subscription, int64, error)
	SubscriptionBySeq(ctx context.Context, id partner.ID, seq int64) (subscription.Subscription, error)
	SubscriptionsOfCPF(ctx context.Context, id partner.ID, cpf string) ([]subscription.Subscription, error)
	// NamesOfUsers returns the names of those people of a partner who have a subscription.
	NamesOfUsers(ctx context.Context, id partner.ID, users []partner.UserHash) (map[partner.UserHash]string, error)
	// SubscriptionsOfUser returns the subscriptions of the person with a userHash, those that have not ended first.
	SubscriptionsOfUser(ctx context.Context, id partner.ID, user partner.UserHash) ([]subscription.Subscription, error)
}

// subscriptionsPart is what stands above the list of a partner's subscriptions.
type subscriptionsPart struct {
	Total int64
	// Sought is the masked CPF that was looked for; empty on the plain list.
	Sought string
}

// hasEnded reports whether a subscription has ended by today's date, be it swept yet or not.
func hasEnded(s subscription.Subscription, now time.Time) bool {
	return s.Over(subscription.DayInBrazil(now))
}

// subscriptionBadge returns the word for the state of a subscription.
func subscriptionBadge(s subscription.Subscription, now time.Time) badge {
	switch {
	case hasEnded(s, now):
		return badge{"", "Encerrada"}
	case !s.SuspendedAt.IsZero():
		return badge{"warn", "Suspensa"}
	}
	return badge{"good", "Ativa"}
}

// gatherSubscriptions returns one page of a partner's subscriptions, personal values masked.
func (c *Console) gatherSubscriptions(ctx context.Context, _ viewer, f filter) (listPart, error) {
	list, next, err := f.readSubscriptions(ctx, &c.Rules, perPage)
	if err != nil {
		return listPart{}, err
	}
	plans, err := c.Rules.Plans.ListPlans(ctx, f.Partner)
	if err != nil {
		return listPart{}, err
	}
	active, err := c.Rules.Subscriptions.ListActive(ctx, f.Partner, 1, 1)
	if err != nil {
		return listPart{}, err
	}
	part := newListPart(f, list, rowOfSubscription, next, f.totalIfOnly(active.Total, "partner"))
	part.more = subscriptionsPart{Total: active.Total}
	options := make([]choiceOption, len(plans))
	for i, p := range plans {
		options[i] = choiceOption{string(p.ID), string(p.ID)}
	}
	part.options = map[string][]choiceOption{"plan": options}
	return part, nil
}

// findSubscriptions looks a CPF up. It is a POST, so that the CPF stands in no address, history or log.
func findSubscriptions(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	if err != nil {
		return nil, err
	}
	check := identifier.Required
	if choice.Current.Mode.Has(partner.AnyCheckDigits) {
		check = identifier.Waived
	}
	cpf, err := identifier.ParseCPF(r.trimmedField("cpf"), check)
	if err != nil {
		return nil, errForm.With("cpf", fault.CPFFormat).Because(err)
	}
	id, masked := choice.Current.ID, identifier.MaskValue(identifier.CPF, cpf)
	ref := c.Rules.Subjects.Reference(subject.Person{CPF: cpf})
	if err := c.recordAction(r, "subscription.find", ref, string(id)+" "+masked); err != nil {
		return nil, err
	}
	found, err := c.Rules.FindSubscriptions.SubscriptionsOfCPF(r.Context(), id, cpf)
	if err != nil {
		return nil, err
	}
	return view{"subscriptions", "Assinaturas", listPage{
		partnerChoice: choice,
		Table:         newListTable(filter{Partner: id, now: c.Now()}, found, rowOfSubscription),
		More:          subscriptionsPart{Total: int64(len(found)), Sought: masked},
	}}, nil
}
