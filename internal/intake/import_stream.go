package intake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/vigiahq/vigia/internal/container"
	"github.com/vigiahq/vigia/internal/scan"
	"github.com/vigiahq/vigia/internal/scan/record"
	"github.com/vigiahq/vigia/internal/scan/stated"
)

// defaultSpan is how much of a large text is scanned before a part may be kept, and before it is noticed that the import
// is to stop.
const defaultSpan = 128 << 20

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
	return run.stopped(ctx)
}

// stopped says that the run failed, or that it was asked to stop.
func (run *importRun) stopped(ctx context.Context) error {
	return errors.Join(ctx.Err(), run.stop.Err())
}

func (run *importRun) walkInput(ctx context.Context, in Input) error {
	if in.pieces.Size > 0 {
		return run.pieces(ctx, in)
	}
	if in.refused != "" {
		run.verdicts.Unread++
		run.problem(container.Skip{Name: in.Name, Reason: in.refused})
		return nil
	}
	source, err := in.open(run.stop) // a source that stalls must not hold up the stop
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // only read
	before := run.read.Load()
	report, err := container.Walk(ctx, in.Name, meter(source, &run.read), run.options(in), func(entry container.Entry, r io.Reader) error {
		if run.spec.Mapping == nil {
			run.name(in, entry.Name)
		}
		if entry.Depth > 0 {
			return run.stream(ctx, entry.Name, r, nil, 0)
		}
		return run.stream(ctx, entry.Name, r, regularFile(source), before)
	})
	if errors.Is(err, scan.ErrChanged) {
		err = ErrInput.With("inputs: %s changed while it was read", in.Name)
	}
	if errors.Is(err, container.ErrBomb) { // what it held so far stays, the rest of it is given up, the other inputs go on
		reason := err.Error()
		report.Skips = append(report.Skips, container.Skip{Name: in.Name, Reason: reason[strings.LastIndex(reason, ": ")+2:]})
		report.Skipped++
		err = nil
	}
	if err = errors.Join(err, run.stopped(ctx)); err == nil {
		run.addMisread(&report)
		run.judge(&report)
	}
	return err
}

// regularFile returns r if that is what it is, else nil.
func regularFile(r io.Reader) *os.File {
	f, ok := r.(*os.File)
	if !ok {
		return nil
	}
	if stat, err := f.Stat(); err != nil || !stat.Mode().IsRegular() {
		return nil
	}
	return f
}

// stream scans one file or member of an archive by its name, unless an earlier run has done so. whole is the file that the stream
// is, if it is one as it lies on the disk; readBefore is what had been read of the inputs before it.
func (run *importRun) stream(ctx context.Context, name string, r io.Reader, whole *os.File, readBefore int64) error {
	this := run.at
	run.at = cursor{Input: this.Input, Stream: this.Stream + 1}
	if this.Input == run.from.Input && this.Stream < run.from.Stream {
		return run.stop.Err()
	}
	begun := this.Input == run.from.Input && this.Stream == run.from.Stream && run.from.Span > 0
	if !begun {
		run.streams++
	}
	buf := <-run.buffers
	n, err := fill(r, buf)
	if run.spec.Mapping != nil || stated.Sniff(buf[:n]) {
		return run.stated(ctx, name, r, buf, n, err)
	}
	if err != nil { // it ends here, or breaks off: what came before is scanned all the same
		run.pending.Add(1)
		run.small <- smallStream{name, buf[:n], buf}
		if ended := errors.Is(err, io.EOF); ended || run.stop.Err() == nil { // else it is the stop that broke it off
			run.mayKeep(int64(n))
			if ended {
				err = nil
			}
		}
		return errors.Join(run.stopped(ctx), err)
	}
	head := bytes.Clone(buf[:n])
	run.buffers <- buf
	rest := io.MultiReader(bytes.NewReader(head), r)
	run.pending.Wait() // from here on every collector belongs to the large stream
	if !plainText(head) {
		ctx, cancel := context.WithCancel(ctx) // it has no place from which it could go on
		defer context.AfterFunc(run.stop, cancel)()
		defer cancel()
		n, err := scan.ScanParallel(ctx, metered{rest, &run.scanned}, name, run.recorders())
		if err == nil {
			run.mayKeep(n)
		}
		return errors.Join(run.stop.Err(), err)
	}
	if whole != nil {
		return run.fileSpans(ctx, name, whole, this, readBefore)
	}
	return run.spans(ctx, name, this, func(from scan.Place) (scan.Pieces, error) {
		if _, err := io.CopyN(io.Discard, rest, from.First*run.im.piece()); err != nil {
			return nil, err
		}
		return scan.NewPieces(metered{rest, &run.scanned}, run.im.piece(), from), nil
	})
}

