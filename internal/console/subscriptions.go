package console

import (
	"context"
	"strconv"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Subscriptions finds subscriptions by what an operator knows of them.
type Subscriptions interface {
	// SubscriptionList returns a page and the number that the next goes on from; 0 at the end.
	SubscriptionList(ctx context.Context, id partner.ID, f subscription.ListFilter) ([]subscription.Subscription, int64, error)
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
	Items []subscriptionState
	Total int64
	// Sought is the masked CPF that was looked for; empty on the plain list.
	Sought string
	// Plans reports whether the partner has any plan yet.
	Plans int
}

// subscriptionState is a subscription and whether it has ended by today's date, be it swept yet or not.
type subscriptionState struct {
	subscription.Subscription
	Ended bool
}

// subscriptionState returns a subscription with the words for its state.
func (c *Console) subscriptionState(s subscription.Subscription) subscriptionState {
	return subscriptionState{s, s.Over(subscription.DayInBrazil(c.Now()))}
}

// subscriptionStates returns subscriptions with the words for their states.
func (c *Console) subscriptionStates(list []subscription.Subscription) []subscriptionState {
	states := make([]subscriptionState, len(list))
	for i, s := range list {
		states[i] = c.subscriptionState(s)
	}
	return states
}

// listSubscriptions shows one page of a partner's subscriptions, personal values masked; without a partner only the
// choice of one.
func listSubscriptions(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	if err != nil || choice.Current.ID == "" {
		return view{"subscriptions", "Assinaturas", subscriptionsPage{partnerChoice: choice}}, err
	}
	f, err := c.parseFilterQuery(r.Context(), &subscriptionsList, r.URL.Query(), choice.Current.ID, choice.All)
	if err != nil {
		return nil, err
	}
	list, next, err := c.Rules.FindSubscriptions.SubscriptionList(r.Context(), choice.Current.ID, f.subscriptions(perPage))
	if err != nil {
		return nil, err
	}
	running, err := c.Rules.Subscriptions.ListActive(r.Context(), choice.Current.ID, 1, 1)
	if err != nil {
		return nil, err
	}
	plans, err := c.Rules.Plans.ListPlans(r.Context(), choice.Current.ID)
	if err != nil {
		return nil, err
	}
	page := subscriptionsPage{partnerChoice: choice, Items: c.subscriptionStates(list), Total: running.Total, Plans: len(plans)}
	total := int64(-1)
	if len(f.values) == 0 && f.Person == "" {
		total = running.Total
	}
	if page.List, err = c.newListView(r, &subscriptionsList, f, choice.All, len(list), formatSeq(next), total); err != nil {
		return nil, err
	}
	for i := range page.List.Fields {
		if page.List.Fields[i].Name == "plan" {
			for _, p := range plans {
				page.List.Fields[i].Options = append(page.List.Fields[i].Options, choiceOption{string(p.ID), string(p.ID)})
			}
		}
	}
	return view{"subscriptions", "Assinaturas", page}, nil
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
	masked := identifier.MaskValue(identifier.CPF, cpf)
	if err := c.recordAction(r, "subscription.find", c.Rules.Subjects.Reference(subject.Person{CPF: cpf}), string(choice.Current.ID)+" "+masked); err != nil {
		return nil, err
	}
	found, err := c.Rules.FindSubscriptions.SubscriptionsOfCPF(r.Context(), choice.Current.ID, cpf)
	if err != nil {
		return nil, err
	}
	return view{"subscriptions", "Assinaturas", subscriptionsPage{
		partnerChoice: choice, Items: c.subscriptionStates(found), Total: int64(len(found)), Sought: masked, Plans: 1,
	}}, nil
}

// subscriptionPage is the data of the page of one subscription.
type subscriptionPage struct {
	Partner partner.Partner
	subscriptionState
	// Shown says that the person's data stand in clear: the operator gave a reason lately.
	Shown bool
	Path  string
	// Person is the address of the page with all that is held about the beneficiary, ref the keyed reference in it.
	Person, ref string
}

// subscriptionOf reads the subscription that a path names.
func (c *Console) subscriptionOf(r *request) (subscriptionPage, error) {
	p, err := c.Rules.Partners.GetPartner(r.Context(), partner.ID(r.PathValue("partner")))
	if err != nil {
		return subscriptionPage{}, err
	}
	seq, err := strconv.ParseInt(r.PathValue("seq"), 10, 64)
	if err != nil {
		return subscriptionPage{}, subscription.ErrNotFound
	}
	sub, err := c.Rules.FindSubscriptions.SubscriptionBySeq(r.Context(), p.ID, seq)
	if err != nil {
		return subscriptionPage{}, err
	}
	page := subscriptionPage{Partner: p, subscriptionState: c.subscriptionState(sub), Path: joinPath("subscriptions", string(p.ID), strconv.FormatInt(seq, 10))}
	if page.ref, err = c.Rules.Search.FindEnrolled(r.Context(), p.ID, sub.Beneficiary.CPF); err != nil {
		return page, err
	}
	page.Person = joinPath("people", string(p.ID), page.ref)
	reveals, err := c.currentReveals(r)
	page.Shown = reveals[page.ref] != nil
	return page, err
}

// showSubscription shows a subscription with the personal values masked.
func showSubscription(c *Console, r *request) (answer, error) {
	page, err := c.subscriptionOf(r)
	return view{"subscription", "Assinatura", page}, err
}

// auditSubject names a subscription in the audit trail.
func (p subscriptionPage) auditSubject() string {
	return string(p.Partner.ID) + "/" + strconv.FormatInt(p.Seq, 10)
}

// revealSubscription shows the person of a subscription in clear for a while, after the operator's reason is in the audit trail.
func revealSubscription(c *Console, r *request) (answer, error) {
	page, err := c.subscriptionOf(r)
	if err != nil {
		return nil, err
	}
	return c.recordReveal(r, page.ref, redirect{to: page.Path})
}

// moveSubscription ends, suspends or resumes the subscription in the path. It refuses one that has ended.
func moveSubscription(c *Console, r *request, action, done string, move subscription.Move) (answer, error) {
	page, err := c.subscriptionOf(r)
	if err != nil {
		return nil, err
	}
	if page.Ended {
		return nil, subscription.ErrNotFound.With("subscription", fault.HasEnded)
	}
	return c.changeAndRedirect(r, action, redirect{page.Path, done}, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Subscriptions.MoveSubscriptions(ctx, page.Partner.ID, subscription.Selection{Plan: page.Plan, CPF: page.Beneficiary.CPF}, move)
		return page.auditSubject(), "", err
	})
}

// endSubscription ends a subscription for good.
func endSubscription(c *Console, r *request) (answer, error) {
	return moveSubscription(c, r, "subscription.end", "subscription.ended", subscription.End)
}

// suspendSubscription pauses a subscription until it is resumed.
func suspendSubscription(c *Console, r *request) (answer, error) {
	return moveSubscription(c, r, "subscription.suspend", "subscription.suspended", subscription.Suspend)
}

// resumeSubscription continues a suspended subscription.
func resumeSubscription(c *Console, r *request) (answer, error) {
	return moveSubscription(c, r, "subscription.resume", "subscription.resumed", subscription.Resume)
}
