package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
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

// dayQueue are the cases that wait now.
type dayQueue struct {
	cyber.WaitingCases
	// OldestLate is for how long the most overdue case is late, NextDue in how long the next one of today is due; zero
	// where there is none.
	OldestLate, NextDue time.Duration
	// Unanswered are those of one's own cases whose person wrote last.
	Unanswered int64
}

// partnerHealth is how the webhooks of a partner do, and its share of what the overview counts.
type partnerHealth struct {
	partner.Partner
	Endpoints, Failing int
	// IsSlow says that what arrived today took longer than slowTravel in the mean, which is Travel.
	IsSlow bool
	Travel time.Duration
	// LastFailure is the newest try of those that fail; its time is zero where none does.
	LastFailure alert.AttemptLog
	// Backlog is what waits for its webhooks now, Arrived what came there in the last 24 hours, Spark that of 30 days.
	Backlog, Arrived       int64
	Spark                  string
	Subscriptions, Devices int64
}

// slowTravel is from which mean time on deliveries count as slow.
const slowTravel = 5 * time.Second

// mostSparks is for how many partners the overview draws their deliveries.
const mostSparks = 12

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

// gatherDayQueue returns the cases that wait now, with what makes them urgent.
func (c *Console) gatherDayQueue(ctx context.Context, who operator.Operator) (dayQueue, error) {
	now := c.Now()
	live := cyber.LaneFilter{LiveOnly: true}
	waiting, err := c.Rules.Cases.CountWaiting(ctx, live, who.Email, nextMidnight(now))
	if err != nil {
		return dayQueue{}, err
	}
	queue := dayQueue{WaitingCases: waiting}
	late, err := c.Rules.Cases.ListLane(ctx, cyber.LaneFilter{LiveOnly: true, DueTo: now, Limit: 1})
	if err != nil {
		return dayQueue{}, err
	}
	for _, first := range late.Cases {
		due, _ := first.Clock.Due()
		queue.OldestLate = now.Sub(due)
	}
	today, err := c.Rules.Cases.ListLane(ctx, cyber.LaneFilter{
		LiveOnly: true,
		DueFrom:  now,
		DueTo:    nextMidnight(now),
		Limit:    1,
	})
	if err != nil {
		return dayQueue{}, err
	}
	for _, first := range today.Cases {
		due, _ := first.Clock.Due()
		queue.NextDue = due.Sub(now)
	}
	mine, err := c.Rules.Cases.ListLane(ctx, cyber.LaneFilter{LiveOnly: true, Assignee: who.Email, Limit: perPage})
	if err != nil {
		return dayQueue{}, err
	}
	for _, one := range mine.Cases {
		if one.Spoke == "" {
			queue.Unanswered++
		}
	}
	return queue, nil
}

// gatherPartnerHealth returns how the webhooks of each partner do, those that fail first.
func (c *Console) gatherPartnerHealth(ctx context.Context) ([]partnerHealth, error) {
	partners, err := c.Rules.Partners.ListPartners(ctx)
	if err != nil {
		return nil, err
	}
	parts := map[operator.Figure]map[string]int64{}
	for name, days := range map[operator.Figure]int{
		operator.SubscriptionsActive: 0, operator.DevicesProtected: 0, operator.Backlog: 0, operator.Arrived: 0,
		operator.ArrivedOfDay: 1, operator.TravelOfDay: 1,
	} {
		parts[name], err = c.Rules.Figures.FiguresByPart(ctx, name, days)
		if err != nil {
			return nil, err
		}
	}
	list := make([]partnerHealth, len(partners))
	endpoints := map[partner.ID][]alert.Endpoint{}
	for i, p := range partners {
		of, err := c.Rules.Webhooks.ListEndpoints(ctx, p.ID)
		if err != nil {
			return nil, err
		}
		endpoints[p.ID] = of
		h := partnerHealth{
			Partner:       p,
			Endpoints:     len(of),
			Subscriptions: parts[operator.SubscriptionsActive][string(p.ID)],
			Devices:       parts[operator.DevicesProtected][string(p.ID)],
		}
		var arrived, travel int64
		for _, e := range of {
			part := string(e.ID)
			h.Backlog += parts[operator.Backlog][part]
			h.Arrived += parts[operator.Arrived][part]
			arrived += parts[operator.ArrivedOfDay][part]
			travel += parts[operator.TravelOfDay][part]
			if !e.IsFailing() {
				continue
			}
			h.Failing++
			health, err := c.Rules.History.EndpointHealth(ctx, p.ID, e.ID)
			if err != nil {
				return nil, err
			}
			if health.Last.At.After(h.LastFailure.At) {
				h.LastFailure = health.Last
			}
		}
		h.Travel = meanDuration(travel, arrived)
		h.IsSlow = h.Travel > slowTravel
		list[i] = h
	}
	slices.SortStableFunc(list, func(a, b partnerHealth) int {
		return cmp.Or(cmp.Compare(b.urgency(), a.urgency()), cmp.Compare(a.Name, b.Name))
	})
	for i := range list[:min(len(list), mostSparks)] {
		list[i].Spark, err = c.drawSpark(ctx, endpoints[list[i].ID])
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// urgency orders partners: those whose webhooks fail, those that are slow, those in order, and sandboxes last.
func (h partnerHealth) urgency() int {
	switch {
	case h.Mode != partner.Live:
		return 0
	case h.Failing > 0:
		return 3
	case h.IsSlow:
		return 2
	default:
		return 1
	}
}

// drawSpark draws what arrived at webhooks on each of 30 days, as the points of a line in a box of 100 by 30; empty
// where nothing did.
func (c *Console) drawSpark(ctx context.Context, endpoints []alert.Endpoint) (string, error) {
	sums := make([]int64, defaultPeriod)
	for _, e := range endpoints {
		counts, err := c.Rules.Figures.FiguresByDay(ctx, string(e.ID), defaultPeriod, operator.ArrivedOfDay)
		if err != nil {
			return "", err
		}
		for i, d := range counts[operator.ArrivedOfDay] {
			sums[i] += d.Count
		}
	}
	peak := slices.Max(sums)
	if peak == 0 {
		return "", nil
	}
	var points strings.Builder
	for i, n := range sums {
		x := 100 * float64(i) / float64(len(sums)-1)
		fmt.Fprintf(&points, "%.1f,%.1f ", x, 30-28*float64(n)/float64(peak))
	}
	return points.String(), nil
}

// nextMidnight returns the next midnight in Brasília.
func nextMidnight(now time.Time) time.Time {
	y, m, d := now.In(brazil).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, brazil)
}
