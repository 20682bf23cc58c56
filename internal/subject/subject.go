// Package subject holds what the law gives a person: to be told everything that is held about them, to have it erased,
// and to know who looked at it; and what it asks of the operator after an incident.
//
// It knows neither SQL nor which screen or command asks. The invariant it keeps: a person is named by a CPF, or by a
// user hash together with its partner; what outlives an erasure identifies no person without the service's keys; and
// every answer is recorded in the audit trail before it is given.
package subject

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Faults of this package.
var (
	ErrInvalid  = fault.New(fault.Invalid, "subject.invalid")
	ErrLogLine  = fault.New(fault.Invalid, "subject.log")
	ErrForeign  = fault.New(fault.Conflict, "subject.foreign_log")
	ErrNobody   = fault.New(fault.NotFound, "subject.nobody")
	ErrNoReason = fault.New(fault.Invalid, "subject.reason")
)

// Partners tells whose people there are.
type Partners interface {
	ListPartners(ctx context.Context) ([]partner.Partner, error)
	PartnerByID(ctx context.Context, id partner.ID) (partner.Partner, error)
}

// Store keeps what the rules of this package ask for.
type Store interface {
	// PersonReference is the audit trail's name for a person: the same for all partners when a CPF is known, and
	// telling nothing.
	PersonReference(p Person) string
	// Held reads everything about a person for one partner.
	Held(ctx context.Context, who partner.Partner, p Person) (Held, error)
	// ReadHeldRows is Held without counting kept answers, and with the newest events only: for a page.
	ReadHeldRows(ctx context.Context, who partner.Partner, p Person) (Held, error)
	// FindUserByReference is the user hash of a person by reference; ErrNobody when there is none.
	FindUserByReference(ctx context.Context, id partner.ID, ref string) (partner.UserHash, error)
	// EraseRows deletes all rows about a person that are in held or belong to the same person, and keeps a tombstone
	// and the lines that record adds to the trail. A person with few rows is erased in one transaction. An erasure of
	// many rows is finished once it has begun: from the start Held returns nothing of the person, and what a killed
	// process leaves is for the next call or ResumeErasures. The tombstone and the line are written at the end.
	EraseRows(ctx context.Context, held Held, p Person, reason string,
		record func(operator.Ledger, Erased, Tombstone) error) (Erased, Tombstone, error)
	// ResumeErasures ends erasures that were left half way some time ago, and returns their tombstones. record is also
	// told the trail's name for the person.
	ResumeErasures(
		ctx context.Context,
		record func(in operator.Ledger, person string, erased Erased, stone Tombstone) error,
	) ([]Tombstone, error)
	// ClaimDueErasures claims up to limit requests that are due or were left half way, of sandboxes alone or of all
	// partners that are not suspended. No other process claims them for some minutes.
	ClaimDueErasures(ctx context.Context, sandboxes bool, limit int) ([]DueErasure, error)
	// BeginErasureRequest begins the erasure of a pending request: from then on Held returns nothing of the person.
	// It returns ErrRequestNotFound when the request is not pending any more.
	BeginErasureRequest(ctx context.Context, held Held, p Person, r ErasureRequest) error
	// CarryOutErasure deletes what is left of an erasure that a request began, or that was made meanwhile for the same
	// person, and returns its tombstone. record is called in the last transaction, by one process alone.
	CarryOutErasure(
		ctx context.Context,
		id partner.ID,
		request string,
		record func(in operator.Ledger, person string, erased Erased, stone Tombstone) error,
	) (Tombstone, error)
	// CompleteErasureRequest ends a request whose erasure is over, with its event, and reports whether this call did.
	CompleteErasureRequest(ctx context.Context, id partner.ID, request string) (bool, error)
	// RedactAnswers takes the person out of the partner's kept answers, and returns how many it rewrote.
	RedactAnswers(ctx context.Context, held Held, p Person) (int64, error)
	// ScrubErased takes what was deleted out of the database's files.
	ScrubErased(ctx context.Context) error
	// Tombstones returns all, oldest first.
	Tombstones(ctx context.Context) ([]Tombstone, error)
	// ReplayErasure erases again what a tombstone stands for and keeps the tombstone; ErrForeign when this service did
	// not write it.
	ReplayErasure(ctx context.Context, t Tombstone) (Erased, error)
	// AccessesOf returns the lines of the audit trail about a person, newest first.
	AccessesOf(ctx context.Context, held []Held, p Person) ([]Access, error)
	// Affected calls found for each person with findings of an incident, in the order of partners.
	Affected(ctx context.Context, of Incident, found func(Affected) error) error
	// Showings counts the lines of the audit trail in a window that show or change personal data, by who and what.
	Showings(ctx context.Context, from, to time.Time) ([]Showing, error)
}
