package console

import (
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/password"
)

// overviewPage is the data of the first page.
type overviewPage struct {
	operator.Figures
	Partners    int
	Breaches    int
	Identifiers int64
	Corpora     []password.Corpus
	Jobs        []jobRow
	// ByPartner are what each partner has of the numbers that are listed a partner at a time.
	ByPartner []partnerFigures
	// Waiting are the cases that wait now.
	Waiting cyber.WaitingCases
	// Notices are changes of one's own access.
	Notices []accessNotice
}

// partnerFigures are one partner's share of two numbers of the overview.
type partnerFigures struct {
	partner.Partner
	Subscriptions, Devices int64
}

// Assets returns how many values are watched, in whatever status.
func (p overviewPage) Assets() int64 {
	return p.Now[operator.AssetsMonitored] + p.Now[operator.AssetsAlert] + p.Now[operator.AssetsCompromised]
}

// showOverview shows the first page of the service's operators: figures, notices and what needs attention.
func showOverview(c *Console, r *request) (answer, error) {
	var page overviewPage
	var err error
	if page.Figures, err = c.Rules.Figures.LastFigures(r.Context()); err != nil {
		return nil, err
	}
	if err = c.pictureOverview(r, page.Now); err != nil {
		return nil, err
	}
	if page.Notices, err = c.accessNotices(r); err != nil {
		return nil, err
	}
	partners, err := c.Rules.Partners.ListPartners(r.Context())
	if err != nil {
		return nil, err
	}
	page.Partners = len(partners)
	enrolled, err := c.Rules.Figures.FiguresByPart(r.Context(), operator.SubscriptionsActive, 0)
	if err != nil {
		return nil, err
	}
	protected, err := c.Rules.Figures.FiguresByPart(r.Context(), operator.DevicesProtected, 0)
	if err != nil {
		return nil, err
	}
	for _, p := range partners {
		page.ByPartner = append(page.ByPartner, partnerFigures{Partner: p, Subscriptions: enrolled[string(p.ID)], Devices: protected[string(p.ID)]})
	}
	breaches, err := c.Rules.Breaches.ListBreaches(r.Context())
	if err != nil {
		return nil, err
	}
	for _, b := range breaches {
		if b.State == leak.Published {
			page.Breaches++
			page.Identifiers += b.Tally.Distinct
		}
	}
	if page.Corpora, err = c.Rules.Passwords.ReadStatus(); err != nil {
		return nil, err
	}
	jobs, err := c.Rules.Jobs.ListJobs(r.Context(), "", 5)
	if err != nil {
		return nil, err
	}
	page.Jobs = newJobRows(jobs, c.Now())
	if page.Waiting, err = c.Rules.Cases.CountWaiting(r.Context(), cyber.LaneFilter{}, r.who.Email, nextMidnight(c.Now())); err != nil {
		return nil, err
	}
	return view{"overview", "Visão geral", page}, nil
}

// nextMidnight returns the next midnight in Brasília.
func nextMidnight(now time.Time) time.Time {
	y, m, d := now.In(brazil).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, brazil)
}
