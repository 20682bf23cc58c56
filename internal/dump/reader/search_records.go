package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// readRecords reads a stream whose records say what is in them: head are its first bytes, which ended with err. It is
// read by one of the workers and as a whole.
func (c *reading) readRecords(ctx context.Context, name string, r io.Reader, head []byte, err error) error {
	rest := io.Reader(bytes.NewReader(head))
	switch {
	case err == nil:
		rest = io.MultiReader(rest, r)
	case !errors.Is(err, io.EOF): // it breaks off
		rest = io.MultiReader(rest, broken{err})
	}
	c.pending.Wait() // from here on every worker belongs to this stream
	before := c.scanned.Load()
	counted := scan.MeteredReader{Reader: rest, Count: &c.scanned}
	sum, err := stated.ReadRecords(
		ctx,
		counted,
		c.mapping,
		c.workers[0].encodeSighting,
		func(line int64, why *fault.Error) error {
			c.noRecord(fmt.Sprintf("%s:%d", name, line), why)
			return nil
		},
	)
	if c.records == nil {
		c.records = &stated.Summary{}
	}
	c.records.Records += sum.Records
	c.records.Wrong += sum.Wrong
	c.records.LeftOut += sum.LeftOut
	var text *fault.Error
	if errors.Is(err, stated.ErrText) && errors.As(err, &text) { // the other streams may still be what they should be
		c.noRecord(name, text)
		c.noText, err = text.Detail(), nil
	}
	if err == nil {
		c.mayCheck(c.scanned.Load() - before)
	}
	return err
}

// broken is where a source ends that failed.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// skipsKept is how many skipped members a report names; the others are counted.
const skipsKept = 100

// noRecord notes a line, or a text, of which no record was taken, or not all of it.
func (c *reading) noRecord(where string, why *fault.Error) {
	c.misreads++
	if len(c.misread) < skipsKept {
		c.misread = append(c.misread, container.Skip{Name: where, Reason: "records: " + why.Detail()})
	}
}
