package cyber

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Source says where the keys of a system come from and how many are left.
type Source struct {
	System System
	// Pooled keys are taken from what the vendor delivered; otherwise the service generates them.
	Pooled bool
	// LowMark is the number of free keys below which a pool is low.
	LowMark int64
	// ToldLow is whether the operator was last told that the pool is low.
	ToldLow bool
	// Returns is whether the vendor lets a revoked key that no device used be issued again.
	Returns bool
	// Free and Taken count the pool's keys; Expired those that the vendor ended before they were issued.
	Free, Taken, Expired int64
	// Live counts live keys of the system, whatever they came from; Active those that protect a device.
	Live, Active int64
}

// Low reports whether the operator should order keys.
func (s Source) Low() bool { return s.Pooled && s.Free < s.LowMark }

// SourceChange is what an operator changes of a source; nil leaves a setting as it is.
type SourceChange struct {
	Pooled  *bool
	LowMark *int64
	Returns *bool
}

// DefaultLowMark is when a pool counts as low unless the operator says otherwise.
const DefaultLowMark = 100

// VendorKey is a key as the vendor delivered it.
type VendorKey struct {
	Key string
	// Expires is when the vendor ends it; zero where the file does not say.
	Expires time.Time
}

// EndsAt returns when a key from the pool is over: when the plan says so, and never later than the vendor does.
func (k VendorKey) EndsAt(plan time.Time) time.Time {
	if k.Expires.IsZero() || plan.Before(k.Expires) {
		return plan
	}
	return k.Expires
}

// PoolStore keeps vendors' keys.
type PoolStore interface {
	// LoadKeyPool keeps the keys that are not known yet, switches the system to its pool, and returns how many were
	// new. A known key that comes with a date of its end ends then, issued or not.
	LoadKeyPool(ctx context.Context, system System, keys []VendorKey) (int, error)
	// UpdateSource changes where a system's keys come from.
	UpdateSource(ctx context.Context, system System, change SourceChange) error
}

// UpdateSource changes where a system's keys come from.
func (e *Endpoints) UpdateSource(ctx context.Context, system System, change SourceChange) error {
	if mark := change.LowMark; mark != nil && (*mark < 0 || *mark > 1_000_000_000) {
		return ErrPoolFile.With("low mark", fault.KeysUpTo)
	}
	return e.store.UpdateSource(ctx, system, change)
}
