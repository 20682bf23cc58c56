package console

import (
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
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partner.ID(r.PathValue("id")))
	page := requestsPage{Partner: p, FailedOnly: r.URL.Query().Get("failed") == "1"}
	page.Lines = callRuleWith2(r, c.Rules.Meter.LatestRequests, p.ID, page.FailedOnly)
	return view{"requests", "Requisições", page}, nil
}

// showUsage shows a partner's limits and how much of them is used: rate, active subscriptions, first looks and events.
func showUsage(c *Console, r *request) (answer, error) {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partner.ID(r.PathValue("id")))
	page := usagePage{
		Partner: p,
		Active:  callRuleWith3(r, c.Rules.Subscriptions.ListActive, p.ID, 1, 1).Total,
		Looks:   callRuleWith2(r, c.Rules.FirstLooks.LookStatus, p.ID, p.Settings),
	}
	page.Rate, page.Burst = p.Settings.RateLimit()
	newest, _ := callRulePair2(r, c.Rules.Events.ListEvents, p.ID, alert.EventFilter{Limit: 1})
	for _, e := range newest {
		page.Events = e.Seq
	}
	return view{"usage", "Uso e limites", page}, nil
}
