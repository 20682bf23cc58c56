package console

import (
	"context"
	"strconv"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subscription"
)

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
	p, err := c.Rules.Partners.PartnerByID(ctx, id)
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
		Path:         joinPath("subscriptions", p.ID, seq),
		ref:          ref,
		Person:       joinPath("people", p.ID, ref),
		Shown:        reveals[ref] != nil,
	}, err
}

// showSubscription shows a subscription with the personal values masked.
func showSubscription(c *Console, r *request) (answer, error) {
	page, err := c.subscriptionOf(r)
	return newView("subscription", "Assinatura", page, err)
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
