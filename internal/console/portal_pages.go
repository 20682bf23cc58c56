package console

import (
	"net/http"
	"slices"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
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
	Notices           []accessNotice
	// Sent and Refused are requests of today; Failed are the latest that were refused.
	Sent, Refused int64
	Failed        []partner.LoggedRequest
	Subscriptions int64
	// Trying says that the sandbox is looked at.
	Trying bool
}

// webhookHealth is a destination and how it does.
type webhookHealth struct {
	webhookRow
	Health alert.Health
}

// portalFailures is how many refused requests the first page names.
const portalFailures = 5

// showPortal shows a partner's people their first page: the state of keys, webhooks and usage.
func showPortal(c *Console, r *request) (answer, error) {
	page := portalPage{Partner: r.scope.at, API: c.API.String(), Trying: r.scope.newScopeView().Trying || r.scope.at.Mode == partner.Sandbox}
	keys, err := c.Rules.Partners.ListKeys(r.Context(), page.Partner.ID)
	if err != nil {
		return nil, err
	}
	log, err := c.Rules.Meter.LatestRequests(r.Context(), page.Partner.ID, false)
	if err != nil {
		return nil, err
	}
	page.Keys = slices.DeleteFunc(c.newKeyRows(keys, log), func(k keyRow) bool { return k.State != "live" && k.State != "ending" })
	open, err := c.Rules.Figures.FiguresByPart(r.Context(), operator.FindingsOpen, 0)
	if err != nil {
		return nil, err
	}
	arrived, err := c.Rules.Figures.FiguresByPart(r.Context(), operator.Arrived, 0)
	if err != nil {
		return nil, err
	}
	page.Findings = open[string(page.Partner.ID)]
	for _, n := range arrived {
		page.Arrived += n
	}
	endpoints, err := c.Rules.Webhooks.ListEndpoints(r.Context(), page.Partner.ID)
	if err != nil {
		return nil, err
	}
	for _, row := range webhookRows(endpoints) {
		health, err := c.Rules.History.EndpointHealth(r.Context(), page.Partner.ID, row.ID)
		if err != nil {
			return nil, err
		}
		page.Webhooks = append(page.Webhooks, webhookHealth{row, health})
	}
	counts, err := c.Rules.Meter.CountsOfDays(r.Context(), page.Partner.ID, 1)
	if err != nil {
		return nil, err
	}
	for _, n := range counts {
		page.Sent, page.Refused = page.Sent+n.Sent, page.Refused+n.Refused
	}
	for _, l := range log {
		if l.Status >= http.StatusBadRequest && len(page.Failed) < portalFailures {
			page.Failed = append(page.Failed, l)
		}
	}
	active, err := c.Rules.Subscriptions.ListActive(r.Context(), page.Partner.ID, 1, 1)
	if err != nil {
		return nil, err
	}
	page.Subscriptions = active.Total
	if page.Notices, err = c.accessNotices(r); err != nil {
		return nil, err
	}
	return view{"portal", "Visão geral", page}, nil
}

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
	return view{"requests", "Requisições", page}, err
}

// showUsage shows a partner's limits and how much of them is used: rate, active subscriptions, first looks and events.
func showUsage(c *Console, r *request) (answer, error) {
	ctx := r.Context()
	p, err := c.Rules.Partners.GetPartner(ctx, partner.ID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	page := usagePage{Partner: p}
	page.Rate, page.Burst = p.Settings.RateLimit()
	active, err := c.Rules.Subscriptions.ListActive(ctx, p.ID, 1, 1)
	if err != nil {
		return nil, err
	}
	page.Active = active.Total
	if page.Looks, err = c.Rules.FirstLooks.LookStatus(ctx, p.ID, p.Settings); err != nil {
		return nil, err
	}
	newest, _, err := c.Rules.Events.ListEvents(ctx, p.ID, alert.EventFilter{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(newest) > 0 {
		page.Events = newest[0].Seq
	}
	return view{"usage", "Uso e limites", page}, nil
}
