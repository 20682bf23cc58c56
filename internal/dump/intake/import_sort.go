package intake

import (
	"context"
	"fmt"
	"runtime"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/dump/reader"
)

// commit asks the sorter to keep a part, or, when it is whole, the final segment.
type commit struct {
	note  note
	whole bool
}

// sortAndWrite sorts the collected keys and pairs and writes them to parts, until run.full is closed.
func (run *importRun) sortAndWrite(ctx context.Context) (err error) {
	defer func() { // after a failure the collectors must still get their buffers back, or they block for ever
		for m := range run.full {
			if keys, ok := m.([]segment.Entry); ok {
				run.empty <- keys[:0]
			} // pairs are let go
		}
	}()
	out, err := run.w.beginPart(run.im.sortMemory())
	if err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	defer func() { out.abortAll() }()
	for m := range run.full {
		switch m := m.(type) {
		case []segment.Entry:
			err = out.keys.AddEntries(m)
			run.empty <- m[:0]
		case pairKeys:
			err = run.w.addPairs(out, m)
			select {
			case run.emptyPairs <- m[:0]:
			default:
			}
		case commit:
			out, err = run.commitPart(ctx, out, m)
		}
		if err != nil {
			return fmt.Errorf("write segment: %w", err)
		}
	}
	return nil
}

// commitPart makes what was sorted durable and begins the next part.
func (run *importRun) commitPart(ctx context.Context, out *sorter, c commit) (*sorter, error) {
	if c.whole {
		return out, run.w.keepFinal(ctx, out, c.note.Tally)
	}
	if err := run.w.keepPart(ctx, out, c.note); err != nil || c.note.Upto.Done {
		return out, err
	}
	// The sorted keys are garbage now, the largest there is; the next part must not come on top of them.
	runtime.GC()
	next, err := run.w.beginPart(run.im.sortMemory())
	if err != nil {
		return out, err
	}
	return next, nil
}

// discardKeys takes the place of sortAndWrite in a run that keeps nothing.
func (run *importRun) discardKeys(context.Context) error {
	for range run.full { // not even the wish to keep a part
	}
	return nil
}

// noteCheckpoint takes note of a place from which reading can go on, and asks for a part when enough was scanned since
// the last one. spent is what the input at hand took.
func (run *importRun) noteCheckpoint(k reader.Checkpoint, spent reader.Spent) error {
	run.pending.Wait()
	if run.garbled.Load() {
		return &reader.Ended{Why: "crash", Layer: -1}
	}
	run.noteCounters(k.Counters)
	if k.At.Input != run.input { // it is behind the input
		spent = reader.Spent{}
	}
	run.checked = note{
		Upto:    k.At,
		Rows:    k.Rows,
		Tally:   run.currentTally(),
		Trouble: run.checked.Trouble,
		Spent:   spent,
	}
	run.skipsThen = len(run.skips)
	if run.im.worthKeeping(run.checked.Tally.Scanned-run.keptScanned, run.keptAt) {
		run.requestPart()
	}
	return nil
}

// requestPart asks for a part up to the last place from which reading can go on.
func (run *importRun) requestPart() {
	run.flushCollectors()
	run.full <- commit{note: run.checked}
	run.keptScanned, run.keptAt, run.firstPart = run.checked.Tally.Scanned, run.im.Now(), false
}

// finishScan hands over the last keys and asks for the last part, or for the final segment when there was no other.
func (run *importRun) finishScan() {
	run.flushCollectors()
	end := note{Upto: reader.Cursor{Input: len(run.spec.Inputs), Done: true}, Tally: run.checked.Tally}
	run.full <- commit{note: end, whole: run.firstPart}
}

// flushCollectors hands over what the collectors hold. No batch is pending.
func (run *importRun) flushCollectors() {
	for _, w := range run.workers {
		if len(w.keys) > 0 {
			w.keys = w.collector.flush(w.keys)
		}
		if w.pairs.keys != nil {
			w.pairs.keys = w.pairs.flush(w.pairs.keys)
		}
	}
}
