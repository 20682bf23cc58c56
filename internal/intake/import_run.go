package intake

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/container"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/scan"
	"github.com/vigiahq/vigia/internal/scan/record"
	"github.com/vigiahq/vigia/internal/segment"
)

// importRun is one run of an import: it walks the inputs, has them scanned by several workers, and feeds one sorter.
//
// A stream of text is scanned in spans of fixed length, and a part of the segment is kept at the end of a span or
// stream. Where spans begin depends on the stream alone, so an import that was interrupted finds exactly what an
// uninterrupted one finds.
type importRun struct {
	im   *Importer
	w    *work
	spec Spec

	// from is where this run begins and base what was counted before; at is where the walk stands.
	from, at cursor
	// rows is what the text before at says of the rows after it, where at is inside of a text.
	rows record.State
	base leak.Tally
	// firstPart says that no part has been kept, by this run or an earlier one; sincePart is bytes scanned since the
	// last one, and keptAt when that was.
	firstPart bool
	sincePart int64
	keptAt    time.Time
	streams   int64
	// verdicts counts the inputs of this run by how much of them was read.
	verdicts leak.Tally
	skips    []container.Skip
	// misread are lines of the input at hand that are no records, the first of them, and misreads how many.
	misread  []container.Skip
	misreads int64
	beside   map[string][]string // names in folders of inputs

	// stop is done when somebody asks the import to end: it does so at the next place from which it can go on.
	stop    context.Context //nolint:containedctx // of this run, and no longer than it
	workers []*worker
	small   chan smallStream // streams that fit a buffer, for any worker
	pending sync.WaitGroup   // small streams not yet scanned
	buffers chan []byte

	full       chan any // []segment.Entry or pairKeys to sort, or a commit
	empty      chan []segment.Entry
	emptyPairs chan pairKeys

	// What the progress shows.
	started       time.Time
	read, scanned atomic.Int64
	input         atomic.Pointer[string]
	merging       atomic.Bool
}

type worker struct {
	*collector
	// found takes what is found: the collector's, unless the run only counts.
	found    record.Found
	recorder *scan.Recorder
}

type smallStream struct {
	name      string
	text, buf []byte
}

// commit asks the sorter to keep a part, or, when it is whole, the final segment.
type commit struct {
	note  note
	whole bool
}

// smallLimit is the size up to which a stream is handed to one worker as a whole: archives hold millions of them.
const smallLimit = 256 << 10

func newImportRun(im *Importer, w *work, spec Spec) *importRun {
	n := im.workers()
	run := &importRun{
		im: im, w: w, spec: spec, from: w.last.Upto, rows: w.last.Rows, base: w.last.Tally, firstPart: len(w.parts) == 0,
		small: make(chan smallStream, n), buffers: make(chan []byte, 2*n),
		full: make(chan any, n), empty: make(chan []segment.Entry, 3*n), emptyPairs: make(chan pairKeys, 3*n), started: im.Now(), keptAt: im.Now(),
	}
	for range cap(run.buffers) {
		run.buffers <- make([]byte, smallLimit)
	}
	for range cap(run.empty) {
		run.empty <- make([]segment.Entry, 0, keyBatch)
	}
	for range n {
		c := newCollector(im.Fingerprint, w.labels, func(full []segment.Entry) []segment.Entry { run.full <- full; return <-run.empty }, run.newPairs())
		run.workers = append(run.workers, &worker{c, c.found, scan.NewRecorder(c.found)})
	}
	return run
}

// newPairs makes what collects the pairs of one worker. Their batches are made when the first ones come.
func (run *importRun) newPairs() pairCollector {
	if run.w.noPairs {
		return pairCollector{}
	}
	return pairCollector{pair: run.im.Pair, flush: func(full pairKeys) pairKeys {
		if cap(full) == 0 {
			return make(pairKeys, 0, keyBatch)
		}
		run.full <- full
		select {
		case empty := <-run.emptyPairs:
			return empty
		default: // as many as there are batches on the way
			return make(pairKeys, 0, keyBatch)
		}
	}}
}

// build scans what is not yet scanned, from where the last run stopped, and puts the final segment together.
func (run *importRun) build(ctx context.Context) error {
	stop := run.watch()
	defer stop()
	if !run.from.Done {
		if err := run.scan(ctx, run.sort); err != nil {
			return err
		}
	}
	if run.w.final != "" {
		return nil
	}
	run.merging.Store(true)
	return run.w.merge(ctx, run.im.memory())
}

// scan walks the inputs. What the collectors hand over goes to sort, which takes from run.full until that is closed.
func (run *importRun) scan(ctx context.Context, sort func(context.Context) error) error {
	run.stop = ctx
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	var scanning, sorting sync.WaitGroup
	var sorted error
	sorting.Go(func() {
		if sorted = sort(ctx); sorted != nil {
			cancel(sorted)
		}
	})
	for _, w := range run.workers {
		scanning.Go(func() { run.work(ctx, w) })
	}
	err := run.walk(ctx)
	close(run.small)
	scanning.Wait()
	for _, w := range run.workers {
		w.show()
	}
	if err == nil {
		run.finish()
	}
	close(run.full)
	sorting.Wait()
	if sorted != nil {
		return sorted
	}
	if cause := context.Cause(run.stop); err != nil && cause != nil {
		return cause
	}
	return err
}

