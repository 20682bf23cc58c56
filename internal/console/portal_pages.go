package console

import (
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// portalPage is the first page of a partner's people.
type portalPage struct {
	Partner      partner.Partner
	Live, Ending int
	Webhooks     []webhookRow
	Notices      []accessNotice
}

func showPortal(c *Console, r *request) (answer, error) {
	page := portalPage{Partner: r.scope.at}
	keys, err := c.Rules.Partners.Keys(r.Context(), page.Partner.ID)
	if err != nil {
		return nil, err
	}
	for _, k := range c.keyRows(keys) {
		switch k.State {
		case "ending":
			page.Ending++
			page.Live++
		case "live":
			page.Live++
		}
	}
	endpoints, err := c.Rules.Webhooks.Of(r.Context(), page.Partner.ID)
	if err != nil {
		return nil, err
	}
	page.Webhooks = webhookRows(endpoints)
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

func showUsage(c *Console, r *request) (answer, error) {
	ctx := r.Context()
	p, err := c.Rules.Partners.Partner(ctx, partner.ID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	page := usagePage{Partner: p}
	page.Rate, page.Burst = p.Settings.Rate()
	active, err := c.Rules.Subscriptions.Active(ctx, p.ID, 1, 1)
	if err != nil {
		return nil, err
	}
	page.Active = active.Total
	if page.Looks, err = c.Rules.FirstLooks.Status(ctx, p.ID, p.Settings); err != nil {
		return nil, err
	}
	newest, _, err := c.Rules.Events.EventList(ctx, p.ID, alert.EventFilter{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(newest) > 0 {
		page.Events = newest[0].Seq
	}
	return view{"usage", "Uso e limites", page}, nil
}
