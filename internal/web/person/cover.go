package person

import (
	"errors"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// showCover shows the person's covers. A person without one sees an empty page, not an error.
func showCover(p *Pages, r *request) (answer, error) {
	list, _, err := p.Rules.Cover.ListCover(
		r.Context(), partner.Caller{Partner: r.who.ID, Mode: r.who.Mode, Settings: r.who.Settings}, r.session.User,
	)
	if err != nil && !errors.Is(err, cyber.ErrCoverageNotFound) {
		return nil, err
	}
	return view{"cover", "cover.title", list}, nil
}
