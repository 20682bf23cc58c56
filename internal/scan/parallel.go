package scan

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// piece is a part of a stream: text to look at, of which [from, limit) is to be searched and the rest is there to be
// seen.
type piece struct {
	text        []byte
	from, limit int
}

// PieceSize is large enough that handing a piece over costs nothing beside searching it.
const PieceSize = 1 << 20

// Overlap is what two pieces have in common: either sees a margin beyond the border between them.
const Overlap = 2 * margin

// ScanParallel is Scan with a goroutine for each of found, each of which is called by its own goroutine only. Which of
// them receives an identifier is left to chance; all of them together receive what one Scanner would find.
func ScanParallel(ctx context.Context, r io.Reader, found []Found) (int64, error) {
	counted := &countingReader{r: r}
	_, err := NewPieces(decoded(counted), PieceSize, false).Scan(ctx, math.MaxInt64, found)
	return counted.n, err
}

// Splittable says whether a text that begins like this may be scanned from its middle: it is not in need of decoding.
func Splittable(start []byte) bool { return !encoded(start[:min(len(start), sniffed)]) }

// Pieces is a text, which needs no decoding, cut into pieces that are searched by themselves. Where piece n is depends
// on the size of pieces alone: it is bytes n*size to (n+1)*size+Overlap, less where the text ends. So the same pieces
// are found by whoever reads all of the text, goes on in its middle, or reads no more than that range, and all pieces
// together find the same however they are shared out.
type Pieces interface {
	// Scan searches the next n pieces with a goroutine for each of found, and says whether there are more.
	Scan(ctx context.Context, n int64, found []Found) (more bool, err error)
}

// streamPieces are the pieces of what can only be read on.
type streamPieces struct {
	r       io.Reader
	size    int64
	overlap [Overlap]byte
	kept    int
	inside  bool // the next piece is not the first of the text
	ended   bool
}

// NewPieces cuts r. inside says that r begins with another piece than the first.
func NewPieces(r io.Reader, size int64, inside bool) Pieces {
	return &streamPieces{r: r, size: size, inside: inside}
}

// Scan has each goroutine read its pieces itself, one after the other, so that it searches what is still in the cache
// of its own core.
func (p *streamPieces) Scan(ctx context.Context, n int64, found []Found) (more bool, err error) {
	group, ctx := errgroup.WithContext(ctx)
	var reading sync.Mutex
	for _, f := range found {
		group.Go(func() error {
			s, buf := NewScanner(f), make([]byte, p.size+Overlap)
			for {
				reading.Lock()
				left := n > 0 && !p.ended
				n--
				var next piece
				var err error
				if left {
					next, err = p.cut(ctx, buf)
				}
				reading.Unlock()
				if !left {
					return nil
				}
				s.extract(&window{b: next.text, from: next.from}, next.limit)
				if err != nil {
					return err
				}
			}
		})
	}
	err = group.Wait()
	return !p.ended, err
}

// cut reads the next piece. Pieces overlap by a margin on both sides, so that each can be searched without the others.
// What came before an error is a piece too.
func (p *streamPieces) cut(ctx context.Context, buf []byte) (piece, error) {
	if err := ctx.Err(); err != nil {
		p.ended = true
		return piece{}, err
	}
	copy(buf, p.overlap[:p.kept])
	n, err := fill(p.r, buf[p.kept:])
	next := piece{text: buf[:p.kept+n]}
	next.limit = len(next.text) - margin
	if p.inside {
		next.from = min(margin, len(next.text))
	}
	if err == nil {
		p.kept, p.inside = copy(p.overlap[:], next.text[len(next.text)-Overlap:]), true
		return next, nil
	}
	p.ended = true
	next.limit = len(next.text)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return next, err
}

// filePieces are the pieces of a file, which are searched where they lie. Nobody has to wait until somebody else has
// read.
type filePieces struct {
	f     *os.File
	size  int64
	total int64
	next  int64 // piece
	took  func(n int64)
}

// FilePieces cuts the first total bytes of f and begins with piece number first. took is told, by any goroutine, how
// many bytes have been searched.
func FilePieces(f *os.File, total, size, first int64, took func(n int64)) Pieces {
	return &filePieces{f: f, size: size, total: total, next: first, took: took}
}

func (p *filePieces) Scan(ctx context.Context, n int64, found []Found) (more bool, err error) {
	count := max(0, p.total-Overlap)/p.size + 1
	end := count
	if n < count-p.next {
		end = p.next + n
	}
	atOnce := max(1, viewSize/p.size)
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	next.Store(p.next)
	for _, f := range found {
		group.Go(func() error {
			s := NewScanner(f)
			for ctx.Err() == nil {
				first := next.Add(atOnce) - atOnce
				if first >= end {
					return nil
				}
				if err := p.search(s, first, min(first+atOnce, end)); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	err = group.Wait()
	p.next = end
	return end < count, err
}

// search searches some pieces in one view.
func (p *filePieces) search(s *Scanner, first, end int64) error {
	from, to := first*p.size, min(end*p.size+Overlap, p.total)
	err := mapped(p.f, from, to, func(b []byte) {
		for n := first; n < end; n++ {
			p.piece(s, b[(n-first)*p.size:], n)
		}
	})
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	b := make([]byte, p.size+Overlap)
	for n := first; n < end; n++ {
		text := b[:min(p.size+Overlap, p.total-n*p.size)]
		if _, err := p.f.ReadAt(text, n*p.size); errors.Is(err, io.EOF) {
			return ErrChanged
		} else if err != nil {
			return err
		}
		p.piece(s, text, n)
	}
	return nil
}

// piece searches piece n, with which b begins.
func (p *filePieces) piece(s *Scanner, b []byte, n int64) {
	w, limit, mine := window{b: b}, len(b), int64(len(b))
	if whole := p.size + Overlap; int64(len(b)) >= whole { // not the last one
		w.b, limit, mine = b[:whole], int(whole)-margin, p.size
	}
	if n > 0 {
		w.from = margin
	}
	s.extract(&w, limit)
	p.took(mine)
}
