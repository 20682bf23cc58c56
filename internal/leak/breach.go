package leak

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Breaches are the operator's rules for what is told of breaches.
type Breaches struct {
	store   Store
	now     func() time.Time
	counted *hitBook
}

// NewBreaches joins the rules to a store and a clock.
func NewBreaches(store Store, now func() time.Time) *Breaches {
	return &Breaches{store: store, now: now, counted: &hitBook{byName: map[string]hitCount{}}}
}

// ListBreaches lists every breach, oldest first; the made-up one of the sandbox is left out.
func (b *Breaches) ListBreaches(ctx context.Context) ([]Record, error) {
	all, err := b.store.ListBreaches(ctx)
	return slices.DeleteFunc(all, func(r Record) bool { return r.Name == cyber.SandboxBreach }), err
}

func (b *Breaches) FindBreach(ctx context.Context, name string) (Record, error) {
	return b.store.BreachByName(ctx, name)
}

// KnownRatio returns which part of the newest measured breach earlier ones had; 0 when none is measured.
func (b *Breaches) KnownRatio(ctx context.Context) (float64, error) {
	all, err := b.ListBreaches(ctx)
	if err != nil {
		return 0, err
	}
	var newest Record
	for _, r := range all {
		if r.State == Published && r.Tally.Measured != nil && !r.PublishedAt.Before(newest.PublishedAt) {
			newest = r
		}
	}
	if newest.Tally.Measured == nil {
		return 0, nil
	}
	return float64(newest.Tally.Measured.Known) / float64(max(1, newest.Tally.Distinct)), nil
}

// EditBreach changes what is told of a breach. Name, state and content stay as they are.
func (b *Breaches) EditBreach(ctx context.Context, name string, edit func(*cyber.Breach)) (Record, error) {
	if err := checkReserved(name); err != nil {
		return Record{}, err
	}
	return b.store.UpdateBreach(ctx, name, func(r *Record) error {
		if r.State == Retracted {
			return ErrRetracted.With("name", fault.WasRetracted)
		}
		before := r.Breach
		edit(&r.Breach)
		r.Name, r.AddedAt = before.Name, before.AddedAt
		if r.State == Importing {
			return CheckNewBreach(&r.Breach, b.now())
		}
		return CheckBreach(&r.Breach, b.now())
	})
}

// RetractBreach takes a breach back: its segment goes, its findings are withdrawn, statuses follow. The name is not
// used again.
func (b *Breaches) RetractBreach(ctx context.Context, name string) (Record, error) {
	if err := checkReserved(name); err != nil {
		return Record{}, err
	}
	return b.store.RetractBreach(ctx, name)
}
