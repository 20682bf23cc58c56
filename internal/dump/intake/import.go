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
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
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

// Progress is how far an import has come.
type Progress struct {
	// Read and Total are bytes of the inputs; Total is 0 when it is not known.
	Read, Total int64
	// Scanned is bytes after unpacking, Resumed those that an earlier run had already done.
	Scanned, Resumed int64
	// Before is which of the bytes read an earlier run had read.
	Before int64
	// Found counts sightings by kind, each as often as it was met; Distinct, once it is all over, those that differ.
	Found    map[string]int64
	Distinct int64
	// Merging says that reading is over and the segment is being put together.
	Merging bool
	Elapsed time.Duration
	Input   string
}

// CurrentPace returns how fast it goes.
func (p Progress) CurrentPace() job.Pace {
	return job.EstimatePace(p.Read, p.Before, p.Total, p.Elapsed)
}

// Ended returns the last word on an import: the figures of its breach, so that no page tells two numbers of one thing.
func (p Progress) Ended(t leak.Tally) Progress {
	p.Read, p.Scanned, p.Found, p.Distinct, p.Merging = t.Bytes, t.Scanned, t.Found, t.Distinct, false
	if p.Total > 0 {
		p.Total = p.Read
	}
	return p
}

// Outcome is what an import did.
type Outcome struct {
	leak.Record
	// Unchanged says that a renewal brought nothing that the breach did not have.
	Unchanged bool
	// Skips are inputs, or members of archives, that could not be read to their end; the first hundred of them.
	Skips []container.Skip
}

// Quarantined returns how many of the inputs ended two readers, or took too much processor time.
func (o Outcome) Quarantined() (n int64) {
	for _, s := range o.Skips {
		if strings.HasPrefix(s.Reason, quarantined) {
			n++
		}
	}
	return n
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
	ctx context.Context,
	w *work,
	b cyber.Breach,
	skips []container.Skip,
	doubt *fault.Rule,
) (Outcome, error) {
	err := errors.Join(
		ErrDoubtful.With("inputs", fault.DoubtfulImport, doubt.Said()),
		im.Store.DropImport(ctx, b.Name),
		w.releaseFolder(),
	)
	return Outcome{Record: leak.Record{Breach: b, State: leak.Importing, Tally: w.last.Tally}, Skips: skips}, err
}

