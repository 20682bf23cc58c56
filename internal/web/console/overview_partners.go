package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

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
