package leak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"vigia/internal/scan"
)

// defaultSpan is how much of a large text is scanned before a part may be kept.
const defaultSpan = 1 << 30

// walk goes through the inputs in order.
func (run *importRun) walk(ctx context.Context) error {
	for i, in := range run.spec.Inputs {
		if i < run.from.Input {
			if in.Size > 0 {
				run.read.Add(in.Size)
			}
			continue
		}
		run.at = cursor{Input: i}
		run.input.Store(&in.Name)
		if err := run.walkInput(ctx, in); err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
	}
	run.pending.Wait()
	return ctx.Err()
}

func (run *importRun) walkInput(ctx context.Context, in Input) error {
	if in.pieces.Size > 0 {
		return run.pieces(ctx, in)
	}
	source, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // only read
	report, err := scan.Walk(ctx, in.Name, meter(source, &run.read), run.im.limits(), func(_ scan.Entry, r io.Reader) error {
		return run.stream(ctx, r)
	})
	run.skips = append(run.skips, report.Skips...)
	run.skipped += report.Skipped
	if errors.Is(err, scan.ErrBomb) { // what it held so far stays, the rest of it is given up, the other inputs go on
		run.skips = append(run.skips, scan.Skip{Name: in.Name, Reason: err.Error()})
		run.skipped++
		err = nil
	}
	return errors.Join(err, ctx.Err())
}

// stream scans one file or member of an archive, unless an earlier run has done so.
func (run *importRun) stream(ctx context.Context, r io.Reader) error {
	this := run.at
	run.at = cursor{Input: this.Input, Stream: this.Stream + 1}
	if this.Input == run.from.Input && this.Stream < run.from.Stream {
		return nil
	}
	begun := this.Input == run.from.Input && this.Stream == run.from.Stream && run.from.Span > 0
	if !begun {
		run.streams++
	}
	buf := <-run.buffers
	n, err := io.ReadFull(r, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		run.pending.Add(1)
		run.small <- smallStream{buf[:n], buf}
		run.mayKeep(int64(n))
		return ctx.Err()
	}
	head := bytes.Clone(buf[:n])
	run.buffers <- buf
	rest := io.MultiReader(bytes.NewReader(head), r)
	if err != nil { // what came before a broken end is scanned all the same
		rest = io.MultiReader(bytes.NewReader(head), failing{err})
	}
	run.pending.Wait() // from here on every collector belongs to the large stream
	if !plainText(head) {
		n, err := scan.ScanParallel(ctx, metered{rest, &run.scanned}, run.found())
		if err == nil {
			run.mayKeep(n)
		}
		return err
	}
	return run.spans(ctx, rest, this)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// plainHead is how much of a text is looked at before it is cut.
const plainHead = 4 << 10

// plainText tells whether a stream may be scanned from its middle: text in bytes, and no mail, whose encoding is told at its top.
func plainText(head []byte) bool {
	if !scan.Splittable(head) {
		return false
	}
	head = bytes.ToLower(head[:min(len(head), plainHead)])
	if bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte("from ")) {
		return false
	}
	for _, header := range []string{"mime-version:", "received:", "return-path:", "message-id:", "content-type:"} {
		if bytes.HasPrefix(head, []byte(header)) || bytes.Contains(head, []byte("\n"+header)) {
			return false
		}
	}
	return true
}

// spans scans a large stream span by span; a part may be kept after each.
func (run *importRun) spans(ctx context.Context, r io.Reader, this cursor) error {
	next, size, number := run.at, run.im.piece(), int64(0)
	perSpan := max(1, run.im.span()/size)
	if this.Input == run.from.Input && this.Stream == run.from.Stream && run.from.Span > 0 {
		number = run.from.Span
		if _, err := io.CopyN(io.Discard, r, number*perSpan*size); err != nil {
			return err
		}
	}
	pieces := scan.NewPieces(metered{r, &run.scanned}, size, number > 0)
	for more := true; more; number++ {
		before, err := run.scanned.Load(), error(nil)
		run.at = cursor{Input: this.Input, Stream: this.Stream, Span: number + 1}
		if more, err = pieces.Scan(ctx, perSpan, run.found()); !more {
			run.at = next
		}
		if err != nil {
			return err
		}
		run.mayKeep(run.scanned.Load() - before)
	}
	return nil
}

// pieces scans a range of a large text. What it sees beyond its end belongs to the next range and is not counted.
func (run *importRun) pieces(ctx context.Context, in Input) error {
	p := in.pieces
	source, err := in.at(ctx, p.First*p.Size)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // only read
	if p.First == 0 {
		run.streams++
	}
	run.pending.Wait()
	n := int64(math.MaxInt64)
	if p.End > 0 {
		n = p.End - p.First
	}
	r := metered{metered{source, &run.read}, &run.scanned}
	more, err := scan.NewPieces(r, p.Size, p.First > 0).Scan(ctx, n, run.found())
	if err != nil {
		return err
	}
	if !more && p.End > 0 {
		return ErrInput.With("inputs: %s changed since the import began", in.Name)
	}
	if more {
		run.read.Add(-scan.Overlap)
		run.scanned.Add(-scan.Overlap)
	}
	return nil
}

// found are the collectors, all of which belong to one large stream.
func (run *importRun) found() []scan.Found {
	found := make([]scan.Found, len(run.workers))
	for i, w := range run.workers {
		found[i] = w.found
	}
	return found
}
