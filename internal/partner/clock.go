package partner

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// MaxClockDays is how far one request moves the clock of a sandbox: past the end of an antivirus key and of a yearly
// subscription.
const MaxClockDays = 400

// Faults of the sandbox's clock.
var (
	ErrClockLive    = fault.New(fault.NotFound, "clock.live")
	ErrClockInvalid = fault.New(fault.Invalid, "clock.invalid")
)

// AdvanceClock lets days pass for a sandbox partner. Nothing in the service keeps a time of its own for a partner:
// instead everything that the partner has becomes so much older, and what is due by the common clock happens. So there
// is one clock in every rule and query, and no way back.
func (r *Registry) AdvanceClock(ctx context.Context, who Caller, days int) error {
	if days < 1 || days > MaxClockDays {
		return ErrClockInvalid.With("days", fault.DaysBetween, 1, MaxClockDays)
	}
	if !who.Mode.Has(MovableClock) {
		return ErrClockLive.With("clock", fault.SandboxAlone)
	}
	if err := r.store.AgeSandbox(ctx, who.Partner, days); err != nil {
		return err
	}
	return r.store.UpdateKeys(ctx, who.Partner, func(keys []Key) error {
		for i := range keys {
			if !keys[i].ExpiresAt.IsZero() {
				keys[i].ExpiresAt = keys[i].ExpiresAt.Add(-time.Duration(days) * 24 * time.Hour)
			}
		}
		return nil
	})
}
