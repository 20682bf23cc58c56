package console

import (
	"context"
	"strconv"
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
		ctx context.Context,
		id partner.ID,
		f subscription.ListFilter,
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

// subscriptionPage is the data of the page of one subscription.
type subscriptionPage struct {
	Partner partner.Partner
	subscription.Subscription
	// Shown says that the person's data stand in clear: the operator gave a reason lately.
	Shown bool
	Path  string
	// Person is the address of the page with all that is held about the beneficiary, ref the keyed reference in it.
	Person, ref string
}

// subscriptionOf gathers the page of the subscription that a path names.
func (c *Console) subscriptionOf(r *request) (subscriptionPage, error) {
	seq, err := strconv.ParseInt(r.PathValue("seq"), 10, 64)
	if err != nil {
		return subscriptionPage{}, subscription.ErrNotFound
	}
	return c.gatherSubscription(r.Context(), r.viewer, partnerOf(r), seq)
}

func (c *Console) gatherSubscription(
	ctx context.Context, v viewer, id partner.ID, seq int64,
) (subscriptionPage, error) {
	p, err := c.Rules.Partners.GetPartner(ctx, id)
	if err != nil {
		return subscriptionPage{}, err
	}
	sub, err := c.Rules.FindSubscriptions.SubscriptionBySeq(ctx, p.ID, seq)
	if err != nil {
		return subscriptionPage{}, err
	}
	ref, err := c.Rules.Search.FindEnrolled(ctx, p.ID, sub.Beneficiary.CPF)
	if err != nil {
		return subscriptionPage{}, err
	}
	reveals, err := c.currentReveals(ctx, v.who.ID)
	return subscriptionPage{
		Partner:      p,
		Subscription: sub,
		Path:         joinPath("subscriptions", string(p.ID), strconv.FormatInt(seq, 10)),
		ref:          ref,
		Person:       joinPath("people", string(p.ID), ref),
		Shown:        reveals[ref] != nil,
	}, err
}

// showSubscription shows a subscription with the personal values masked.
func showSubscription(c *Console, r *request) (answer, error) {
	page, err := c.subscriptionOf(r)
	if err != nil {
		return nil, err
	}
	return view{"subscription", "Assinatura", page}, nil
}

// revealSubscription shows the person of a subscription in clear for a while, after the operator's reason is in the
// audit trail.
func revealSubscription(c *Console, r *request) (answer, error) {
	page, err := c.subscriptionOf(r)
	if err != nil {
		return nil, err
	}
	return c.recordReveal(r, page.ref, redirect{to: page.Path})
}

var endSubscription = moveSubscription("subscription.end", "subscription.ended", subscription.End)

// suspendSubscription pauses a subscription until it is resumed.
var suspendSubscription = moveSubscription("subscription.suspend", "subscription.suspended", subscription.Suspend)

// resumeSubscription continues a suspended subscription.
var resumeSubscription = moveSubscription("subscription.resume", "subscription.resumed", subscription.Resume)

// moveSubscription makes the handler that ends, suspends or resumes the subscription in the path. It refuses one that
// has ended.
func moveSubscription(action, done string, move subscription.Move) handler {
	return func(c *Console, r *request) (answer, error) {
		page, err := c.subscriptionOf(r)
		if err != nil {
			return nil, err
		}
		if hasEnded(page.Subscription, c.Now()) {
			return nil, subscription.ErrNotFound.With("subscription", fault.HasEnded)
		}
		id, next := page.Partner.ID, redirect{page.Path, done}
		selected := subscription.Selection{Plan: page.Plan, CPF: page.Beneficiary.CPF}
		return c.changeAndRedirect(r, action, next, func(ctx context.Context, in *Rules) (string, string, error) {
			_, err := in.Subscriptions.MoveSubscriptions(ctx, id, selected, move)
			return string(id) + "/" + strconv.FormatInt(page.Seq, 10), "", err
		})
	}
}
