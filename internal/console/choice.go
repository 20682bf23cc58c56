package console

import (
	"net/url"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// errReason asks for the reason without which no personal value is shown.
var errReason = fault.New(fault.Invalid, "reason.missing")

// reason is why somebody wants to see a personal value.
func reason(r *request) (string, error) {
	text := r.text("reason")
	if len(text) < 3 {
		return "", errReason
	}
	return text, nil
}

// partnerChoice is the row of a page that picks a partner.
type partnerChoice struct {
	All     []partner.Partner
	Current partner.Partner
}

// choose reads which partner a page is about: the one in the address, the one that was chosen before, or the newest.
func (c *Console) choose(r *request) (partnerChoice, error) {
	all, err := c.visible(r)
	if err != nil {
		return partnerChoice{}, err
	}
	choice := partnerChoice{All: all}
	asked := c.chosen(r, all)
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

// names maps ids to names of partners, for lists over all of them.
func (c *Console) names(r *request) (map[partner.ID]string, error) {
	all, err := c.visible(r)
	return partnerChoice{All: all}.names(), err
}

func (p partnerChoice) names() map[partner.ID]string {
	names := make(map[partner.ID]string, len(p.All))
	for _, one := range p.All {
		names[one.ID] = one.Name
	}
	return names
}

// at joins escaped segments to a path; ids may be in partners' own words.
func at(segments ...string) string {
	path := ""
	for _, s := range segments {
		path += "/" + url.PathEscape(s)
	}
	return path
}
