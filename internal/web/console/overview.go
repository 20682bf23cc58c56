package console

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
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
	Notices []operator.Entry
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
	page, err := c.gatherOverview(r.Context(), r.who)
	if err != nil {
		return nil, err
	}
	charts, err := c.pictureOverview(r.Context(), page.Now, parsePeriod(r))
	if err != nil {
		return nil, err
	}
	r.addPictures(charts...)
	return view{"overview", "Visão geral", page}, nil
}

func (c *Console) gatherOverview(ctx context.Context, who operator.Operator) (overviewPage, error) {
	var page overviewPage
	var err error
	page.Figures, err = c.Rules.Figures.LastFigures(ctx)
	if err != nil {
		return page, err
	}
	page.Notices, err = c.accessNotices(ctx, who)
	if err != nil {
		return page, err
	}
	partners, err := c.Rules.Partners.ListPartners(ctx)
	if err != nil {
		return page, err
	}
	page.Partners = len(partners)
	enrolled, err := c.Rules.Figures.FiguresByPart(ctx, operator.SubscriptionsActive, 0)
	if err != nil {
		return page, err
	}
	protected, err := c.Rules.Figures.FiguresByPart(ctx, operator.DevicesProtected, 0)
	if err != nil {
		return page, err
	}
	for _, p := range partners {
		page.ByPartner = append(page.ByPartner, partnerFigures{
			Partner:       p,
			Subscriptions: enrolled[string(p.ID)],
			Devices:       protected[string(p.ID)],
		})
	}
	breaches, err := c.Rules.Breaches.ListBreaches(ctx)
	if err != nil {
		return page, err
	}
	for _, b := range breaches {
		if b.State == leak.Published {
			page.Breaches++
			page.Identifiers += b.Tally.Distinct
		}
	}
	page.Jobs, err = c.latestJobs(ctx, 5, "")
	if err != nil {
		return page, err
	}
	page.Waiting, err = c.Rules.Cases.CountWaiting(ctx, cyber.LaneFilter{}, who.Email, nextMidnight(c.Now()))
	if err != nil {
		return page, err
	}
	page.Corpora, err = c.Rules.Passwords.ReadStatus()
	return page, err
}

// nextMidnight returns the next midnight in Brasília.
func nextMidnight(now time.Time) time.Time {
	y, m, d := now.In(brazil).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, brazil)
}
