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
	Items []subscription.Subscription
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
	page := subscriptionsPage{partnerChoice: c.choosePartner(r)}
	id := page.Current.ID
	if id == "" {
		return view{"subscriptions", "Assinaturas", page}, nil
	}
	f := c.parseFilterQuery(r, &subscriptionsList, r.URL.Query(), id, page.All)
	list, next := callRulePair2(r, f.readSubscriptions, &c.Rules, perPage)
	plans := callRuleWith(r, c.Rules.Plans.ListPlans, id)
	page.Items, page.Total, page.Plans = list, callRuleWith3(r, c.Rules.Subscriptions.ListActive, id, 1, 1).Total, len(plans)
	total := int64(-1)
	if len(f.values) == 0 && f.Person == "" {
		total = page.Total
	}
	page.List = c.newListView(r, &subscriptionsList, f, page.All, len(list), next, total)
	for _, p := range plans {
		page.List.offerOption("plan", choiceOption{string(p.ID), string(p.ID)})
	}
	return view{"subscriptions", "Assinaturas", page}, nil
}

// findSubscriptions looks a CPF up. It is a POST, so that the CPF stands in no address, history or log.
func findSubscriptions(c *Console, r *request) (answer, error) {
	choice := c.choosePartner(r)
	check := identifier.Required
	if choice.Current.Mode.Has(partner.AnyCheckDigits) {
		check = identifier.Waived
	}
	cpf, err := identifier.ParseCPF(r.trimmedField("cpf"), check)
	if err != nil {
		return nil, errForm.With("cpf", fault.CPFFormat).Because(err)
	}
	masked := identifier.MaskValue(identifier.CPF, cpf)
	c.recordAction(
		r,
		"subscription.find",
		c.Rules.Subjects.Reference(subject.Person{CPF: cpf}),
		string(choice.Current.ID)+" "+masked,
	)
	found := callRuleWith2(r, c.Rules.FindSubscriptions.SubscriptionsOfCPF, choice.Current.ID, cpf)
	return view{"subscriptions", "Assinaturas", subscriptionsPage{
		partnerChoice: choice, Items: found, Total: int64(len(found)), Sought: masked, Plans: 1,
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

// subscriptionOf reads the subscription that a path names.
func (c *Console) subscriptionOf(r *request) subscriptionPage {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partnerOf(r))
	seq, err := strconv.ParseInt(r.PathValue("seq"), 10, 64)
	if err != nil {
		r.keepFailure(subscription.ErrNotFound)
	}
	sub := callRuleWith2(r, c.Rules.FindSubscriptions.SubscriptionBySeq, p.ID, seq)
	ref := callRuleWith2(r, c.Rules.Search.FindEnrolled, p.ID, sub.Beneficiary.CPF)
	return subscriptionPage{
		Partner: p, Subscription: sub, Path: joinPath("subscriptions", string(p.ID), strconv.FormatInt(seq, 10)),
		ref: ref, Person: joinPath("people", string(p.ID), ref), Shown: c.currentReveals(r)[ref] != nil,
	}
}

// showSubscription shows a subscription with the personal values masked.
func showSubscription(c *Console, r *request) (answer, error) {
	return view{"subscription", "Assinatura", c.subscriptionOf(r)}, nil
}

// revealSubscription shows the person of a subscription in clear for a while, after the operator's reason is in the audit trail.
func revealSubscription(c *Console, r *request) (answer, error) {
	page := c.subscriptionOf(r)
	return c.recordReveal(r, page.ref, redirect{to: page.Path})
}

// endSubscription ends a subscription for good.
var endSubscription = moveSubscription("subscription.end", "subscription.ended", subscription.End)

// suspendSubscription pauses a subscription until it is resumed.
var suspendSubscription = moveSubscription("subscription.suspend", "subscription.suspended", subscription.Suspend)

// resumeSubscription continues a suspended subscription.
var resumeSubscription = moveSubscription("subscription.resume", "subscription.resumed", subscription.Resume)

// moveSubscription makes the handler that ends, suspends or resumes the subscription in the path. It refuses one that has ended.
func moveSubscription(action, done string, move subscription.Move) handler {
	return func(c *Console, r *request) (answer, error) {
		page := c.subscriptionOf(r)
		if hasEnded(page.Subscription, c.Now()) {
			return nil, subscription.ErrNotFound.With("subscription", fault.HasEnded)
		}
		return c.changeAndRedirect(
			r,
			action,
			redirect{page.Path, done},
			func(ctx context.Context, in *Rules) (string, string, error) {
				_, err := in.Subscriptions.MoveSubscriptions(
					ctx,
					page.Partner.ID,
					subscription.Selection{Plan: page.Plan, CPF: page.Beneficiary.CPF},
					move,
				)
				return string(page.Partner.ID) + "/" + strconv.FormatInt(page.Seq, 10), "", err
			},
		)
	}
}
