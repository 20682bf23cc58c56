package intake

import (
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
)

// noteCounters takes note of how far the present reader has come.
func (run *importRun) noteCounters(c reader.Counters) {
	run.counters = c
	run.read.Store(run.readBefore + c.Read)
	run.scanned.Store(run.base.Scanned - run.resumed.Scanned + c.Scanned)
}

// rebaseCounters has a new reader begin at the last place from which reading can go on: what was counted since is
// counted again.
func (run *importRun) rebaseCounters() {
	run.pending.Wait()
	run.base, run.verdicts, run.skips = run.checked.Tally, leak.Tally{}, run.skips[:run.skipsThen]
	found := run.base.Found
	run.foundBefore.Store(&found)
	run.readBefore = 0
	for _, in := range run.spec.Inputs[:min(run.checked.Upto.Input, len(run.spec.Inputs))] {
		run.readBefore += max(0, in.Size)
	}
	for _, w := range run.workers {
		w.resetCounts()
	}
	run.garbled.Store(false)
	run.noteCounters(reader.Counters{})
}

// currentTally returns what this run and those before it counted. No batch is pending.
func (run *importRun) currentTally() leak.Tally {
	t := leak.Tally{
		Bytes: max(run.base.Bytes, run.readBefore+run.counters.Read), Scanned: run.base.Scanned + run.counters.Scanned,
		Streams: run.base.Streams + run.counters.Streams,
	}
	for _, counted := range []*leak.Tally{&run.base, &run.verdicts} {
		t.LeftOut += counted.LeftOut
		t.Problems += counted.Problems
		t.Read += counted.Read
		t.Partly += counted.Partly
		t.Unread += counted.Unread
		for reason, n := range counted.Reasons {
			t.CountReason(reason, n)
		}
	}
	t.AddClasses(&run.base)
	for _, w := range run.workers {
		told, classes := w.countTold()
		t.CountClasses(told, classes[:])
	}
	t.Found = run.countFound(run.base.Found, func(w *worker, k identifier.Kind) int64 { return w.counts[k] })
	return t
}

// countFound counts the identifiers of each kind that were found before the present reader, and by each worker since.
func (run *importRun) countFound(
	before map[string]int64, since func(w *worker, k identifier.Kind) int64,
) map[string]int64 {
	found := map[string]int64{}
	for _, k := range identifier.ListKinds() {
		n := before[k.String()]
		for _, w := range run.workers {
			n += since(w, k)
		}
		if n > 0 {
			found[k.String()] = n
		}
	}
	return found
}

// progressEvery is how often progress is told.
const progressEvery = 250 * time.Millisecond

// watchProgress tells the progress until the returned function is called.
func (run *importRun) watchProgress() (stop func()) {
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

// progress returns how far the run has come. Total is 0 if the size of an input is not known.
func (run *importRun) progress() Progress {
	p := Progress{
		Read:    run.read.Load(),
		Scanned: run.scanned.Load(),
		Resumed: run.resumed.Scanned,
		Before:  run.resumed.Bytes,
		Merging: run.merging.Load(),
		Elapsed: run.im.Now().Sub(run.started),
	}
	var before map[string]int64
	if found := run.foundBefore.Load(); found != nil {
		before = *found
	}
	p.Found = run.countFound(before, func(w *worker, k identifier.Kind) int64 { return w.shown[k].Load() })
	if name := run.shown.Load(); name != nil {
		p.Input = *name
	}
	for _, in := range run.spec.Inputs {
		if in.Size < 0 {
			p.Total = 0
			break
		}
		p.Total += in.Size
	}
	return p
}
