// Package scan turns dump bytes of any kind into identifiers: e-mail addresses, CPFs, phone numbers, payment cards,
// CNPJs and random Pix keys.
//
// A Scanner reads one stream and calls back with every identifier in its normal form; package container opens files and
// archives and hands out the streams inside them. It knows neither breaches, fingerprints nor storage, and parses no
// format: a Scanner anchors on '@' and on runs of digits, so a combo list, a table, JSON, SQL, HTML or a memory image
// are all the same to it.
//
// Invariants: memory does not grow with the input; nothing that was read is written anywhere; every value handed out is
// its own normal form in package identifier.
package scan

import (
	"context"
	"errors"
	"io"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/scan/record"
)

// Found receives one identifier in normal form. The bytes are valid during the call only. The same value may come many
// times.
type Found func(kind identifier.Kind, normal []byte)

const (
	// block is how much is read at once: it stays in the second-level cache while both passes run over it.
	block = 64 << 10
	// margin is how far a decision may look to either side of its anchor. The longest identifier, an e-mail address,
	// has 254 bytes.
	margin = 512
)

// Scanner finds the identifiers of one stream after another. It is not safe for use by several goroutines; each needs
// its own.
type Scanner struct {
	// take is called with each identifier and where in the text at hand it stands.
	take func(kind identifier.Kind, normal []byte, from, to int)
	// records takes readings that a column has to confirm, and inView does in a decoded view of a text. Without either
	// they count for nothing.
	records *record.Reader
	inView  func(kind identifier.Kind, normal []byte, from, to int, weak bool)
	decoder *decoder
	wanted  []int // where the text at hand has something to decode, as far as it was searched
	buf     []byte
	text    [margin]byte // the value being put together
	marks   marks
	labels  labelMemo
	known   [64]knownLabel
	// runs are where digits were seen that may be columns of fixed width, and layout what is known of these.
	runs   []int
	layout fixedRows
	// around describes the address being read.
	around addressShape
}

// NewScanner makes a Scanner that calls found.
func NewScanner(found Found) *Scanner {
	return &Scanner{
		take: func(kind identifier.Kind, normal []byte, _, _ int) { found(kind, normal) },
		buf:  make([]byte, block+2*margin+cell+2*cellMargin),
	}
}

// Scan reads r to its end and returns the number of bytes it took from it. UTF-16 is recognised and read as such.
func (s *Scanner) Scan(ctx context.Context, r io.Reader) (int64, error) {
	if e, ok := r.(inPlace); ok {
		if n, ok, err := s.scanInPlace(ctx, e); ok {
			return n, err
		}
	}
	counted := &countingReader{r: r}
	err := s.scan(ctx, decoded(counted))
	return counted.n, err
}

func (s *Scanner) scan(ctx context.Context, r io.Reader) error {
	w := window{b: s.buf[:0]}
	s.wanted = s.wanted[:0]
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := fill(r, s.buf[len(w.b):])
		w.b = s.buf[:len(w.b)+n]
		if err != nil {
			s.extract(&w, len(w.b))
			s.decode(w.b, w.base, w.cell, len(w.b))
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		s.extract(&w, len(w.b)-margin)
		whole := len(w.b) - cellMargin
		whole -= int((w.base + int64(whole)) % cell)
		s.decode(w.b, w.base, w.cell, whole)
		w.cell = whole
		gone := w.slide(s.buf)
		for i := range s.wanted {
			s.wanted[i] -= gone
		}
	}
}

// Extract finds the identifiers of b, which is taken as a whole text.
func (s *Scanner) Extract(b []byte) {
	s.wanted = s.wanted[:0]
	s.extract(&window{b: b}, len(b))
	s.decode(b, 0, 0, len(b))
}

// emit hands out an identifier that stands at [from, to) of the text at hand.
func (s *Scanner) emit(kind identifier.Kind, normal []byte, from, to int) {
	s.take(kind, normal, from, to)
}

// viewScanner is a Scanner of decoded views, whose inView is to be set.
func viewScanner() *Scanner {
	s := &Scanner{}
	s.take = func(kind identifier.Kind, normal []byte, from, to int) { s.inView(kind, normal, from, to, false) }
	return s
}

// window is the part of the stream in memory.
type window struct {
	b    []byte
	from int   // what lies before has been searched
	done int   // numbers that begin before this have been read
	base int64 // how far b lies after the beginning of the text
	cell int   // the first cell that has not been looked at for something to decode
}

// extract searches the window up to limit. Signs and numbers are searched for one after the other in each stretch
// of text, which is still in the nearest cache then.
func (s *Scanner) extract(w *window, limit int) {
	for ; w.from < limit; w.from += stretch {
		s.marks.read(w.b, w.from)
		s.signs(w.b, w.from, limit)
		w.done = s.numbers(w.b, w.from, limit, w.done)
	}
	w.from = limit
}

// slide moves the unread rest, and the margins before it, to the front of buf, and returns by how much.
func (w *window) slide(buf []byte) (gone int) {
	gone = max(0, min(w.from-margin, w.cell-cellMargin))
	n := copy(buf, w.b[gone:])
	w.b = buf[:n]
	w.from, w.done, w.cell, w.base = w.from-gone, max(0, w.done-gone), w.cell-gone, w.base+int64(gone)
	return gone
}

// fill reads until p is full or r ends. Unlike io.ReadFull it keeps the end of r apart from a stream that was cut off,
// for which decoders return io.ErrUnexpectedEOF.
func fill(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
