package console

import (
	"context"

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

// requestsPage is the log of a partner's latest requests.
type requestsPage struct {
	Partner    partner.Partner
	FailedOnly bool
	Lines      []partner.LoggedRequest
}

// showRequests shows the latest API requests of a partner, all of them or the failed ones only.
func showRequests(c *Console, r *request) (answer, error) {
	p, err := c.Rules.Partners.GetPartner(r.Context(), partner.ID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	page := requestsPage{Partner: p, FailedOnly: r.URL.Query().Get("failed") == "1"}
	page.Lines, err = c.Rules.Meter.LatestRequests(r.Context(), p.ID, page.FailedOnly)
	if err != nil {
		return nil, err
	}
	return view{"requests", "Requisições", page}, nil
}

// showUsage shows a partner's limits and how much of them is used: rate, active subscriptions, first looks and events.
func showUsage(c *Console, r *request) (answer, error) {
	page, err := c.gatherUsage(r.Context(), partner.ID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	return view{"usage", "Uso e limites", page}, nil
}

func (c *Console) gatherUsage(ctx context.Context, id partner.ID) (usagePage, error) {
	p, err := c.Rules.Partners.GetPartner(ctx, id)
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
