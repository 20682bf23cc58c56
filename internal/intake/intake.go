// Package intake reduces dumps to published breaches.
//
// A dump of any format becomes a segment: the sorted set of keyed fingerprints of the identifiers in it, and a second one
// of identifiers together with the passwords beside them. Nothing else of a dump is kept, on no disk and in no log. One process does it, or the workers of all replicas together, each a
// part. The invariant it keeps: an import that ended at any moment goes on, and gives the same segment as one that was
// never interrupted.
package intake

import (
	"context"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/leak"
)

// Kinds of jobs.
const (
	KindImport = "breach.import"
	// KindRenew is an import into a published breach.
	KindRenew = "breach.renew"
	// KindSpread watches over a spread import; its parts are KindPart.
	KindSpread = "breach.spread"
	KindPart   = "breach.part"
)

// Faults of this package.
var (
	ErrBusy  = fault.New(fault.Conflict, "breach.busy")
	ErrInput = fault.New(fault.Invalid, "breach.input")
	// ErrDoubtful is an import that would tell people that they are safe, though nothing was found or little was read.
	ErrDoubtful = fault.New(fault.Unprocessable, "breach.doubtful")
)

// Store keeps what is imported.
type Store interface {
	BreachByName(ctx context.Context, name string) (leak.Record, error)
	// InsertBreach keeps a new breach; leak.ErrBreachExists when the name is taken.
	InsertBreach(ctx context.Context, r leak.Record) error
	// DropImport gives up a breach that is being imported, as if it had never been begun. Any other stays.
	DropImport(ctx context.Context, name string) error
	// PublishBreach makes a breach that is being imported visible and hands over to the match, in one transaction.
	// Publishing the same file again changes nothing.
	PublishBreach(ctx context.Context, name string, p leak.Publication) error

	// RenewBreach puts other content in the place of a published breach's and hands over to the match, in one
	// transaction. Renewing with what is there changes nothing; leak.ErrRenewed when it was not made from what is there.
	RenewBreach(ctx context.Context, name string, n leak.Renewal) error

	SpreadStore
}