// finishKilled ends an import that was killed between publishing and cleaning up. To any other the name is simply
// taken.
func (im *Importer) finishKilled(ctx context.Context, name string, inputs []Input, taken error) (Outcome, error) {
	if _, err := os.Stat(filepath.Join(im.workFolder(name), planFile)); err != nil {
		return Outcome{}, taken
	}
	w, err := openWork(im.workFolder(name), inputs, im.Tables, false)
	if err != nil {
		return Outcome{}, errors.Join(taken, err)
	}
	if err := w.removeFolder(); err != nil {
		return Outcome{}, err
	}
	r, err := im.Store.BreachByName(ctx, name)
	return Outcome{Record: r}, err
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

// publishBreach puts the segment in the files under a name that holds its digest, then tells the store in one
// transaction. Either can be repeated.
func (im *Importer) publishBreach(ctx context.Context, w *work, name string) error {
	p, err := w.publication(name, name+".pairs", ".seg")
	if err != nil {
		return err
	}
	return im.publishFiles(ctx, w, p, func() error { return im.Store.PublishBreach(ctx, name, p) })
}

// publication returns the names under which the finished files are published: how that of the identifiers and that of
// the pairs begin, the beginning of their digests, and how both end.
func (w *work) publication(keys, pairs, end string) (p leak.Publication, err error) {
	var count uint64
	if p.Digest, count, err = readSummary(w.final); err != nil {
		return p, err
	}
	p.File, p.Tally = keys+"-"+p.Digest[:16]+end, w.last.Tally
	p.Tally.Distinct, p.Tally.Pairs = int64(count), 0 // pairs may have been found, and are not wanted any more
	if w.finalPairs == "" {
		return p, nil
	}
	if p.PairsDigest, count, err = readSummary(w.finalPairs); err != nil {
		return p, err
	}
	p.Pairs, p.Tally.Pairs = pairs+"-"+p.PairsDigest[:16]+end, int64(count)
	return p, nil
}

// putFiles brings the finished files to their place: first the pairs, as a breach is known by its identifiers.
func (w *work) putFiles(
	ctx context.Context,
	p leak.Publication,
	put func(ctx context.Context, name, from string) error,
) error {
	if p.Pairs != "" {
		if err := put(ctx, p.Pairs, w.finalPairs); err != nil {
			return err
		}
	}
	return put(ctx, p.File, w.final)
}

// publishFiles brings the finished files to their place and has the store take them up. They are removed again if the
// breach was retracted meanwhile.
func (im *Importer) publishFiles(ctx context.Context, w *work, p leak.Publication, takeUp func() error) error {
	if err := w.putFiles(ctx, p, im.Files.PublishFile); err != nil {
		return err
	}
	err := takeUp()
	if errors.Is(err, leak.ErrRetracted) {
		return errors.Join(err, im.removeFiles(ctx, p))
	}
	return err
}

// removeFiles takes the files of a publication away everywhere.
func (im *Importer) removeFiles(ctx context.Context, p leak.Publication) error {
	for _, name := range []string{p.File, p.Pairs} {
		if name == "" {
			continue
		}
		if err := im.Files.RemoveFile(ctx, name); err != nil {
			return err
		}
	}
	return nil
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

// passwords are tried on an input: those that were given, and names that stand beside it, as archives are often passed
// on under the name of their password.
func (run *importRun) passwords(in Input) []string {
	if in.path == "" {
		return run.spec.Passwords
	}
	if run.beside == nil {
		run.beside = map[string][]string{}
		for _, other := range run.spec.Inputs {
			if dir := filepath.Dir(other.path); other.path != "" && len(run.beside[dir]) < namesBeside {
				run.beside[dir] = append(run.beside[dir], fileStem(other.path))
			}
		}
	}
	dir := filepath.Dir(in.path)
	return append(
		append(append([]string{}, run.spec.Passwords...), fileStem(in.path), filepath.Base(dir)),
		run.beside[dir]...,
	)
}

// namesBeside is how many names of a folder are tried as passwords.
const namesBeside = 20

// fileStem returns a file's name without what tells its kind.
func fileStem(path string) string {
	name := filepath.Base(path)
	if dot := strings.IndexByte(name, '.'); dot > 0 {
		return name[:dot]
	}
	return name
}

// countVerdict counts an input that has been walked.
func (run *importRun) countVerdict(report *container.Report) {
	counts := [...]*int64{
		container.Read:   &run.verdicts.Read,
		container.Partly: &run.verdicts.Partly,
		container.Unread: &run.verdicts.Unread,
	}
	*counts[report.Verdict()]++
	for _, s := range report.Skips {
		run.countProblem(s)
	}
	run.verdicts.Problems += report.Skipped - int64(len(report.Skips))
	run.verdicts.CountReason("other reasons", report.Skipped-int64(len(report.Skips)))
}

// Bounds of what an outcome says of skipped members; the others are counted.
const (
	skipsKept     = 100
	reasonLongest = 100
)

// countProblem notes something that was not read. Only the reason is kept: names belong to the dump. Both come from the
// reader, which may have been taken over.
func (run *importRun) countProblem(s container.Skip) {
	own := ""
	if run.input < len(run.spec.Inputs) {
		own = run.spec.Inputs[run.input].Name
	}
	if member, ok := strings.CutPrefix(s.Name, own); ok { // how the operator calls the input stays as it is
		s.Name = own + reader.CleanText(member)
	} else {
		s.Name = reader.CleanText(s.Name)
	}
	s.Reason = reader.CleanText(s.Reason)
	if len(run.skips) < skipsKept {
		run.skips = append(run.skips, s)
	}
	run.verdicts.Problems++
	run.verdicts.CountReason(s.Reason[:min(len(s.Reason), reasonLongest)], 1)
}

// Way is how further inputs change a published breach.
type Way int

// The ways. Appending adds what is new in the inputs, replacing takes their content for the breach's.
const (
	Append Way = iota + 1
	Replace
)

// ParseWay reads the word of a way.
func ParseWay(word string) (Way, error) {
	switch word {
	case "append":
		return Append, nil
	case "replace":
		return Replace, nil
	}
	return 0, ErrInput.With("way", fault.OneOf, "append, replace")
}

// renewing marks the folder of a renewal: no breach has such a name.
const renewing = "+renew"

// RenewBreach scans the inputs as ImportBreach does, and can be interrupted as that, then changes what a published
// breach holds. Until the new files are whole and in their place the breach is what it was. The match that follows has
// findings follow: see leak.RejudgeFindings. Of the spec's breach only the name counts.
func (im *Importer) RenewBreach(ctx context.Context, way Way, spec Spec) (Outcome, error) {
	spec = spec.withMapping()
	r, err := im.renewable(ctx, spec)
	if err != nil {
		return Outcome{}, err
	}
	// A breach with passwords that was imported without pairs stays without: the operator did not want them.
	spec.NoPairs = spec.NoPairs || r.Pairs == "" && r.Tally.Classes[string(cyber.ExposedPassword)] > 0
	w, err := im.openOrRestart(im.workFolder(r.Name+renewing), spec, true)
	if err != nil {
		return Outcome{}, err
	}
	run := newImportRun(im, w, spec)
	err = run.buildSegment(ctx)
	out := Outcome{Record: r, Skips: run.skips}
	if doubt := w.last.Tally.DoubtReason(); err == nil && doubt != nil && !spec.Force {
		out.Tally = w.last.Tally
		return out, errors.Join(ErrDoubtful.With("inputs", fault.DoubtfulRenewal, doubt.Said()), w.releaseFolder())
	}
	if err == nil {
		err = im.renewContent(ctx, w, r, way)
	}
	if err := w.leaveFolder(err); err != nil {
		return out, err
	}
	out.Record, err = im.Store.BreachByName(ctx, r.Name)
	out.Unchanged = out.Content == r.Content
	return out, err
}

// Renewable refuses what RenewBreach would refuse at once.
func (im *Importer) Renewable(ctx context.Context, spec Spec) error {
	_, err := im.renewable(ctx, spec)
	return err
}

// renewable returns a breach that has content to change.
func (im *Importer) renewable(ctx context.Context, spec Spec) (leak.Record, error) {
	r, err := im.Store.BreachByName(ctx, spec.Breach.Name)
	switch {
	case err != nil:
		return r, err
	case r.State == leak.Retracted:
		return r, leak.ErrRetracted.With("name", fault.RetractedImportOther)
	case r.State == leak.Importing:
		return r, leak.ErrBreachNotFound.With("name", fault.ImportNotPublished)
	case r.Segment == "":
		return r, leak.ErrBreachNotFound.With("name", fault.NoContent)
	case len(spec.Inputs) == 0:
		return r, ErrInput.With("inputs", fault.NoFile)
	}
	return r, nil
}

// openOrRestart takes the folder of an import or a renewal. Where mayRestart says so, what one with other inputs left
// there is given up: it changed nothing, and was never published.
func (im *Importer) openOrRestart(dir string, spec Spec, mayRestart bool) (*work, error) {
	w, err := openWork(dir, spec.Inputs, im.Tables, spec.NoPairs)
	if !mayRestart || !errors.Is(err, ErrInput) {
		return w, err
	}
	if err := discardFolder(dir); err != nil {
		return nil, err
	}
	return openWork(dir, spec.Inputs, im.Tables, spec.NoPairs)
}

// renewContent makes the new content out of what was scanned and publishes it.
func (im *Importer) renewContent(ctx context.Context, w *work, r leak.Record, way Way) error {
	exposes := []cyber.Exposed{leak.Auto}
	if way == Append {
		exposes = append(slices.Clone(r.Exposes), leak.Auto)
		if err := im.appendTo(ctx, w, r); err != nil {
			return err
		}
		sum := leak.Tally{} // nothing of it is measured yet
		sum.AddTally(r.Tally)
		sum.AddTally(w.last.Tally)
		w.last.Tally = sum
	}
	// The number of the renewal is in the names, so that they are never used again: a job that removes former files
	// cannot remove a new one.
	p, err := w.publication(r.Name, r.Name+".pairs", fmt.Sprintf(".%d.seg", r.Renewals+1))
	if err != nil || p.Digest+p.PairsDigest == r.Content {
		return err
	}
	return im.publishFiles(ctx, w, p, func() error {
		return im.Store.RenewBreach(ctx, r.Name, leak.Renewal{Publication: p, Base: r.Content, Exposes: exposes})
	})
}

// appendTo unites what was scanned with what is published. What an earlier try left is made again: the breach may be
// another one since.
func (im *Importer) appendTo(ctx context.Context, w *work, r leak.Record) error {
	out, err := w.beginPart(im.sortMemory())
	if err != nil {
		return err
	}
	defer out.abortAll()
	published, err := im.Files.Open(ctx, r.Segment, r.Digest)
	if err = w.mergeKeys(out, published, err); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	scanned, err := segment.Open(w.final)
	if err = w.mergeKeys(out, scanned, err); err == nil {
		err = im.appendPairs(ctx, w, r, out)
	}
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	w.final, err = w.commitKeys(ctx, out, unitedFile)
	return err
}

// appendPairs does the same with pairs, of which either may have none.
func (im *Importer) appendPairs(ctx context.Context, w *work, r leak.Record, out *sorter) error {
	if r.Pairs != "" {
		published, err := im.Files.Open(ctx, r.Pairs, r.PairsDigest)
		if err := w.mergePairs(out, published, err); err != nil {
			return err
		}
	}
	if w.finalPairs != "" {
		scanned, err := segment.Open(w.finalPairs)
		if err := w.mergePairs(out, scanned, err); err != nil {
			return err
		}
	}
	count, err := w.commitPairs(ctx, out, unitedPairsFile)
	if w.finalPairs = ""; count > 0 {
		w.finalPairs = w.pathOfFile(unitedPairsFile)
	}
	return err
}
