// Package intake reduces dumps to published breaches.
//
// A dump of any format becomes a segment: the sorted set of keyed fingerprints of the identifiers in it, and a second
// one of identifiers together with the passwords beside them. Importer does it, in one process with all its cores. An
// import that ended at any moment goes on, and gives the same segment as one that was never interrupted.
//
// Nothing else of a dump may be kept here, on no disk and in no log, and nothing may open a dump in this process: that
// is what the reader is for.
package intake

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Kinds of jobs.
const (
	KindImport = "breach.import"
	// KindRenew is an import into a published breach.
	KindRenew = "breach.renew"
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
	// transaction. Renewing with what is there changes nothing; leak.ErrRenewed when it was not made from what is
	// there.
	RenewBreach(ctx context.Context, name string, n leak.Renewal) error
}

// Importer turns dumps into published breaches.
type Importer struct {
	// Store and Files receive what was imported.
	Store Store
	Files *library.Files
	// Dir is where unfinished imports wait; it is on the same disk as the files's folder if that can be helped.
	Dir string
	// Fingerprint computes the keyed fingerprint of a normal form; many goroutines call it.
	Fingerprint func(kind byte, normal []byte) uint64
	// Pair computes the keyed fingerprint of an identifier's fingerprint and a password: see seal.Keys.Pair.
	Pair func(fingerprint, password uint64) uint64
	// Tables seals the labels of fingerprints, and opens them when parts are merged.
	Tables Tables
	Now    func() time.Time
	// Limits bound what archives may unfold into.
	Limits container.Limits
	// Budget bounds the processor time of each input.
	Budget reader.Budget
	// ReaderUnconfined has dumps read where the system cannot confine their reader.
	ReaderUnconfined bool
	// Workers scan at the same time; 0 means one per core.
	Workers int
	// Memory bounds the sorting, in bytes; 0 means 48 MiB.
	Memory int
	// PartBytes is how much is scanned between two moments from which an interrupted import can go on; 0 means 1 to 8
	// GiB, by how long that takes.
	PartBytes int64
	// SpanBytes is how much of a large text one worker searches in one go; 0 means defaultSpan.
	SpanBytes int64
}

// Tables seals what segments say of their keys; seal.Keys does.
type Tables interface {
	SealTable(context, table []byte) ([]byte, error)
	OpenTable(context, sealed []byte) ([]byte, error)
}

const (
	// Sorting in larger pieces is not faster, and the last one is waited for.
	defaultSortMemory = 48 << 20
	// Keys of a part are encoded twice, there and in the final segment: what took less than partTime is rather scanned
	// again. largestPart bounds what is spilled at once.
	smallestPart = 1 << 30
	partTime     = 30 * time.Second
	largestPart  = 8 << 30
)

// Spec is what to import.
type Spec struct {
	Breach cyber.Breach
	Inputs []Input
	// Mapping says how the inputs' records are to be read, each of them by it. Without one, inputs that say that they
	// are vigia-records are read as such, and all others are searched.
	Mapping *stated.Mapping
	// Passwords are tried on what is encrypted, before the usual ones and the names of files beside it.
	Passwords []string
	// Force publishes what would be doubtful: a breach in which nothing was found, or most of which was not read.
	Force bool
	// NoPairs keeps nothing of passwords that stand beside identifiers.
	NoPairs bool
	// Progress, if set, is called about four times a second from one goroutine, and once at the end.
	Progress func(Progress)
}

// withMapping has the mapping in the marks of the inputs: with another one they are another import's.
func (s Spec) withMapping() Spec {
	if s.Mapping == nil {
		return s
	}
	s.Inputs = slices.Clone(s.Inputs)
	for i := range s.Inputs {
		s.Inputs[i].Mark += " by " + s.Mapping.Mark()
	}
	return s
}

