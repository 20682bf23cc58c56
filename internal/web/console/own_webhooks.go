package console

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
)

// ownWebhooks are one partner's. Every method is written out, so that one that is added to the interface is decided on
// before it compiles; so it is with the types below.
type ownWebhooks struct {
	inner Webhooks
	id    partner.ID
}

// checkOwn refuses every partner but the one.
func (w ownWebhooks) checkOwn(id partner.ID) error {
	if id != w.id {
		return alert.ErrEndpointNotFound
	}
	return nil
}

func (w ownWebhooks) FindEndpoint(ctx context.Context, endpoint alert.EndpointID) (alert.Endpoint, error) {
	e, err := w.inner.FindEndpoint(ctx, endpoint)
	if err == nil && e.Partner != w.id {
		return alert.Endpoint{}, alert.ErrEndpointNotFound
	}
	return e, err
}

func (w ownWebhooks) ListEndpoints(ctx context.Context, id partner.ID) ([]alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return nil, err
	}
	return w.inner.ListEndpoints(ctx, id)
}

func (w ownWebhooks) Create(ctx context.Context, id partner.ID, url string, types []string) (alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return alert.Endpoint{}, err
	}
	return w.inner.Create(ctx, id, url, types)
}

func (w ownWebhooks) Test(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, t alert.Type,
) (webhook.Outcome, alert.EventID, error) {
	if err := w.checkOwn(id); err != nil {
		return webhook.Outcome{}, "", err
	}
	return w.inner.Test(ctx, id, endpoint, t)
}

func (w ownWebhooks) RotateKeys(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, overlap time.Duration,
) (alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return alert.Endpoint{}, err
	}
	return w.inner.RotateKeys(ctx, id, endpoint, overlap)
}

func (w ownWebhooks) EnableEndpoint(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID,
) (alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return alert.Endpoint{}, err
	}
	return w.inner.EnableEndpoint(ctx, id, endpoint)
}

func (w ownWebhooks) DisableEndpoint(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID,
) (alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return alert.Endpoint{}, err
	}
	return w.inner.DisableEndpoint(ctx, id, endpoint)
}

func (w ownWebhooks) FollowEndpoint(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, to alert.EndpointState,
) error {
	if err := w.checkOwn(id); err != nil {
		return err
	}
	return w.inner.FollowEndpoint(ctx, id, endpoint, to)
}

func (w ownWebhooks) DeleteEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) error {
	if err := w.checkOwn(id); err != nil {
		return err
	}
	return w.inner.DeleteEndpoint(ctx, id, endpoint)
}
