package console

import (
	"cmp"
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
)

// partnerChoice is the row of a page that picks a partner.
type partnerChoice struct {
	All     []partner.Partner
	Current partner.Partner
}

// choosePartner reads which partner a page of one partner is about: the one in the address or form, or the only one
// there is. Otherwise it is nobody's, and the page asks for one.
func (c *Console) choosePartner(r *request) (partnerChoice, error) {
	all, err := c.visiblePartners(r.Context(), r.viewer)
	if err != nil {
		return partnerChoice{}, err
	}
	choice := partnerChoice{All: all}
	asked := askedPartner(r)
	if asked == "" && len(all) == 1 {
		choice.Current = all[0]
	}
	for _, p := range all {
		if p.ID == asked {
			choice.Current = p
		}
	}
	if asked != "" && choice.Current.ID == "" && !r.again {
		return choice, partner.ErrNotFound
	}
	return choice, nil
}

// partnerNames maps ids to names of partners, for lists over all of them.
func (c *Console) partnerNames(ctx context.Context, v viewer) (map[partner.ID]string, error) {
	all, err := c.visiblePartners(ctx, v)
	return namesByID(all), err
}

// namesByID returns the names of partners.
func namesByID(all []partner.Partner) map[partner.ID]string {
	names := make(map[partner.ID]string, len(all))
	for _, one := range all {
		names[one.ID] = one.Name
	}
	return names
}

// visiblePartners returns the partners whose data the operator may see. Every list is restricted to them.
func (c *Console) visiblePartners(ctx context.Context, v viewer) ([]partner.Partner, error) {
	if v.who.Partner != "" {
		return []partner.Partner{v.scope.at}, nil
	}
	return c.Rules.Partners.ListPartners(ctx)
}

// askedPartner returns the partner that the address or the form names; none means all. Nothing else narrows a page: a
// choice that was remembered hid the failures of others.
func askedPartner(r *request) partner.ID {
	if r.PostForm.Has("partner") { // not FormValue, which would read an upload whole
		return partner.ID(r.PostForm.Get("partner"))
	}
	return partner.ID(r.URL.Query().Get("partner"))
}

// isKnownPartner reports whether a partner is among those that may be seen.
func isKnownPartner(all []partner.Partner, id partner.ID) bool {
	return slices.ContainsFunc(all, func(p partner.Partner) bool { return p.ID == id })
}

// partnerOf reads the partner that a path names; below /partners it is just the id.
func partnerOf(r *request) partner.ID {
	return partner.ID(cmp.Or(r.PathValue("partner"), r.PathValue("id")))
}

// partnerInPath returns the partner that a path names.
func (c *Console) partnerInPath(r *request) (partner.Partner, error) {
	return c.Rules.Partners.PartnerByID(r.Context(), partnerOf(r))
}