// ImportBreach scans the inputs, publishes their identifiers as a breach and hands over to the match. When it was
// interrupted, the same call goes on where it stopped: nothing is told twice and the segment is the same. Cancelling
// ctx stops it cleanly.
func (im *Importer) ImportBreach(ctx context.Context, spec Spec) (Outcome, error) {
	spec = spec.withMapping()
	b := spec.Breach
	b.AddedAt = im.Now()
	if err := leak.CheckNewBreach(&b, im.Now()); err != nil {
		return Outcome{}, err
	}
	if len(spec.Inputs) == 0 {
		return Outcome{}, ErrInput.With("inputs", fault.NoFile)
	}
	fresh, err := im.register(ctx, b)
	if err != nil {
		if errors.Is(err, leak.ErrBreachExists) {
			return im.finishKilled(ctx, b.Name, spec.Inputs, err)
		}
		return Outcome{}, err
	}
	w, err := im.openOrRestart(im.workFolder(b.Name), spec, fresh)
	if err != nil {
		return Outcome{}, err
	}
	run := newImportRun(im, w, spec)
	err = run.buildSegment(ctx)
	if doubt := w.last.Tally.DoubtReason(); err == nil && doubt != nil && !spec.Force {
		return im.refuseImport(ctx, w, b, run.skips, doubt)
	}
	if err == nil {
		err = im.publishBreach(ctx, w, b.Name)
	}
	if err := w.leaveFolder(err); err != nil {
		return Outcome{}, err
	}
	r, err := im.Store.BreachByName(ctx, b.Name)
	return Outcome{Record: r, Skips: run.skips}, err
}

// refuseImport gives the name back and keeps what was scanned, so that the same import with Force need not scan again.
// The outcome says what was counted.
func (im *Importer) refuseImport(
	ctx context.Context, w *work, b cyber.Breach, skips []container.Skip, doubt *fault.Rule,
) (Outcome, error) {
	err := errors.Join(
		ErrDoubtful.With("inputs", fault.DoubtfulImport, doubt.Said()),
		im.Store.DropImport(ctx, b.Name),
		w.releaseFolder(),
	)
	return Outcome{Record: leak.Record{Breach: b, State: leak.Importing, Tally: w.last.Tally}, Skips: skips}, err
}

// register keeps the breach's row, or finds that of an import to be taken up again, which is not fresh.
func (im *Importer) register(ctx context.Context, b cyber.Breach) (fresh bool, err error) {
	err = im.Store.InsertBreach(ctx, leak.Record{Breach: b, State: leak.Importing})
	if !errors.Is(err, leak.ErrBreachExists) {
		return true, err
	}
	r, err := im.Store.BreachByName(ctx, b.Name)
	if err == nil {
		err = r.CheckCanContinue()
	}
	return false, err
}

// workFolder returns where an import keeps its work.
func (im *Importer) workFolder(name string) string { return filepath.Join(im.Dir, name) }

// DiscardWork removes what an import that will not go on has left on this machine.
func (im *Importer) DiscardWork(name string) error {
	if !leak.ValidName(name) {
		return leak.ErrBreachInvalid.With("name", fault.NotABreachName)
	}
	return errors.Join(discardFolder(im.workFolder(name)), discardFolder(im.workFolder(name+renewing)))
}

// discardFolder removes a folder unless another import holds its lock.
func discardFolder(dir string) error {
	lock, err := lockFolder(dir)
	if err != nil {
		return err
	}
	return (&work{dir: dir, lock: lock}).removeFolder()
}

// workerCount returns how many goroutines search.
func (im *Importer) workerCount() int { return cmp.Or(im.Workers, runtime.GOMAXPROCS(0)) }

// sortMemory returns how many bytes the sort may use.
func (im *Importer) sortMemory() int { return cmp.Or(im.Memory, defaultSortMemory) }

// worthKeeping reports whether what was scanned since a moment is to be made a part.
func (im *Importer) worthKeeping(scanned int64, since time.Time) bool {
	if im.PartBytes > 0 {
		return scanned >= im.PartBytes
	}
	return scanned >= largestPart || scanned >= smallestPart && im.Now().Sub(since) >= partTime
}

// defaultSpan is how much of a large text is scanned before a part may be kept.
const defaultSpan = 128 << 20

// checkpointSpan returns how much is read between checkpoints.
func (im *Importer) checkpointSpan() int64 { return cmp.Or(im.SpanBytes, defaultSpan) }

// pieceSize returns how much of a large text is searched at a time. The same text must be cut into the same pieces by
// every run.
func (im *Importer) pieceSize() int64 { return min(scan.PieceSize, im.checkpointSpan()) }
