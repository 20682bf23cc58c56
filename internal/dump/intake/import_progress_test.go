package intake

import (
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestNewReaderCountsOnce: what a reader told behind the last place from which reading can go on is told again by the
// one that begins there, and is counted once: skips, verdicts and bytes.
func TestNewReaderCountsOnce(t *testing.T) {
	im := &Importer{Now: time.Now, Workers: 1}
	inputs := []Input{{Name: "a", Size: 10}, {Name: "b", Size: 20}, {Name: "c", Size: 40}}
	run := newImportRun(im, &work{}, Spec{Inputs: inputs})
	damaged := func(name string) *container.Report {
		r := &container.Report{Entries: 1, Bytes: 1}
		r.Skips, r.Skipped = append(r.Skips, container.Skip{Name: name, Reason: "damaged"}), 2
		return r
	}
	check := func(when string, scanned, problems int64, skips ...string) {
		t.Helper()
		var told []string
		for _, s := range run.skips {
			told = append(told, s.Name)
		}
		if !slices.Equal(told, skips) {
			t.Errorf("%s: told of %v, want %v", when, told, skips)
		}
		got, inputs := run.currentTally(), problems/2
		want := got
		want.Scanned, want.Problems, want.Partly, want.Reasons = scanned, problems, inputs, map[string]int64{
			"damaged": inputs, "other reasons": inputs,
		}
		difftest.Check(t, when, got, want)
	}
	run.countVerdict(damaged("a!1"))
	err := run.noteCheckpoint(reader.Checkpoint{
		At: reader.Cursor{Input: 1}, Counters: reader.Counters{Read: 10, Scanned: 100, Streams: 1},
	}, reader.Spent{})
	if err != nil {
		t.Fatal(err)
	}
	check("behind a", 100, 2, "a!1")
	for range 2 {
		run.input = 1
		run.countVerdict(damaged("b!1"))
		run.noteCounters(reader.Counters{Read: 30, Scanned: 300, Streams: 2})
		if run.rebaseCounters(); run.read.Load() != 10 || run.scanned.Load() != 100 {
			t.Errorf("a new reader begins at %d bytes, %d scanned", run.read.Load(), run.scanned.Load())
		}
		check("with a new reader", 100, 2, "a!1")
	}
	run.countVerdict(damaged("b!1"))
	run.noteCounters(reader.Counters{Read: 20, Scanned: 200, Streams: 1})
	check("behind b, by another reader", 300, 4, "a!1", "b!1")
	run.moveToInput(2)
	check("before c", 300, 4, "a!1", "b!1")
	if run.read.Load() != 30 || run.currentTally().Bytes != 30 || run.currentTally().Streams != 2 {
		t.Errorf("before c: %d bytes read, %+v", run.read.Load(), run.currentTally())
	}
}
