package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// only are the rules for a partner's people. What is not here is missing on purpose: a page that reaches for it fails
// instead of showing what is others'.
func (r Rules) only(s scope) Rules {
	id := s.at.ID
	return Rules{
		Operators: r.Operators.Only(s.home.ID), Audit: r.Audit.Only(s.home.ID, r.Operators), Partners: r.Partners.Only(id),
		Webhooks: ownWebhooks{r.Webhooks, id},
	}
}

// ownWebhooks are one partner's. Those that take the partner get it from a path that was held against the session.
type ownWebhooks struct {
	Webhooks
	id partner.ID
}

// ByID returns an endpoint of the one partner.
func (w ownWebhooks) ByID(ctx context.Context, endpoint alert.EndpointID) (alert.Endpoint, error) {
	e, err := w.Webhooks.ByID(ctx, endpoint)
	if err == nil && e.Partner != w.id {
		return alert.Endpoint{}, alert.ErrEndpointNotFound
	}
	return e, err
}
