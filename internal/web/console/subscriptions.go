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

// subscriptionsPage is the data of the list of a partner's subscriptions.
type subscriptionsPage struct {
	partnerChoice
	List  listView
	Table listTable
	Total int64
	// Sought is the masked CPF that was looked for; empty on the plain list.
	Sought string
	// Plans reports whether the partner has any plan yet.
	Plans int
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

// listSubscriptions shows one page of a partner's subscriptions, personal values masked; without a partner only the
// choice of one.
func listSubscriptions(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	if err != nil {
		return nil, err
	}
	page := subscriptionsPage{partnerChoice: choice}
	if choice.Current.ID == "" {
		return view{"subscriptions", "Assinaturas", page}, nil
	}
	f, err := c.parseFilterQuery(r.Context(), &subscriptionsList, r.URL.Query(), choice.Current.ID, choice.All)
	if err != nil {
		return nil, err
	}
	if err := c.gatherSubscriptions(r.Context(), r.viewer, f, &page); err != nil {
		return nil, err
	}
	return view{"subscriptions", "Assinaturas", page}, nil
}

// gatherSubscriptions adds a page of the list to the page of a partner's subscriptions.
func (c *Console) gatherSubscriptions(ctx context.Context, who viewer, f filter, page *subscriptionsPage) error {
	list, next, err := f.readSubscriptions(ctx, &c.Rules, perPage)
	if err != nil {
		return err
	}
	plans, err := c.Rules.Plans.ListPlans(ctx, page.Current.ID)
	if err != nil {
		return err
	}
	active, err := c.Rules.Subscriptions.ListActive(ctx, page.Current.ID, 1, 1)
	if err != nil {
		return err
	}
	page.Table = tableOfSubscriptions(page.Current.ID, list, c.Now())
	page.Total, page.Plans = active.Total, len(plans)
	total := int64(-1)
	if len(f.values) == 0 && f.Person == "" {
		total = page.Total
	}
	part := listPart{partners: page.All, shown: len(list), next: next, total: total}
	page.List, err = c.newListView(ctx, who, &subscriptionsList, f, part)
	if err != nil {
		return err
	}
	for _, p := range plans {
		page.List.offerOption("plan", choiceOption{string(p.ID), string(p.ID)})
	}
	return nil
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
	return view{"subscriptions", "Assinaturas", subscriptionsPage{
		partnerChoice: choice,
		Table:         tableOfSubscriptions(id, found, c.Now()),
		Total:         int64(len(found)),
		Sought:        masked,
		Plans:         1,
	}}, nil
}
