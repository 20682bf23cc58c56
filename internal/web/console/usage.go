package console

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// usagePage is what a partner may ask for, and how much of it is used.
type usagePage struct {
	Partner     partner.Partner
	Rate, Burst int
	// Looks is how the partner stands with its first looks; a sandbox has none.
	Looks          cyber.LookStatus
	Active, Events int64
}

// requestsPage is the log of a partner's latest requests, or a part of it.
type requestsPage struct {
	Partner partner.Partner
	Lines   []partner.LoggedRequest
	// Views are the parts that can be looked at.
	Views []listLink
	// Counted are the requests of today that the page is about, also those that the log has no room for; 0 when it is
	// about other days too.
	Counted int
}

// showRequests shows the latest API requests of a partner: all of them, those that were refused, or those of today.
func showRequests(c *Console, r *request) (answer, error) {
	q := r.URL.Query()
	page, err := c.gatherRequests(r.Context(), partnerOf(r), q.Get("failed") == "1", q.Get("hoje") == "1")
	return newView("requests", "Requisições", page, err)
}

func (c *Console) gatherRequests(ctx context.Context, id partner.ID, failedOnly, todayOnly bool) (requestsPage, error) {
	p, err := c.Rules.Partners.PartnerByID(ctx, id)
	if err != nil {
		return requestsPage{}, err
	}
	path := partnerPath(p.ID) + "/requests"
	page := requestsPage{Partner: p, Views: []listLink{
		{"Todas", path, !failedOnly && !todayOnly},
		{"Só recusadas", path + "?failed=1", failedOnly && !todayOnly},
		{"Hoje", path + "?hoje=1", !failedOnly && todayOnly},
		{"Recusadas hoje", path + "?hoje=1&failed=1", failedOnly && todayOnly},
	}}
	page.Lines, err = c.Rules.Meter.LatestRequests(ctx, p.ID, failedOnly)
	if err != nil || !todayOnly {
		return page, err
	}
	today := partner.DayNumber(c.Now())
	page.Lines = slices.DeleteFunc(page.Lines, func(l partner.LoggedRequest) bool {
		return partner.DayNumber(l.At) < today
	})
	counts, err := c.Rules.Meter.CountsOfDays(ctx, p.ID, 1)
	for _, n := range counts {
		if failedOnly {
			page.Counted += int(n.Refused)
		} else {
			page.Counted += int(n.Sent)
		}
	}
	return page, err
}

// showUsage shows a partner's limits and how much of them is used: rate, active subscriptions, first looks and events.
func showUsage(c *Console, r *request) (answer, error) {
	page, err := c.gatherUsage(r.Context(), partnerOf(r))
	return newView("usage", "Uso e limites", page, err)
}

func (c *Console) gatherUsage(ctx context.Context, id partner.ID) (usagePage, error) {
	p, err := c.Rules.Partners.PartnerByID(ctx, id)
	if err != nil {
		return usagePage{}, err
	}
	page := usagePage{Partner: p}
	page.Rate, page.Burst = p.Settings.RateLimit()
	active, err := c.Rules.Subscriptions.ListActive(ctx, p.ID, 1, 1)
	if err != nil {
		return page, err
	}
	page.Active = active.Total
	page.Looks, err = c.Rules.FirstLooks.LookStatus(ctx, p.ID, p.Settings)
	if err != nil {
		return page, err
	}
	newest, _, err := c.Rules.Events.ListEvents(ctx, p.ID, alert.EventFilter{Limit: 1})
	if err != nil {
		return page, err
	}
	for _, e := range newest {
		page.Events = e.Seq
	}
	return page, nil
}
