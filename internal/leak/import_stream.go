package leak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"vigia/internal/scan"
)

const (
	// defaultSpan is the length of a span of a large text, shared what two neighbours have in common so that nothing is lost
	// between them. The longest identifier has 254 bytes.
	defaultSpan = 1 << 30
	shared      = 4 << 10
)

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
		return run.span(ctx, rest)
	}
	return run.spans(ctx, rest, this)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// plainText tells whether a stream may be scanned from its middle: text in bytes, and no mail, whose encoding is told at its top.
func plainText(head []byte) bool {
	head = bytes.ToLower(head[:min(len(head), 4<<10)])
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
	next, length, head := run.at, run.im.span(), []byte(nil)
	for number := int64(0); ; number++ {
		tail := &tailReader{r: io.LimitReader(r, length)}
		if this.Input == run.from.Input && this.Stream == run.from.Stream && number < run.from.Span {
			if _, err := io.Copy(io.Discard, tail); err != nil {
				return err
			}
		} else {
			run.at = cursor{Input: this.Input, Stream: this.Stream, Span: number + 1}
			if err := run.span(ctx, io.MultiReader(bytes.NewReader(head), tail)); err != nil {
				run.at = next
				return err
			}
		}
		if tail.n < length {
			run.at = next
			return nil
		}
		head = fromBorder(tail.last())
	}
}

// fromBorder is what the next span begins with: the end of the last one, from a border on, so that it does not begin in the middle
// of a number.
func fromBorder(tail []byte) []byte {
	if i := bytes.IndexAny(tail[:len(tail)/2], "\n\r\t ,;\"'<>|"); i >= 0 {
		tail = tail[i:]
	}
	return bytes.Clone(tail)
}

// tailReader remembers the last bytes that went through it.
type tailReader struct {
	r    io.Reader
	n    int64
	kept []byte
}

func (t *tailReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	t.kept = append(t.kept, p[max(0, n-shared):n]...)
	if len(t.kept) > 16*shared {
		t.kept = append(t.kept[:0], t.last()...)
	}
	return n, err
}

func (t *tailReader) last() []byte { return t.kept[max(0, len(t.kept)-shared):] }

// span scans one stretch of bytes with all workers.
func (run *importRun) span(ctx context.Context, r io.Reader) error {
	found := make([]scan.Found, len(run.workers))
	for i, w := range run.workers {
		found[i] = w.found
	}
	before := run.scanned.Load()
	_, err := scan.ScanParallel(ctx, metered{r, &run.scanned}, found)
	if err != nil {
		return err
	}
	run.mayKeep(run.scanned.Load() - before)
	return nil
}
