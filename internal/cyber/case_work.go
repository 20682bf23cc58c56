package cyber

import (
	"context"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// CaseChange is what a change of a case adds to it.
type CaseChange struct {
	Lines []CaseMove
	// Book are the times of which the case takes one, in place of the one it holds.
	Book *Wishes
}

// Bounds of what an attendant writes, in characters.
const (
	maxActor = 100
	maxNote  = 2000
)

// updateCaseBy changes a case in the name of an operator, unless something in the request is wrong.
func (c *Cases) updateCaseBy(
	ctx context.Context, id CaseID, actor string, wrong error, change func(*Case) (CaseChange, error),
) (Case, error) {
	if !partner.IsPrintable(actor, maxActor) {
		wrong = ErrCaseInvalid.With("actor", fault.PrintableLength, maxActor)
	}
	if wrong != nil {
		return Case{}, wrong
	}
	return c.store.UpdateCase(ctx, CaseKey{ID: id}, change)
}

// MoveCase takes a case to another status, if the table of moves has it.
func (c *Cases) MoveCase(ctx context.Context, id CaseID, to CaseStatus, actor, note string) (Case, error) {
	actor, note = strings.TrimSpace(actor), strings.TrimSpace(note)
	wrong := fault.When(!partner.Paragraphs(note, 0, maxNote), ErrCaseInvalid.With("note", fault.TextAtMost, maxNote))
	return c.updateCaseBy(ctx, id, actor, wrong, func(cs *Case) (CaseChange, error) {
		move, err := cs.moveToStatus(to, actor, note, c.now())
		return CaseChange{Lines: []CaseMove{move}}, err
	})
}

// moveToStatus takes the case to another status and returns the line that tells of it.
func (c *Case) moveToStatus(to CaseStatus, actor, note string, now time.Time) (CaseMove, error) {
	if !c.Status.CanMoveTo(to) {
		return CaseMove{}, ErrCaseMove.With("status", fault.NoSuchMove)
	}
	m := CaseMove{From: c.Status, To: to, Actor: actor, Note: note, At: now}
	c.Clock.advanceTo(now, to.runsClock())
	c.Status, c.ChangedAt, c.Ending = to, now, Ending{}
	return m, nil
}

// AssignCase assigns a case to an operator; an empty name unassigns it.
func (c *Cases) AssignCase(ctx context.Context, id CaseID, to string) (Case, error) {
	to = strings.TrimSpace(to)
	if to != "" && !partner.IsPrintable(to, maxActor) {
		return Case{}, ErrCaseInvalid.With("assignee", fault.PrintableAtMost, maxActor)
	}
	return c.store.UpdateCase(ctx, CaseKey{ID: id}, func(cs *Case) (CaseChange, error) {
		cs.Assignee, cs.ChangedAt = to, c.now()
		return CaseChange{}, nil
	})
}

// TakeCase assigns a case to an operator; one that is open is in progress from then on.
func (c *Cases) TakeCase(ctx context.Context, id CaseID, actor string) (Case, error) {
	return c.updateCaseBy(ctx, id, actor, nil, func(cs *Case) (change CaseChange, err error) {
		cs.Assignee, cs.ChangedAt = actor, c.now()
		if cs.Status == CaseOpen {
			change.Lines = make([]CaseMove, 1)
			change.Lines[0], err = cs.moveToStatus(CaseInProgress, actor, "", c.now())
		}
		return change, err
	})
}

// writingTime is how long an operator counts as writing after the last sign of it.
const writingTime = 30 * time.Second

// NoteWriting notes that an operator is writing an answer.
func (c *Cases) NoteWriting(ctx context.Context, id CaseID, actor string) error {
	return c.store.SetWriter(ctx, CaseKey{ID: id}, actor, c.now())
}

// OtherWriter is another operator who is writing an answer to the case at this moment; empty when there is none.
func (c Case) OtherWriter(me string, now time.Time) string {
	if c.Writer == me || now.Sub(c.WritingAt) > writingTime {
		return ""
	}
	return c.Writer
}
