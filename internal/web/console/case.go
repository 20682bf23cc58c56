package console

import (
	"context"
	"slices"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// casePage is the data of the page of one case.
type casePage struct {
	ticket
	Talk   []talkLine
	Owners []string
	// Who is the person's subscription, if the partner enrolled them.
	Who    *subscription.Beneficiary
	Person string
	// Reveal says since when and why the person's words are open to who looks; nil while they are closed.
	Reveal   *operator.Entry
	Findings []cyber.Found
	// Looks says for which of the person's values past breaches were looked into.
	Looks   cyber.PersonLooks
	Earlier []ticket
	Ready   []cyber.ReadyAnswer
	// Writer is another operator who is writing an answer at this moment.
	Writer string
	// Draft is the ready answer that was picked without a script.
	Draft string
}

// Shown reports whether the operator has unlocked the person's words and identity.
func (p casePage) Shown() bool { return p.Reveal != nil }

const (
	// earlierCases and openFindings are how many of each stand beside a case.
	earlierCases, openFindings = 5, 5
)

func showCasePage(c *Console, r *request) (answer, error) {
	page, err := c.gatherCase(r.Context(), r.viewer, cyber.CaseID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	for _, a := range page.Ready {
		if a.Title == r.URL.Query().Get("ready") {
			page.Draft = a.Text
		}
	}
	return view{"case", "Caso " + strconv.FormatInt(page.Short, 10), page}, nil
}

func (c *Console) gatherCase(ctx context.Context, who viewer, id cyber.CaseID) (casePage, error) {
	one, moves, err := c.Rules.Cases.GetCase(ctx, id)
	if err != nil {
		return casePage{}, err
	}
	services, err := c.Rules.Services.ListServices(ctx)
	if err != nil {
		return casePage{}, err
	}
	of, err := c.Rules.Partners.PartnerByID(ctx, one.Partner)
	if err != nil {
		return casePage{}, err
	}
	partners := map[partner.ID]string{of.ID: of.Name} // the earlier cases are of the same partner
	page := casePage{
		ticket: c.newTickets(who, []cyber.Case{one}, services, partners)[0],
		Person: c.personPath(one.Partner, one.User),
		Writer: one.OtherWriter(who.who.Email, c.Now()),
	}
	if c.confined {
		colleagues, err := c.Rules.Operators.ListOperators(ctx)
		if err != nil {
			return page, err
		}
		moves = movesForPartner(moves, colleagues)
	} else {
		page.Owners, err = c.listCaseOwners(ctx)
		if err != nil {
			return page, err
		}
		page.Ready, err = c.Rules.Cases.ReadyAnswers(ctx)
		if err != nil {
			return page, err
		}
	}
	if one.Assignee != "" && !slices.Contains(page.Owners, one.Assignee) {
		page.Owners = append(page.Owners, one.Assignee) // an operator who has left, or a name given by the command
	}
	reveals, err := c.currentReveals(ctx, who.who.ID)
	if err != nil {
		return page, err
	}
	page.Reveal = reveals[c.referenceOf(one.Partner, one.User)]
	subscriptions, err := c.Rules.FindSubscriptions.SubscriptionsOfUser(ctx, one.Partner, one.User)
	if err != nil {
		return page, err
	}
	if len(subscriptions) > 0 {
		page.Who = &subscriptions[0].Beneficiary
		page.Name, page.Mark = maskPersonName(page.Who.Name), monogramOf(page.Who.Name)
	}
	page.Talk, err = c.buildConversation(ctx, who, page, moves)
	if err != nil {
		return page, err
	}
	open := cyber.FindingFilter{
		Partner: one.Partner,
		User:    one.User,
		State:   cyber.FindingOpen,
		Limit:   openFindings,
	}
	page.Findings, _, err = c.Rules.Review.FindingList(ctx, open)
	if err != nil {
		return page, err
	}
	page.Looks, err = c.Rules.FirstLooks.CountLooksOf(ctx, one.Partner, one.User)
	if err != nil {
		return page, err
	}
	others, err := c.Rules.Cases.ListPersonCases(ctx, one.Partner, one.User)
	if err != nil {
		return page, err
	}
	others = slices.DeleteFunc(others, func(o cyber.Case) bool { return o.ID == one.ID })
	page.Earlier = c.newTickets(who, others[:min(len(others), earlierCases)], services, partners)
	return page, nil
}

// revealCase opens who the person is and what they wrote: answers and wished times may hold anything.
func revealCase(c *Console, r *request) (answer, error) {
	one, _, err := c.Rules.Cases.GetCase(r.Context(), cyber.CaseID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	return c.recordReveal(r, c.referenceOf(one.Partner, one.User), redirect{to: joinPath("cases", one.ID)})
}
