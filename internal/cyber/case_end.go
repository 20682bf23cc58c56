package cyber

import (
	"context"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Ending is a final move that can still be undone. It is made, and the partner told of it, when At has come; its zero
// value is none.
type Ending struct {
	To    CaseStatus
	Actor string
	At    time.Time
}

// UndoTime is how long a final move can be undone.
const UndoTime = 10 * time.Second

// ScheduleEnd moves a case when UndoTime has passed, unless UndoScheduledEnd is called or the person writes before.
func (c *Cases) ScheduleEnd(ctx context.Context, id CaseID, to CaseStatus, actor string) (Case, error) {
	return c.updateCaseBy(ctx, id, actor, nil, func(cs *Case) (CaseChange, error) {
		if !cs.Status.CanMoveTo(to) {
			return CaseChange{}, ErrCaseMove.With("status", fault.NoSuchMove)
		}
		cs.Ending = Ending{To: to, Actor: actor, At: c.now().Add(UndoTime)}
		return CaseChange{}, nil
	})
}

// UndoScheduledEnd takes back a final move that was not made yet; ErrCaseMove when there is none any more.
func (c *Cases) UndoScheduledEnd(ctx context.Context, id CaseID) (Case, error) {
	return c.store.UpdateCase(ctx, CaseKey{ID: id}, func(cs *Case) (CaseChange, error) {
		if cs.Ending.At.IsZero() {
			return CaseChange{}, ErrCaseMove.With("status", fault.MoveMade)
		}
		cs.Ending = Ending{}
		return CaseChange{}, nil
	})
}

// MakeEndings makes the final moves that can no longer be undone, and returns how many.
func (c *Cases) MakeEndings(ctx context.Context) (made int, err error) {
	due, err := c.store.EndingCases(ctx, c.now(), 100)
	for _, id := range due {
		moved := false
		_, uerr := c.store.UpdateCase(ctx, CaseKey{ID: id}, func(cs *Case) (CaseChange, error) {
			moved = false // the transaction may run again
			end := cs.Ending
			if end.At.IsZero() || end.At.After(c.now()) { // undone, or made by another process
				return CaseChange{}, nil
			}
			cs.Ending = Ending{}
			if !cs.Status.CanMoveTo(end.To) {
				return CaseChange{}, nil
			}
			move, err := cs.moveToStatus(end.To, end.Actor, "", c.now())
			moved = err == nil
			return CaseChange{Lines: []CaseMove{move}}, err
		})
		if moved && uerr == nil {
			made++
		}
		err = errors.Join(err, uerr)
	}
	return made, err
}
