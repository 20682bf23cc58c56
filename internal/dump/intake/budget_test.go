package intake

import (
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/dump/reader"
)

// TestBudgetIsOfAllReaders: what an input took is counted on by the reader that goes on with it, also after a restart,
// and by none that reads the next input.
func TestBudgetIsOfAllReaders(t *testing.T) {
	im := &Importer{Now: time.Now, Workers: 1}
	run := newImportRun(im, &work{}, Spec{Inputs: []Input{{Name: "a"}, {Name: "b"}}})
	within := reader.Spent{Processor: time.Second, Bytes: 1}
	if err := run.noteCheckpoint(reader.Checkpoint{At: reader.Cursor{Stream: 1}}, within); err != nil {
		t.Fatal(err)
	}
	if run.checked.Spent != within {
		t.Errorf("at a place inside of the input: %+v", run.checked.Spent)
	}
	ended := reader.Spent{Processor: time.Minute, Bytes: 2}
	run.stepOver(&reader.Ended{Why: "memory", Layer: 1, Spent: ended})
	if got := run.checked.Trouble; got.Spent != ended || got.Input != 0 {
		t.Errorf("after a reader that ended: %+v", got)
	}
	next := reader.Checkpoint{At: reader.Cursor{Input: 1}}
	if err := run.noteCheckpoint(next, reader.Spent{Processor: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if run.checked.Spent != (reader.Spent{}) {
		t.Errorf("behind the input: %+v", run.checked.Spent)
	}
	run.input = 1
	over := &reader.Ended{Why: reader.EndBudget, Layer: 1, Spent: ended}
	run.stepOver(over)
	if got := run.checked; got.Upto.Input != 1 || got.Trouble.Spent != ended || got.Trouble.Skip != nil {
		t.Errorf("before a careful reader: %+v", got)
	}
	run.stepOver(over)
	if got := run.checked; got.Upto.Input != 2 || got.Trouble.Ended != 0 || len(run.skips) != 1 {
		t.Errorf("after it: %+v, %+v", got, run.skips)
	}
}
