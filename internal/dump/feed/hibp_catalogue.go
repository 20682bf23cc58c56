package feed

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// readPlan asks what the key allows, and for the catalogue of breaches.
func (s *hibpSweep) readPlan(ctx context.Context) error {
	var plan hibpPlan
	if _, err := s.fetchJSON(ctx, "/subscription/status", &plan, maxHIBPAnswer); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if !plan.IncludesKAnon {
		return ErrInvalid.With("key", fault.PlanWithoutRange)
	}
	if s.f.Settings.PerMinute == 0 {
		s.setCallRate(plan.Rpm)
	}
	return s.readCatalogue(ctx)
}

// checkKey asks what the key allows, or without a key for the catalogue, and keeps nothing.
func (s *hibpSweep) checkKey(ctx context.Context) error {
	if s.f.Secret == "" {
		return s.readCatalogue(ctx)
	}
	return s.readPlan(ctx)
}

// keepCatalogue publishes titles, dates and kinds of data of all breaches, which the service tells without a key. No
// person is found by them.
func (s *hibpSweep) keepCatalogue(ctx context.Context) error {
	if err := s.readCatalogue(ctx); err != nil {
		return err
	}
	for _, b := range s.known {
		if err := s.keepBreach(ctx, b); err != nil {
			return err
		}
	}
	s.f.State.Items = int64(len(s.kept))
	return s.saveState(ctx)
}

// keepBreach publishes a breach of the catalogue, unless it is there already.
func (s *hibpSweep) keepBreach(ctx context.Context, b cyber.Breach) error {
	if s.kept[b.Name] {
		return nil
	}
	b.AddedAt = s.fs.Now()
	err := s.fs.Breaches.InsertBreach(ctx, leak.Record{Breach: b, State: leak.Published, PublishedAt: b.AddedAt})
	if err != nil && !errors.Is(err, leak.ErrBreachExists) {
		return err
	}
	s.kept[b.Name] = true
	return nil
}

// readCatalogue asks for all breaches that may be told of.
func (s *hibpSweep) readCatalogue(ctx context.Context) error {
	var all []hibpBreach
	if _, err := s.fetchJSON(ctx, "/breaches", &all, maxCatalogue); err != nil {
		return fmt.Errorf("breaches: %w", err)
	}
	for _, h := range all {
		if b, ok := h.toBreach(s.fs.Now()); ok && !h.IsSensitive {
			s.known[h.Name] = b
		}
	}
	return nil
}
