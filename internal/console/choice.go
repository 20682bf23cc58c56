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

// recordReveal records why the operator wants to see who a person is. The line in the audit trail itself unlocks the pages
// about the person for revealTime, so one line covers everything that the operator looks at in that time.
func (c *Console) recordReveal(r *request, id partner.ID, user partner.UserHash) error {
	why, err := parseReason(r)
	if err != nil {
		return err
	}
	return c.recordAction(r, "person.reveal", c.Rules.Subjects.Reference(subject.Person{User: user, Partner: id}), why)
}

// currentReveal returns the operator's reveal of a person that is still valid; nil when there is none.
func (c *Console) currentReveal(r *request, id partner.ID, user partner.UserHash) (*operator.Entry, error) {
	lines, err := c.Rules.Audit.ListEntries(r.Context(), operator.Filter{
		Actor: string(r.who.ID), Action: "person.reveal", Subject: c.Rules.Subjects.Reference(subject.Person{User: user, Partner: id}), From: c.Now().Add(-revealTime), Limit: 1,
	})
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	return &lines[0], nil
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
