package cyber

import (
	"context"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// ErrBreachUnknown means that no breach of that name is published.
var ErrBreachUnknown = fault.New(fault.NotFound, "breach.unknown")

// MaxBreachPage is the most that a page of breaches holds.
const MaxBreachPage = 100

// BreachStore reads what is told of breaches.
type BreachStore interface {
	// PublishedPage returns published breaches from place offset on, newest first, and how many there are; without is the
	// name of one that is left out.
	PublishedPage(ctx context.Context, without string, offset int64, limit int) ([]Breach, int64, error)
	// PublishedBreach returns one; ErrBreachUnknown when it is not published.
	PublishedBreach(ctx context.Context, name string) (Breach, error)
}

// Breaches is the catalogue that partners read: the public facts about breaches, nothing about the people in them.
type Breaches struct{ store BreachStore }

// NewBreaches joins the rules to a store.
func NewBreaches(store BreachStore) *Breaches { return &Breaches{store} }

// ListBreaches returns one page of the published breaches, newest first, and how many there are. Pages count from 1. The made-up
// breach is there for sandbox partners alone.
func (b *Breaches) ListBreaches(ctx context.Context, mode partner.Mode, page int64, size int) ([]Breach, int64, error) {
	without := SandboxBreach
	if mode.Has(partner.MagicValues) {
		without = ""
	}
	size = min(size, MaxBreachPage)
	const beyond = 1 << 40 // far more pages than there can be: keeps the product below from overflowing
	return b.store.PublishedPage(ctx, without, min(page-1, beyond)*int64(size), size)
}

// FindBreach returns one published breach.
func (b *Breaches) FindBreach(ctx context.Context, mode partner.Mode, name string) (Breach, error) {
	if name == SandboxBreach && !mode.Has(partner.MagicValues) {
		return Breach{}, ErrBreachUnknown.With("name", fault.BreachNotPublishedByName)
	}
	return b.store.PublishedBreach(ctx, name)
}
