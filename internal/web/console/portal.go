package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// portalPage is the first page of a partner's people.
type portalPage struct {
	Partner partner.Partner
	// Keys are those in force; Findings are open, Arrived came to their destinations in the last 24 hours.
	Keys              []keyRow
	Findings, Arrived int64
	API               string // the address of the partner API; empty when it is not known
	Webhooks          []webhookHealth
	Notices           []operator.Entry
	// Sent and Refused are requests of today; Log are the latest.
	Sent, Refused int64
	Log           []partner.LoggedRequest
	Subscriptions int64
	// Looks is how the partner stands with its first looks; a sandbox has none.
	Looks cyber.LookStatus
	// Trying says that the sandbox is looked at.
	Trying bool
}

// webhookHealth is a destination and how it does.
type webhookHealth struct {
	alert.Endpoint
	Health alert.Health
}

// portalRequests is how many requests the first page shows.
const portalRequests = 8

// showPortal shows a partner's people their first page: the state of keys, webhooks and usage.
func showPortal(c *Console, r *request) (answer, error) {
	page, err := c.gatherPortal(r.Context(), r.viewer)
	return newView("portal", "Visão geral", page, err)
}

func (c *Console) gatherPortal(ctx context.Context, v viewer) (portalPage, error) {
	page := portalPage{
		Partner: v.scope.at,
		API:     c.API.String(),
		Trying:  v.scope.newScopeView().Trying || v.scope.at.Mode == partner.Sandbox,
	}
	id := page.Partner.ID
	keys, err := c.Rules.Partners.ListKeys(ctx, id)
	if err != nil {
		return page, err
	}
	log, err := c.Rules.Meter.LatestRequests(ctx, id, false)
	if err != nil {
		return page, err
	}
	for _, k := range c.newKeyRows(keys, log) {
		if k.State == "live" || k.State == "ending" {
			page.Keys = append(page.Keys, k)
		}
	}
	open, err := c.Rules.Figures.FiguresByPart(ctx, operator.FindingsOpen, 0)
	if err != nil {
		return page, err
	}
	page.Findings = open[string(id)]
	arrived, err := c.Rules.Figures.FiguresByPart(ctx, operator.Arrived, 0)
	if err != nil {
		return page, err
	}
	for _, n := range arrived {
		page.Arrived += n
	}
	page.Webhooks, err = c.gatherWebhookHealth(ctx, id)
	if err != nil {
		return page, err
	}
	today, err := c.Rules.Meter.CountsOfDays(ctx, id, 1)
	if err != nil {
		return page, err
	}
	for _, n := range today {
		page.Sent += n.Sent
		page.Refused += n.Refused
	}
	page.Log = log[:min(len(log), portalRequests)]
	active, err := c.Rules.Subscriptions.ListActive(ctx, id, 1, 1)
	if err != nil {
		return page, err
	}
	page.Subscriptions = active.Total
	if page.Partner.Mode == partner.Live {
		page.Looks, err = c.Rules.FirstLooks.LookStatus(ctx, id, page.Partner.Settings)
		if err != nil {
			return page, err
		}
	}
	page.Notices, err = c.accessNotices(ctx, v.who)
	return page, err
}
