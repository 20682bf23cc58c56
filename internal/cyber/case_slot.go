package cyber

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// SlotID names a slot of a calendar: "sl_" and a UUIDv7.
type SlotID string

// Slot is a time at which an operator can attend to one case of a service.
type Slot struct {
	ID      SlotID
	Service ServiceID
	Starts  time.Time
	// Partner is the one it is reserved for; empty if any partner may book it.
	Partner partner.ID
	// Case holds the slot; empty while it is free.
	Case CaseID
}

// AddFreeSlots puts times into a service's calendar, for one partner's people alone where id names one. From the first
// one on, the service's cases are attended by appointment.
func (c *Cases) AddFreeSlots(ctx context.Context, service ServiceID, id partner.ID, times []time.Time) (int, error) {
	slots := make([]Slot, len(times))
	for i, at := range times {
		if !at.After(c.now()) {
			return 0, ErrCaseInvalid.With("slot", fault.InTheFuture)
		}
		slots[i] = Slot{
			ID:      SlotID("sl_" + uuid.Must(uuid.NewV7()).String()),
			Service: service,
			Starts:  at.UTC(),
			Partner: id,
		}
	}
	return c.store.InsertSlots(ctx, slots)
}

// ListSlots returns a service's coming slots.
func (c *Cases) ListSlots(ctx context.Context, service ServiceID) ([]Slot, error) {
	return c.store.ListSlots(ctx, service, c.now())
}
