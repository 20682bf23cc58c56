package scan

import (
	"context"
	"errors"
	"io"
	"math"

	"golang.org/x/sync/errgroup"
)

// piece is a part of a stream: text to look at, of which [from, limit) is to be searched and the rest is there to be seen.
type piece struct {
	text        []byte
	from, limit int
}

// PieceSize is large enough that handing a piece over costs nothing beside searching it.
const PieceSize = 1 << 20

// Overlap is what two pieces have in common: either sees a margin beyond the border between them.
const Overlap = 2 * margin

// ScanParallel is Scan with a goroutine for each of found, each of which is called by its own goroutine only. Which of them receives an identifier
// is left to chance; all of them together receive what one Scanner would find.
func ScanParallel(ctx context.Context, r io.Reader, found []Found) (int64, error) {
	counted := &countingReader{r: r}
	_, err := NewPieces(decoded(counted), PieceSize, false).Scan(ctx, math.MaxInt64, found)
	return counted.n, err
}

// Splittable says whether a file that begins like this may be scanned from its middle: it is neither packed nor in need of decoding.
func Splittable(start []byte) bool {
	start = start[:min(len(start), sniffed)]
	return sniff(start) == plain && !encoded(start)
}

// Pieces is a text, which needs no decoding, cut into pieces that are searched by themselves. Where piece n is depends on the size of pieces alone:
// it is bytes n*size to (n+1)*size+Overlap, less where the text ends. So the same pieces are found by whoever reads all of the text, goes on in its
// middle, or reads no more than that range, and all pieces together find the same however they are shared out.
type Pieces struct {
	r       io.Reader
	size    int64
	overlap [Overlap]byte
	kept    int
	inside  bool // the next piece is not the first of the text
}

// NewPieces cuts r. inside says that r begins with another piece than the first.
func NewPieces(r io.Reader, size int64, inside bool) *Pieces {
	return &Pieces{r: r, size: size, inside: inside}
}

// Scan searches the next n pieces with a goroutine for each of found, and says whether there are more.
func (p *Pieces) Scan(ctx context.Context, n int64, found []Found) (more bool, err error) {
	group, ctx := errgroup.WithContext(ctx)
	full, empty := make(chan piece), make(chan []byte, len(found)+1)
	for range cap(empty) {
		empty <- make([]byte, p.size+Overlap)
	}
	group.Go(func() error {
		defer close(full)
		var err error
		more, err = p.cut(ctx, n, full, empty)
		return err
	})
	for _, f := range found {
		group.Go(func() error {
			s := NewScanner(f)
			for p := range full {
				s.extract(&window{b: p.text, from: p.from}, p.limit)
				empty <- p.text[:cap(p.text)]
			}
			return nil
		})
	}
	err = group.Wait()
	return more, err
}

// cut reads n pieces, which overlap by a margin on both sides, so that each can be searched without the others.
func (p *Pieces) cut(ctx context.Context, n int64, full chan<- piece, empty <-chan []byte) (more bool, err error) {
	for ; n > 0; n-- {
		var text []byte
		select {
		case text = <-empty:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		copy(text, p.overlap[:p.kept])
		n, err := fill(p.r, text[p.kept:])
		next := piece{text: text[:p.kept+n]}
		next.limit = len(next.text) - margin
		if p.inside {
			next.from = min(margin, len(next.text))
		}
		if err != nil {
			next.limit = len(next.text)
		} else {
			p.kept, p.inside = copy(p.overlap[:], next.text[len(next.text)-Overlap:]), true
		}
		select {
		case full <- next:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}
