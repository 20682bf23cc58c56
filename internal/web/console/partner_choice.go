package console

import (
	"context"
	"net/http"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
)

// partnerChoice is the row of a page that picks a partner.
type partnerChoice struct {
	All     []partner.Partner
	Current partner.Partner
}

// choosePartner reads which partner a page is about: the one in the address, the one that was chosen before, or the
// newest.
func (c *Console) choosePartner(r *request) (partnerChoice, error) {
	all, err := c.visiblePartners(r.Context(), r.viewer)
	if err != nil {
		return partnerChoice{}, err
	}
	choice := partnerChoice{All: all}
	asked := c.chosenPartner(r, choice.All)
	for _, p := range choice.All {
		if p.ID == asked || asked == "" {
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

// partnerCookie keeps the chosen partner from page to page. It holds an id and ends with the browser.
const partnerCookie = "__Host-vigia-partner"

// visiblePartners returns the partners whose data the operator may see. Every list is restricted to them.
func (c *Console) visiblePartners(ctx context.Context, v viewer) ([]partner.Partner, error) {
	if v.who.Partner != "" {
		return []partner.Partner{v.scope.at}, nil
	}
	return c.Rules.Partners.ListPartners(ctx)
}

// chosenPartner returns the partner that a page is filtered by: the one in the address, which is remembered, or the
// remembered one; none means all.
func (c *Console) chosenPartner(r *request, all []partner.Partner) partner.ID {
	q := r.URL.Query()
	if r.PostForm.Has("partner") { // not FormValue, which would read an upload whole
		q = r.PostForm
	}
	if q.Has("partner") {
		id := partner.ID(q.Get("partner"))
		if r.Method == http.MethodGet {
			r.kept = &http.Cookie{
				Name:     partnerCookie,
				Value:    string(id),
				Path:     "/",
				Secure:   true,
				HttpOnly: true,
				SameSite: http.SameSiteStrictMode,
			}
			if !isKnownPartner(all, id) {
				r.kept.Value, r.kept.MaxAge = "", -1 //nolint:gosec // its attributes stand above
			}
		}
		return id
	}
	if cookie, err := r.Cookie(partnerCookie); err == nil && isKnownPartner(all, partner.ID(cookie.Value)) {
		return partner.ID(cookie.Value)
	}
	return ""
}

// isKnownPartner reports whether a partner is among those that may be seen.
func isKnownPartner(all []partner.Partner, id partner.ID) bool {
	return slices.ContainsFunc(all, func(p partner.Partner) bool { return p.ID == id })
}

// partnerOf reads the partner that a path names.
func partnerOf(r *request) partner.ID { return partner.ID(r.PathValue("partner")) }
