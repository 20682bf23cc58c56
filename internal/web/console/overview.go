package console

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// overviewPage is the data of the first page.
type overviewPage struct {
	operator.Figures
	Breaches int
	// NewBreaches are those that were added in the last seven days.
	NewBreaches int
	Jobs        []jobRow
	// Partners are all of them, those whose webhooks fail first.
	Partners []partnerHealth
	// Failing and Slow count the live partners of each state.
	Failing, Slow int
	Queue         dayQueue
	// Overdue are the live partners whose values have waited for their first look for longer than a day, those with
	// most of them first.
	Overdue []overduePartner
	// Severities and Alerts are the two charts at the top, Charts the others.
	Severities, Alerts picture
	Charts             []picture
	// Notices are changes of one's own access.
	Notices []operator.Entry
}

// overduePartner is a live partner whose values wait too long for their first look.
type overduePartner struct {
	partner.Partner
	Looks cyber.LookStatus
}

// OverdueValues counts the values that have waited for longer than a day, of all partners.
func (p overviewPage) OverdueValues() (n int64) {
	for _, one := range p.Overdue {
		n += one.Looks.Overdue
	}
	return n
}

// Assets returns how many values are watched, in whatever status.
func (p overviewPage) Assets() int64 {
	return p.Now[operator.AssetsMonitored] + p.Now[operator.AssetsUnlooked] +
		p.Now[operator.AssetsAlert] + p.Now[operator.AssetsCompromised]
}

// showOverview shows the first page of the service's operators: figures, notices and what needs attention.
func showOverview(c *Console, r *request) (answer, error) {
	page, err := c.gatherOverview(r.Context(), r.who)
	if err != nil {
		return nil, err
	}
	isEmpty := page.Assets() == 0 && page.Now[operator.SubscriptionsActive] == 0 && page.Queue.Open == 0
	if isEmpty && len(page.Overdue) == 0 { // figures are of the last minute, what waits too long is of now
		first, err := c.gatherFirstRun(r.Context(), page)
		if err != nil {
			return nil, err
		}
		if first.Done < len(first.Steps) {
			return view{"first-run", "Começar", first}, nil
		}
	}
	found, err := c.gatherFindingFigures(r.Context(), parsePeriod(r))
	if err != nil {
		return nil, err
	}
	charts := c.pictureOverview(found, page.Now)
	page.Severities, page.Alerts, page.Charts = charts[0], charts[1], charts[2:]
	r.addPictures(charts...) // for the choice of a period
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
	breaches, err := c.Rules.Breaches.ListBreaches(ctx)
	if err != nil {
		return page, err
	}
	for _, b := range breaches {
		if b.State != leak.Published {
			continue
		}
		page.Breaches++
		if c.Now().Sub(b.AddedAt) < 7*24*time.Hour {
			page.NewBreaches++
		}
	}
	page.Jobs, err = c.latestJobs(ctx, 5, "")
	if err != nil {
		return page, err
	}
	page.Queue, err = c.gatherDayQueue(ctx, who)
	if err != nil {
		return page, err
	}
	page.Partners, err = c.gatherPartnerHealth(ctx)
	if err != nil {
		return page, err
	}
	for _, p := range page.Partners {
		if p.Mode != partner.Live {
			continue
		}
		if p.Failing > 0 {
			page.Failing++
		} else if p.IsSlow {
			page.Slow++
		}
		looks, err := c.Rules.FirstLooks.LookStatus(ctx, p.ID, p.Settings)
		if err != nil {
			return page, err
		}
		if looks.Overdue > 0 {
			page.Overdue = append(page.Overdue, overduePartner{p.Partner, looks})
		}
	}
	slices.SortStableFunc(page.Overdue, func(a, b overduePartner) int {
		return cmp.Compare(b.Looks.Overdue, a.Looks.Overdue)
	})
	return page, nil
}
