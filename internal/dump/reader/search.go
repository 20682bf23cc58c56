package reader

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/identifier"
)

// searchName searches what a file is called: stealer logs and exports are often named after their owner.
func (c *reading) searchName(entry string) {
	if c.wasSearched(c.at) {
		return
	}
	called := c.in.Inner
	if _, inside, ok := strings.Cut(entry, "!"); ok {
		called += "!" + inside
	}
	digits := 0
	for _, c := range called {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	const leastDigits = 8
	if digits < leastDigits && !strings.Contains(called, "@") {
		return
	}
	buf := <-c.buffers
	text := append(buf[:0], strings.NewReplacer("!", "\n", "/", "\n", "\\", "\n", "_", " ").Replace(called)...)
	c.pending.Add(1)
	c.small <- smallStream{text: text, buf: buf}
}

// searchStream searches one file or member of an archive by its name, unless an earlier reader has done so. whole is
// the file that the stream is, if it is one as it lies on the disk; readBefore is what had been read of the inputs
// before it.
func (c *reading) searchStream(ctx context.Context, name string, r io.Reader, whole *os.File, readBefore int64) error {
	this := c.at
	c.at = Cursor{Input: this.Input, Stream: this.Stream + 1}
	if this.Stream < c.in.From.Stream {
		return nil
	}
	if !c.wasSearched(this) {
		c.stream.Add(1)
	}
	buf := <-c.buffers
	n, err := scan.FillBuffer(r, buf)
	if c.mapping != nil || stated.IsStated(buf[:n]) {
		head := bytes.Clone(buf[:n])
		c.buffers <- buf
		return c.readRecords(ctx, name, r, head, err)
	}
	if n == 0 && errors.Is(err, io.EOF) {
		c.buffers <- buf
		return nil
	}
	if err != nil { // it ends here, or breaks off: what came before is searched all the same
		c.pending.Add(1)
		c.small <- smallStream{name, buf[:n], buf}
		c.mayCheck(int64(n))
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	head := bytes.Clone(buf[:n])
	c.buffers <- buf
	rest := io.MultiReader(bytes.NewReader(head), r)
	c.pending.Wait() // from here on every worker belongs to the large stream
	if !plainText(head) {
		metered := scan.MeteredReader{Reader: rest, Count: &c.scanned}
		n, err := scan.ScanParallel(ctx, metered, name, c.recorders()) // it has no place from which it could go on
		if err == nil {
			c.mayCheck(n)
		}
		return err
	}
	if text := mapWholeFile(whole); text != nil {
		defer unmapFile(text)
		return c.searchSpans(ctx, name, this, func(from scan.Place) (*scan.Pieces, error) {
			c.read.Store(readBefore + from.First*c.job.Piece) // its first bytes have been read, and are once more
			return scan.NewMappedPieces(text, c.job.Piece, from, func(from, to int64) {
				populatePages(text[from/pageSize*pageSize : to])
				c.read.Add(to - from)
				c.scanned.Add(to - from)
			}), nil
		})
	}
	return c.searchSpans(ctx, name, this, func(from scan.Place) (*scan.Pieces, error) {
		if _, err := io.CopyN(io.Discard, rest, from.First*c.job.Piece); err != nil {
			return nil, err
		}
		return scan.NewPieces(scan.MeteredReader{Reader: rest, Count: &c.scanned}, c.job.Piece, from), nil
	})
}

// searchBinary searches the texts of a binary that is of no known kind. What stands beside an identifier there need not
// belong to it: no record is told.
func (c *reading) searchBinary(ctx context.Context, r io.Reader) error {
	this := c.at
	c.at = Cursor{Input: this.Input, Stream: this.Stream + 1}
	if c.wasSearched(this) {
		return nil
	}
	c.stream.Add(1)
	c.pending.Wait() // from here on the worker belongs to this stream
	scanner := scan.NewScanner(func(kind identifier.Kind, normal []byte) {
		_, itself := record.ClassesOf(kind)
		c.workers[0].encodeSighting(&record.Sighting{Kind: kind, Normal: normal, Classes: itself, First: true})
	})
	n, err := scanner.Scan(ctx, scan.MeteredReader{Reader: r, Count: &c.scanned})
	if err == nil {
		c.mayCheck(n)
	}
	return err
}

// plainHead is how much of a text is looked at before it is cut.
const plainHead = 4 << 10

// plainText reports whether a stream may be searched from its middle: text in bytes, and no mail, whose encoding is
// told at its top.
func plainText(head []byte) bool {
	if container.IsPacked(head) || !scan.Splittable(head) {
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

// searchSpans searches a large stream span by span; there is a Checkpoint after each. cut gives the pieces of the
// stream from the place that is wanted.
func (c *reading) searchSpans(
	ctx context.Context, name string, this Cursor, cut func(from scan.Place) (*scan.Pieces, error),
) error {
	next, number := c.at, int64(0)
	perSpan := max(1, c.job.Span/c.job.Piece)
	from := scan.Place{Name: name}
	if this.Stream == c.in.From.Stream {
		number = c.in.From.Span
		from.First, from.State = number*perSpan, c.rows
		if number > 0 {
			c.scanned.Add(-scan.Overlap) // was read, and counted, with the span before
		}
	}
	pieces, err := cut(from)
	if err != nil {
		return err
	}
	for more := true; more; number++ {
		c.at = Cursor{Input: this.Input, Stream: this.Stream, Span: number + 1}
		more, err = pieces.Scan(ctx, perSpan, c.recorders())
		if err != nil {
			return err
		}
		if c.rows = pieces.State(); !more {
			c.at, c.rows = next, record.State{}
		}
		c.sendCheckpoint()
	}
	return nil
}

// recorders returns the recorders of all workers, which then search one large stream together.
func (c *reading) recorders() []*scan.Recorder {
	all := make([]*scan.Recorder, len(c.workers))
	for i, w := range c.workers {
		all[i] = w.recorder
	}
	return all
}
