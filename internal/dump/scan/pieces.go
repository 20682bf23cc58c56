package scan

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
)

// piece is a part of a stream: text to look at, of which [from, limit) is to be searched and the rest is there to be
// seen.
type piece struct {
	text        []byte
	from, limit int
	number      int64 // 0: the text begins with it
	base        int64 // where in the text it begins
}

// PieceSize is large enough that what two pieces have in common costs little beside searching them.
const PieceSize = 1 << 20

// Overlap is what two pieces have in common: either sees as far beyond the border between them as records reach.
const Overlap = 2 * record.Reach

// ScanParallel is Scan with a goroutine for each Recorder. Which of them calls back with an identifier is left to
// chance; all of them together find what one would find.
func ScanParallel(ctx context.Context, r io.Reader, name string, recorders []*Recorder) (int64, error) {
	counted := &CountingReader{Source: r}
	text, mail := decodedMail(counted)
	pieces := &Pieces{
		r:     text,
		size:  PieceSize,
		about: about{name: name, mail: mail},
		chain: newChain(0, record.State{}),
	}
	_, err := pieces.Scan(ctx, math.MaxInt64, recorders)
	return counted.Count, err
}

// Splittable reports whether a text that begins like this may be scanned from its middle: it is not in need of
// decoding.
func Splittable(start []byte) bool { return !encoded(start[:min(len(start), sniffed)]) }

// Place is where in a text to begin: with which piece, and what those before it said.
type Place struct {
	Name  string // of the file, with its folders
	First int64
	State record.State
}

// Pieces is a text, which needs no decoding, cut into pieces that are searched by themselves. Where piece n is depends
// on the size of pieces alone: it is bytes n*size to (n+1)*size+Overlap, less where the text ends. So the same pieces
// are found by a reader of all of the text and by one that goes on in its middle, and all pieces together find the same
// however they are shared out.
type Pieces struct {
	r       io.Reader
	mapped  []byte               // the text as a whole, if it is in memory
	touch   func(from, to int64) // is told of what is taken from it
	size    int64
	overlap [Overlap]byte
	kept    int
	number  int64 // of the next piece
	ended   bool
	about   about
	chain   *chain
}

// NewPieces cuts r, which begins with the first piece that is wanted.
func NewPieces(r io.Reader, size int64, from Place) *Pieces {
	return &Pieces{
		r:      r,
		size:   size,
		number: from.First,
		about:  about{name: from.Name, sql: from.State.IsDump},
		chain:  newChain(from.First, from.State),
	}
}

// NewMappedPieces cuts a text that is in memory as a whole, without copying it. touch is called with where in the
// text lies what each piece adds, before that is searched.
func NewMappedPieces(text []byte, size int64, from Place, touch func(from, to int64)) *Pieces {
	p := NewPieces(nil, size, from)
	p.mapped, p.touch = text, touch
	return p
}

// State returns what the pieces so far say of the rows of the next one.
func (p *Pieces) State() record.State { return p.chain.before(p.number) }

// Scan searches the next n pieces with a goroutine for each Recorder, and says whether there are more. Each goroutine
// reads its pieces itself, one after the other, so that it searches what is still in the cache of its own core.
func (p *Pieces) Scan(ctx context.Context, n int64, recorders []*Recorder) (more bool, err error) {
	group, ctx := errgroup.WithContext(ctx)
	var reading sync.Mutex
	for _, r := range recorders {
		group.Go(func() error {
			for {
				reading.Lock()
				left := n > 0 && !p.ended
				n--
				var next piece
				var err error
				if left {
					next, err = p.cut(ctx, r)
				}
				reading.Unlock()
				if !left {
					return nil
				}
				r.tell(next, &p.about, p.chain)
				if err != nil {
					return err
				}
			}
		})
	}
	err = group.Wait()
	return !p.ended, err
}

// cut reads the next piece. Pieces overlap on both sides, so that each can be searched without the others. What came
// before an error is a piece too.
func (p *Pieces) cut(ctx context.Context, r *Recorder) (piece, error) {
	next := piece{number: p.number, base: p.number * p.size}
	p.number++
	if err := ctx.Err(); err != nil {
		p.ended = true
		return next, err
	}
	var err error
	if p.mapped != nil {
		size, end := int64(len(p.mapped)), next.base+p.size+Overlap
		if next.text = p.mapped[min(next.base, size):min(end, size)]; end > size {
			err = io.EOF
		}
		p.touch(min(next.base+int64(p.kept), size), min(end, size))
	} else {
		var n int
		buf := r.room(p.size)
		copy(buf, p.overlap[:p.kept])
		n, err = FillBuffer(p.r, buf[p.kept:])
		next.text = buf[:p.kept+n]
	}
	next.limit = len(next.text) - record.Reach
	if next.number > 0 {
		next.from = min(record.Reach, len(next.text))
	} else {
		p.about.sql = record.IsSQL(next.text)
	}
	if err == nil {
		if p.kept = Overlap; p.mapped == nil {
			copy(p.overlap[:], next.text[len(next.text)-Overlap:])
		}
		return next, nil
	}
	p.ended = true
	next.limit = len(next.text)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return next, err
}
