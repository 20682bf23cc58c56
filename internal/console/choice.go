package console

import (
	"cmp"
	"net/url"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// errReason asks for the reason without which no personal value is shown.
var errReason = fault.New(fault.Invalid, "reason.missing")

// parseReason returns the operator's reason for seeing a personal value, and refuses one that is too short.
func parseReason(r *request) (string, error) {
	text := cmp.Or(r.trimmedField("preset"), r.trimmedField("reason"))
	if len(text) < 3 {
		return "", errReason
	}
	return text, nil
}

// revealTime is how long a person's values and words stay open to the operator who gave a reason.
const revealTime = 15 * time.Minute

// mostReveals is how many people one operator can have open at a time.
const mostReveals = 200

// recordReveal records why the operator wants to see who a person is. The line in the audit trail itself unlocks the pages
// about the person for revealTime, so one line covers everything that the operator looks at in that time.
func (c *Console) recordReveal(r *request, ref string, then redirect) (answer, error) {
	why, err := parseReason(r)
	r.noteFormError(err)
	return redirectAfter(then, c.recordAction(r, "person.reveal", ref, why))
}

// currentReveals returns the operator's reveals that are still valid, by the person's reference.
func (c *Console) currentReveals(r *request) (map[string]*operator.Entry, error) {
	lines, err := c.Rules.Audit.ListEntries(r.Context(), operator.Filter{Actor: string(r.who.ID), Action: "person.reveal", From: c.Now().Add(-revealTime), Limit: mostReveals})
	reveals := make(map[string]*operator.Entry, len(lines))
	for i := range lines {
		if reveals[lines[i].Subject] == nil { // the newest comes first
			reveals[lines[i].Subject] = &lines[i]
		}
	}
	return reveals, err
}

// referenceOf returns the keyed reference to a person of a partner.
func (c *Console) referenceOf(id partner.ID, user partner.UserHash) string {
	return c.Rules.Subjects.Reference(subject.Person{User: user, Partner: id})
}

// partnerChoice is the row of a page that picks a partner.
type partnerChoice struct {
	All     []partner.Partner
	Current partner.Partner
}

// choosePartner reads which partner a page is about: the one in the address, the one that was chosen before, or the newest.
func (c *Console) choosePartner(r *request) (partnerChoice, error) {
	all, err := c.visiblePartners(r)
	if err != nil {
		return partnerChoice{}, err
	}
	choice := partnerChoice{All: all}
	asked := c.chosenPartner(r, all)
	for _, p := range all {
		if p.ID == asked || asked == "" {
			choice.Current = p
		}
	}
	if asked != "" && choice.Current.ID == "" && r.problem == nil { // a page that tells of a problem tells of that one
		return choice, partner.ErrNotFound
	}
	return choice, nil
}

// partnerNames maps ids to names of partners, for lists over all of them.
func (c *Console) partnerNames(r *request) (map[partner.ID]string, error) {
	all, err := c.visiblePartners(r)
	return partnerChoice{All: all}.namesByID(), err
}

// namesByID returns the names of the partners to choose from.
func (p partnerChoice) namesByID() map[partner.ID]string {
	names := make(map[partner.ID]string, len(p.All))
	for _, one := range p.All {
		names[one.ID] = one.Name
	}
	return names
}

// joinPath joins escaped segments to a path; ids may be in partners' own words.
func joinPath(segments ...string) string {
	path := ""
	for _, s := range segments {
		path += "/" + url.PathEscape(s)
	}
	return path
}