// fileSpans scans a large file where it lies.
func (run *importRun) fileSpans(ctx context.Context, name string, f *os.File, this cursor, readBefore int64) error {
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	return run.spans(ctx, name, this, func(from scan.Place) (scan.Pieces, error) {
		run.read.Store(readBefore + from.First*run.im.piece()) // its first bytes have been read, and are once more
		return scan.FilePieces(f, stat.Size(), run.im.piece(), from, func(n int64) { run.read.Add(n); run.scanned.Add(n) }), nil
	})
}

// plainHead is how much of a text is looked at before it is cut.
const plainHead = 4 << 10

// plainText tells whether a stream may be scanned from its middle: text in bytes, and no mail, whose encoding is told
// at its top.
func plainText(head []byte) bool {
	if container.Packed(head) || !scan.Splittable(head) {
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

// spans scans a large stream span by span; a part may be kept after each. cut gives the pieces of the stream from the
// place that is wanted.
func (run *importRun) spans(ctx context.Context, name string, this cursor, cut func(from scan.Place) (scan.Pieces, error)) error {
	next, number := run.at, int64(0)
	perSpan := max(1, run.im.span()/run.im.piece())
	from := scan.Place{Name: name}
	if this.Input == run.from.Input && this.Stream == run.from.Stream {
		number = run.from.Span
		from.First, from.State = number*perSpan, run.rows
	}
	pieces, err := cut(from)
	if err != nil {
		return err
	}
	for more := true; more; number++ {
		before := run.scanned.Load()
		run.at = cursor{Input: this.Input, Stream: this.Stream, Span: number + 1}
		more, err = pieces.Scan(ctx, perSpan, run.recorders())
		if err != nil {
			return err
		}
		if run.rows = pieces.State(); !more {
			run.at, run.rows = next, record.State{}
		}
		run.mayKeep(run.scanned.Load() - before)
		if err := run.stop.Err(); err != nil {
			return err
		}
	}
	return nil
}

// pieces scans a range of a large text. What it sees beyond its end belongs to the next range and is not counted.
func (run *importRun) pieces(ctx context.Context, in Input) error {
	p := in.pieces
	source, err := in.at(run.stop, p.First*p.Size)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // only read
	if p.First == 0 {
		run.streams++
		run.verdicts.Read++
	}
	run.pending.Wait()
	n := int64(math.MaxInt64)
	if p.End > 0 {
		n = p.End - p.First
	}
	from := scan.Place{Name: in.Name, First: p.First}
	if p.First > 0 {
		head, err := readHead(ctx, in)
		if err != nil {
			return err
		}
		from.State = scan.HeadState(head)
	}
	r := metered{metered{source, &run.read}, &run.scanned}
	more, err := scan.NewPieces(r, p.Size, from).Scan(ctx, n, run.recorders())
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

// recorders are those of all workers, which belong to one large stream.
func (run *importRun) recorders() []*scan.Recorder {
	all := make([]*scan.Recorder, len(run.workers))
	for i, w := range run.workers {
		all[i] = w.recorder
	}
	return all
}
