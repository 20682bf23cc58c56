package intake

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/leak"
)

// importRun is one run of an import: it has readers read the inputs, one after the other, several workers fingerprint
// what they find, and feeds one sorter.
//
// A reader says now and then from which place another one could go on. A part of the segment is kept at such a place,
// so an import that was interrupted finds exactly what an uninterrupted one finds; and one whose reader ended goes on
// from there.
type importRun struct {
	im   *Importer
	w    *work
	spec Spec

	// checked is the last place from which reading can go on and what was counted up to there, skipsThen how many
	// skips; base is what was counted when the present reader began, and readBefore the bytes of the inputs before it.
	checked    note
	skipsThen  int
	base       leak.Tally
	resumed    leak.Tally // by an earlier run
	readBefore int64
	counters   reader.Counters
	// foundBefore is what base says was found, for the goroutine that tells the progress. The map is never changed.
	foundBefore atomic.Pointer[map[string]int64]
	// input is the number of the one that is being read.
	input int
	// firstPart says that no part has been kept, by this run or an earlier one; keptScanned is how much had been
	// scanned when the last one was, and keptAt when that was.
	firstPart   bool
	keptScanned int64
	keptAt      time.Time
	// verdicts counts the inputs since base by how much of them was read.
	verdicts leak.Tally
	skips    []container.Skip
	beside   map[string][]string // names in folders of inputs
	ended    *reader.Report      // of the last input

	workers []*worker
	batches chan []byte    // of sightings, for any worker
	pending sync.WaitGroup // batches not yet fingerprinted
	garbled atomic.Bool    // a batch could not be read

	full       chan any // []segment.Entry or pairKeys to sort, or a commit
	empty      chan []segment.Entry
	emptyPairs chan pairKeys

	// What the progress shows.
	started       time.Time
	read, scanned atomic.Int64
	shown         atomic.Pointer[string]
	merging       atomic.Bool
}

// worker collects what one scanner finds. Each has its own collector, so that scanners share no locks.
type worker struct {
	*collector
	// found takes what is found: the collector's, unless the run only counts.
	found func(*reader.Sighting)
}

// newImportRun prepares a run with one worker per scanner. All key batches are allocated here, so that memory stays
// bounded: a worker that finds none free waits for the sorter.
func newImportRun(im *Importer, w *work, spec Spec) *importRun {
	n := im.workerCount()
	run := &importRun{
		im:          im,
		w:           w,
		spec:        spec,
		checked:     w.last,
		resumed:     w.last.Tally,
		firstPart:   len(w.parts) == 0,
		keptScanned: w.last.Tally.Scanned,
		batches:     make(chan []byte, n),
		full:        make(chan any, n),
		empty:       make(chan []segment.Entry, 3*n),
		emptyPairs:  make(chan pairKeys, 3*n),
		started:     im.Now(),
		keptAt:      im.Now(),
	}
	run.rebaseCounters()
	for range cap(run.empty) {
		run.empty <- make([]segment.Entry, 0, keyBatch)
	}
	for range n {
		c := newCollector(
			im.Fingerprint,
			w.labels,
			func(full []segment.Entry) []segment.Entry { run.full <- full; return <-run.empty },
			run.newPairs(),
		)
		run.workers = append(run.workers, &worker{c, c.collectSighting})
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

// buildSegment scans what is not yet scanned, from where the last run stopped, and puts the final segment together,
// unless an earlier run did.
func (run *importRun) buildSegment(ctx context.Context) error {
	if run.w.final != "" {
		return nil
	}
	stop := run.watchProgress()
	defer stop()
	if !run.checked.Upto.Done {
		if err := run.scanInputs(ctx, run.sortAndWrite); err != nil {
			return err
		}
	}
	if run.w.final != "" {
		return nil
	}
	run.merging.Store(true)
	return run.w.mergeSegment(ctx, run.im.sortMemory())
}

// stopTime is how long an import that is asked to stop may take to keep what it did.
const stopTime = 1500 * time.Millisecond

// scanInputs reads the inputs. What the collectors hand over goes to sort, which takes from run.full until that is
// closed.
func (run *importRun) scanInputs(ctx context.Context, sort func(context.Context) error) error {
	reading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	keeping, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	var collecting, sorting sync.WaitGroup
	var sorted error
	sorting.Go(func() {
		if sorted = sort(keeping); sorted != nil {
			cancel(sorted)
		}
	})
	for _, w := range run.workers {
		collecting.Go(func() {
			for batch := range run.batches {
				if reader.DecodeBatch(batch, w.found) != nil {
					run.garbled.Store(true)
				}
				w.showCounts()
				reader.ReuseBatch(batch)
				run.pending.Done()
			}
		})
	}
	err := run.readAllInputs(reading)
	close(run.batches)
	collecting.Wait()
	switch {
	case err == nil:
		run.finishScan()
	case ctx.Err() != nil: // what lies behind the place that is kept is found again, and changes nothing
		defer time.AfterFunc(stopTime, giveUp).Stop()
		if run.checked.Tally.Scanned > run.keptScanned {
			run.requestPart()
		}
	}
	close(run.full)
	sorting.Wait()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return cmp.Or(sorted, err)
}
