package cyber

import (
	"context"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// CaseMove is one line of a case's history.
type CaseMove struct {
	Number int64
	Kind   MoveKind
	// From is empty for the opening, and the same as To for a line that moves nothing.
	From, To CaseStatus
	// Actor is the operator whose line it is; empty for the person's own.
	Actor string
	Note  string
	At    time.Time
}

// MoveKind is what a line of a case's history tells.
type MoveKind string

// The kinds. Notes are the operator's own: neither partner nor person sees them, nor what was noted with a move.
const (
	MoveStatus     MoveKind = ""
	MoveNote       MoveKind = "note"
	MoveReply      MoveKind = "reply"
	MoveMessage    MoveKind = "message"
	MoveAttachment MoveKind = "attachment"
	MoveBooking    MoveKind = "booking"
	MoveRating     MoveKind = "rating"
)

// IsKnown reports whether it is one of the kinds: see sqldb.Enumerated.
func (k MoveKind) IsKnown() bool {
	switch k {
	case MoveStatus, MoveNote, MoveReply, MoveMessage, MoveAttachment, MoveBooking, MoveRating:
		return true
	}
	return false
}

// historyLine is one that leaves the case where it is.
func (c *Case) historyLine(kind MoveKind, actor, note string, now time.Time) CaseMove {
	c.ChangedAt = now
	if kind == MoveReply || kind == MoveMessage {
		c.Spoke, c.SpokeAt, c.WritingAt = actor, now, time.Time{}
	}
	if actor == "" { // a case does not end over what the person has just said
		c.Ending = Ending{}
	}
	return CaseMove{Kind: kind, From: c.Status, To: c.Status, Actor: actor, Note: note, At: now}
}

// checkParagraphs refuses a text that is empty, too long or not printable.
func checkParagraphs(field, text string, longest int) error {
	if !partner.Paragraphs(text, 1, longest) {
		return ErrCaseInvalid.With(field, fault.TextLength, longest)
	}
	return nil
}

// AddInternalNote adds an internal note to a case's history. It does not change the status, and no event is sent.
func (c *Cases) AddInternalNote(ctx context.Context, id CaseID, actor, note string) (Case, error) {
	return c.addHistoryLine(ctx, id, MoveNote, actor, "note", note)
}

// AddReply tells the person something: the partner reads it with the case, and hears of it.
func (c *Cases) AddReply(ctx context.Context, id CaseID, actor, text string) (Case, error) {
	return c.addHistoryLine(ctx, id, MoveReply, actor, "text", text)
}

// addHistoryLine adds a text of an operator to a case's history.
func (c *Cases) addHistoryLine(ctx context.Context, id CaseID, kind MoveKind, actor, field, text string) (Case, error) {
	actor, text = strings.TrimSpace(actor), strings.TrimSpace(text)
	return c.updateCaseBy(ctx, id, actor, checkParagraphs(field, text, maxNote), func(cs *Case) (CaseChange, error) {
		return CaseChange{Lines: []CaseMove{cs.historyLine(kind, actor, text, c.now())}}, nil
	})
}

// ShownToPerson leaves out what operators wrote for themselves, alone or with a move.
func ShownToPerson(moves []CaseMove) []CaseMove {
	open := moves[:0]
	for _, m := range moves {
		if m.Kind == MoveNote {
			continue
		}
		if m.Kind == MoveStatus && m.Actor != "" {
			m.Note = ""
		}
		open = append(open, m)
	}
	return open
}
