package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// ownEvents are one partner's events and deliveries.
type ownEvents struct {
	of Events
	id partner.ID
}

func (e ownEvents) ListEvents(ctx context.Context, id partner.ID, f alert.EventFilter) ([]alert.Kept, int64, error) {
	if id != e.id {
		return nil, 0, partner.ErrNotFound
	}
	return e.of.ListEvents(ctx, id, f)
}

func (e ownEvents) GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error) {
	if id != e.id {
		return alert.Kept{}, alert.ErrEventNotFound
	}
	return e.of.GetEvent(ctx, id, event)
}

// DeliveryList lists deliveries of the one partner, whatever was asked for.
func (e ownEvents) DeliveryList(
	ctx context.Context,
	f alert.DeliveryFilter,
) ([]alert.Listed, alert.DeliveryMark, error) {
	f.Partner = e.id
	return e.of.DeliveryList(ctx, f)
}
