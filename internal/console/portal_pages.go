package console

import "github.com/vigiahq/vigia/internal/partner"

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
