package person

import (
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// coverPage is what covers a person.
type coverPage struct{ Covers []coverView }

// coverView is a cover as the page shows it.
type coverView struct {
	Name                   string
	Limit                  int64
	Types                  []string
	Conditions, Exclusions string
	Parts                  []coverPart
	From, Until            time.Time
	WaitingDays            int
}

// coverPart is a limit within a cover for one kind of damage.
type coverPart struct {
	Name  string
	Limit int64
}

// showCover shows the person's covers. A person without one sees an empty page, not an error.
func showCover(p *Pages, r *request) (answer, error) {
	list, _, err := p.Rules.Cover.ListCover(r.Context(), r.partnerCaller(), r.session.User)
	if err != nil && !errors.Is(err, cyber.ErrCoverageNotFound) {
		return nil, err
	}
	var page coverPage
	for _, e := range list {
		v := coverView{
			Name: e.Coverage.Plan, Limit: int64(e.Coverage.Limit), Types: e.Coverage.Types, Conditions: e.Coverage.Conditions,
			Exclusions: e.Coverage.Exclusions, From: e.CoveredFrom(), Until: e.Until, WaitingDays: e.Coverage.WaitingDays,
		}
		for _, l := range e.Coverage.SubLimits {
			v.Parts = append(v.Parts, coverPart{l.Name, int64(l.Limit)})
		}
		page.Covers = append(page.Covers, v)
	}
	return view{"cover", "cover.title", page}, nil
}
