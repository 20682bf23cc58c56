package cyber

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// ForPartner returns the same rules for a partner's own people: to them there are no cases but the partner's.
func (c *Cases) ForPartner(id partner.ID) *Cases {
	return NewCases(ownCases{inner: c.store, id: id}, c.now)
}

// ownCases is a store that knows one partner's cases. Every method is written out, so that one that is added to the
// interface is decided on before it compiles.
type ownCases struct {
	inner CaseStore
	id    partner.ID
}

var _ CaseStore = ownCases{}

// ServiceTriage returns what a service asks; services are all partners'.
func (s ownCases) ServiceTriage(ctx context.Context, service ServiceID) (Triage, error) {
	return s.inner.ServiceTriage(ctx, service)
}

// InsertCase keeps a case of the one partner.
func (s ownCases) InsertCase(ctx context.Context, id partner.ID, c Case, wishes Wishes) (Case, error) {
	if id != s.id {
		return Case{}, partner.ErrNotFound
	}
	return s.inner.InsertCase(ctx, id, c, wishes)
}

// ListCases returns those of the one partner.
func (s ownCases) ListCases(ctx context.Context, f CaseFilter) ([]Case, error) {
	f.Partner = s.id
	return s.inner.ListCases(ctx, f)
}

// GetCase returns a case of the one partner. Whose notes are shown is for the page to know, which knows the partner's
// people.
func (s ownCases) GetCase(ctx context.Context, id CaseID) (Case, []CaseMove, error) {
	c, moves, err := s.inner.GetCase(ctx, id)
	if err == nil && c.Partner != s.id {
		return Case{}, nil, ErrCaseNotFound
	}
	return c, moves, err
}

// ListPersonCases returns those of the one partner's people.
func (s ownCases) ListPersonCases(
	ctx context.Context, id partner.ID, user partner.UserHash, limit int,
) ([]Case, error) {
	if id != s.id {
		return nil, partner.ErrNotFound
	}
	return s.inner.ListPersonCases(ctx, id, user, limit)
}

// PersonCase returns one of the one partner's people.
func (s ownCases) PersonCase(ctx context.Context, key CaseKey) (Case, []CaseMove, error) {
	if key.Partner != s.id {
		return Case{}, nil, ErrCaseNotFound
	}
	return s.inner.PersonCase(ctx, key)
}

// ListLane returns cases of the one partner.
func (s ownCases) ListLane(ctx context.Context, f LaneFilter) (Lane, error) {
	f.Partner = s.id
	return s.inner.ListLane(ctx, f)
}

// WaitingCases counts cases of the one partner.
func (s ownCases) WaitingCases(
	ctx context.Context, f LaneFilter, assignee string, now, dayEnd time.Time,
) (WaitingCases, error) {
	f.Partner = s.id
	return s.inner.WaitingCases(ctx, f, assignee, now, dayEnd)
}

// SetWriter notes who is writing to a case of the one partner.
func (s ownCases) SetWriter(ctx context.Context, key CaseKey, writer string, now time.Time) error {
	if key.Partner != "" && key.Partner != s.id {
		return ErrCaseNotFound
	}
	key.Partner = s.id
	return s.inner.SetWriter(ctx, key, writer, now)
}

// UpdateCase changes a case of the one partner.
func (s ownCases) UpdateCase(ctx context.Context, key CaseKey, change func(*Case) (CaseChange, error)) (Case, error) {
	return s.inner.UpdateCase(ctx, key, func(c *Case) (CaseChange, error) {
		if c.Partner != s.id {
			return CaseChange{}, ErrCaseNotFound
		}
		return change(c)
	})
}

// ListQuestions returns what a service asks; services are all partners'.
func (s ownCases) ListQuestions(ctx context.Context, service ServiceID) ([]Question, error) {
	return s.inner.ListQuestions(ctx, service)
}

// ReadyAnswers returns texts that name no person.
func (s ownCases) ReadyAnswers(ctx context.Context) ([]ReadyAnswer, error) {
	return s.inner.ReadyAnswers(ctx)
}

// ListFreeSlots returns the free times for people of the one partner.
func (s ownCases) ListFreeSlots(
	ctx context.Context, id partner.ID, service ServiceID, after time.Time, limit int,
) ([]time.Time, error) {
	if id != s.id {
		return nil, partner.ErrNotFound
	}
	return s.inner.ListFreeSlots(ctx, id, service, after, limit)
}

// What is below is the operator's: services, their calendars and texts, and chores over all partners.

// EndingCases returns nothing.
func (ownCases) EndingCases(context.Context, time.Time, int) ([]CaseID, error) {
	return nil, ErrCaseNotFound
}

// DeleteQuestion deletes nothing.
func (ownCases) DeleteQuestion(context.Context, QuestionID) error { return ErrCaseNotFound }

// DeleteReadyAnswer deletes nothing.
func (ownCases) DeleteReadyAnswer(context.Context, string) error { return ErrCaseNotFound }

// DeleteSlot deletes nothing.
func (ownCases) DeleteSlot(context.Context, SlotID) error { return ErrCaseNotFound }

// InsertQuestion keeps nothing.
func (ownCases) InsertQuestion(context.Context, Question) error { return ErrCaseNotFound }

// SetTarget changes nothing.
func (ownCases) SetTarget(context.Context, ServiceID, time.Duration) error { return ErrCaseNotFound }

// SaveReadyAnswer keeps nothing.
func (ownCases) SaveReadyAnswer(context.Context, ReadyAnswer) error { return ErrCaseNotFound }

// InsertSlots keeps nothing.
func (ownCases) InsertSlots(context.Context, []Slot) (int, error) { return 0, ErrCaseNotFound }

// ListSlots returns nothing: a taken time names a person.
func (ownCases) ListSlots(context.Context, ServiceID, time.Time) ([]Slot, error) {
	return nil, ErrCaseNotFound
}
