package intake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/container"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/scan/stated"
)

// stated reads a stream whose records say what is in them: buf holds its first n bytes, which ended with err. It is read
// by one of the workers and as a whole: an import that is stopped meanwhile begins with it again.
func (run *importRun) stated(ctx context.Context, name string, r io.Reader, buf []byte, n int, err error) error {
	head := bytes.Clone(buf[:n])
	run.buffers <- buf
	rest := io.Reader(bytes.NewReader(head))
	switch {
	case err == nil:
		rest = io.MultiReader(rest, r)
	case !errors.Is(err, io.EOF): // it breaks off
		rest = io.MultiReader(rest, broken{err})
	}
	run.pending.Wait() // from here on every collector belongs to this stream
	reading, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(run.stop, cancel)()
	defer cancel()
	w, before := run.workers[0], run.scanned.Load()
	_, err = stated.Read(reading, metered{rest, &run.scanned}, run.spec.Mapping, w.found, func(line int64, why *fault.Error) error {
		run.noRecord(fmt.Sprintf("%s:%d", name, line), why)
		return nil
	})
	w.show()
	var text *fault.Error
	if errors.Is(err, stated.ErrText) && errors.As(err, &text) { // the other streams may still be what they should be
		run.noRecord(name, text)
		err = nil
	}
	if err == nil {
		run.mayKeep(run.scanned.Load() - before)
	}
	return errors.Join(run.stop.Err(), err)
}

// broken is where a source ends that failed.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// noRecord notes a line, or a text, of which no record was taken, or not all of it.
func (run *importRun) noRecord(where string, why *fault.Error) {
	run.misreads++
	if len(run.misread) < skipsKept {
		run.misread = append(run.misread, container.Skip{Name: where, Reason: "records: " + why.Detail})
	}
}

// addMisread adds what was noted to the report of the input at hand.
func (run *importRun) addMisread(report *container.Report) {
	report.Skips = append(report.Skips, run.misread...)
	report.Skipped += run.misreads
	run.misread, run.misreads = nil, 0
}
