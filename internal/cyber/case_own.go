package cyber

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// ForPartner returns the same rules for a partner's own people: to them there are no cases but the partner's.
func (c *Cases) ForPartner(id partner.ID) *Cases { return NewCases(ownCases{c.store, id}, c.now) }

// ownCases is a store that knows one partner's cases.
type ownCases struct {
	CaseStore
	id partner.ID
}

// InsertCase keeps a case of the one partner.
func (s ownCases) InsertCase(ctx context.Context, id partner.ID, c Case, wishes Wishes) (Case, error) {
	if id != s.id {
		return Case{}, partner.ErrNotFound
	}
	return s.CaseStore.InsertCase(ctx, id, c, wishes)
}

// ListCases returns those of the one partner.
func (s ownCases) ListCases(ctx context.Context, f CaseFilter) ([]Case, error) {
	f.Partner = s.id
	return s.CaseStore.ListCases(ctx, f)
}

// GetCase returns a case of the one partner. Whose notes are shown is for the page to know, which knows the partner's people.
func (s ownCases) GetCase(ctx context.Context, id CaseID) (Case, []CaseMove, error) {
	c, moves, err := s.CaseStore.GetCase(ctx, id)
	if err == nil && c.Partner != s.id {
		return Case{}, nil, ErrCaseNotFound
	}
	return c, moves, err
}

// ListPersonCases returns those of the one partner's people.
func (s ownCases) ListPersonCases(ctx context.Context, id partner.ID, user partner.UserHash, limit int) ([]Case, error) {
	if id != s.id {
		return nil, nil
	}
	return s.CaseStore.ListPersonCases(ctx, id, user, limit)
}

// PersonCase returns one of the one partner's people.
func (s ownCases) PersonCase(ctx context.Context, key CaseKey) (Case, []CaseMove, error) {
	if key.Partner != s.id {
		return Case{}, nil, ErrCaseNotFound
	}
	return s.CaseStore.PersonCase(ctx, key)
}

// ListLane returns cases of the one partner.
func (s ownCases) ListLane(ctx context.Context, f LaneFilter) (Lane, error) {
	f.Partner = s.id
	return s.CaseStore.ListLane(ctx, f)
}

// WaitingCases counts cases of the one partner.
func (s ownCases) WaitingCases(ctx context.Context, f LaneFilter, assignee string, now, dayEnd time.Time) (WaitingCases, error) {
	f.Partner = s.id
	return s.CaseStore.WaitingCases(ctx, f, assignee, now, dayEnd)
}

// SetWriter notes who is writing to a case of the one partner.
func (s ownCases) SetWriter(ctx context.Context, key CaseKey, writer string, now time.Time) error {
	key.Partner = s.id
	return s.CaseStore.SetWriter(ctx, key, writer, now)
}

// UpdateCase changes a case of the one partner.
func (s ownCases) UpdateCase(ctx context.Context, key CaseKey, change func(*Case) (CaseChange, error)) (Case, error) {
	return s.CaseStore.UpdateCase(ctx, key, func(c *Case) (CaseChange, error) {
		if c.Partner != s.id {
			return CaseChange{}, ErrCaseNotFound
		}
		return change(c)
	})
}