// work scans small streams until there are no more. Large ones are scanned by all workers at once, in span.
func (run *importRun) work(ctx context.Context, w *worker) {
	for s := range run.small {
		// Reading from memory fails only when ctx ends, which the walk notices too.
		n, _ := w.recorder.Scan(ctx, bytes.NewReader(s.text), s.name)
		run.scanned.Add(n)
		w.show()
		run.buffers <- s.buf
		run.pending.Done()
	}
}

// sort is the one who sorts and writes.
func (run *importRun) sort(ctx context.Context) (err error) {
	defer func() { // whoever waits to hand over must not wait for ever
		for m := range run.full {
			if keys, ok := m.([]segment.Entry); ok {
				run.empty <- keys[:0]
			} // pairs are let go
		}
	}()
	out, err := run.w.begin(run.im.memory())
	if err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	defer func() { out.abort() }()
	for m := range run.full {
		switch m := m.(type) {
		case []segment.Entry:
			err = out.keys.AddAll(m)
			run.empty <- m[:0]
		case pairKeys:
			err = run.w.addPairs(out, m)
			select {
			case run.emptyPairs <- m[:0]:
			default:
			}
		case commit:
			out, err = run.keep(ctx, out, m)
		}
		if err != nil {
			return fmt.Errorf("write segment: %w", err)
		}
	}
	return nil
}

// keep makes what was sorted durable and begins the next part.
func (run *importRun) keep(ctx context.Context, out *sorter, c commit) (*sorter, error) {
	if c.whole {
		return out, run.w.keepFinal(ctx, out, c.note.Tally)
	}
	if err := run.w.keepPart(ctx, out, c.note); err != nil || c.note.Upto.Done {
		return out, err
	}
	// The sorted keys are garbage now, the largest there is; the next part must not come on top of them.
	runtime.GC()
	next, err := run.w.begin(run.im.memory())
	if err != nil {
		return out, err
	}
	return next, nil
}

// mayKeep asks for a part when enough was scanned since the last one, or when the import is asked to stop. Everything
// before run.at is scanned then.
func (run *importRun) mayKeep(scanned int64) {
	run.sincePart += scanned
	if stopping := run.stop.Err() != nil && run.sincePart > 0; !stopping && !run.im.worthKeeping(run.sincePart, run.keptAt) {
		return
	}
	run.pending.Wait()
	run.flush()
	run.full <- commit{note: note{Upto: run.at, Rows: run.rows, Tally: run.tally()}}
	run.sincePart, run.keptAt, run.firstPart = 0, run.im.Now(), false
}

// finish hands over the last keys and asks for the last part, or for the final segment when there was no other.
func (run *importRun) finish() {
	run.flush()
	end := note{Upto: cursor{Input: len(run.spec.Inputs), Done: true}, Tally: run.tally()}
	run.full <- commit{note: end, whole: run.firstPart}
}

// flush hands over what the collectors hold. No worker is scanning.
func (run *importRun) flush() {
	for _, w := range run.workers {
		if len(w.keys) > 0 {
			w.keys = w.collector.flush(w.keys)
		}
		w.pairs.end()
	}
}

// tally is what this run and those before it counted. No worker is scanning.
func (run *importRun) tally() leak.Tally {
	t := leak.Tally{
		Bytes: max(run.base.Bytes, run.read.Load()), Scanned: run.base.Scanned + run.scanned.Load(), Streams: run.base.Streams + run.streams,
		Found: map[string]int64{},
	}
	for _, counted := range []*leak.Tally{&run.base, &run.verdicts} {
		t.Problems, t.Read, t.Partly, t.Unread = t.Problems+counted.Problems, t.Read+counted.Read, t.Partly+counted.Partly, t.Unread+counted.Unread
		for reason, n := range counted.Reasons {
			t.Note(reason, n)
		}
	}
	t.AddClasses(&run.base)
	for _, w := range run.workers {
		told, classes := w.told()
		t.CountClasses(told, classes[:])
	}
	for _, k := range identifier.Kinds() {
		n := run.base.Found[k.String()]
		for _, w := range run.workers {
			n += w.counts[k]
		}
		if n > 0 {
			t.Found[k.String()] = n
		}
	}
	return t
}

// progressEvery is how often progress is told.
const progressEvery = 250 * time.Millisecond

// watch tells the progress until the returned function is called.
func (run *importRun) watch() (stop func()) {
	if run.spec.Progress == nil {
		return func() {}
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				run.spec.Progress(run.progress())
				return
			case <-tick.C:
				run.spec.Progress(run.progress())
			}
		}
	})
	return func() { close(done); watching.Wait() }
}

func (run *importRun) progress() Progress {
	p := Progress{
		Read: run.read.Load(), Scanned: run.scanned.Load(), Resumed: run.base.Scanned, Before: run.base.Bytes, Merging: run.merging.Load(),
		Elapsed: run.im.Now().Sub(run.started), Found: map[string]int64{},
	}
	if name := run.input.Load(); name != nil {
		p.Input = *name
	}
	for _, in := range run.spec.Inputs {
		if in.Size < 0 {
			p.Total = 0
			break
		}
		p.Total += in.Size
	}
	for _, k := range identifier.Kinds() {
		n := run.base.Found[k.String()]
		for _, w := range run.workers {
			n += w.shown[k].Load()
		}
		if n > 0 {
			p.Found[k.String()] = n
		}
	}
	return p
}
