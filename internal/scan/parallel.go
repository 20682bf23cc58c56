package scan

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"
)

// piece is a part of a stream: text to look at, of which [from, limit) is to be searched and the rest is there to be seen.
type piece struct {
	text        []byte
	from, limit int
}

// pieceSize is large enough that handing a piece over costs nothing beside searching it.
const pieceSize = 1 << 20

// ScanParallel is Scan with a goroutine for each of found, each of which is called by its own goroutine only. Which of them receives an identifier
// is left to chance; all of them together receive what one Scanner would find.
func ScanParallel(ctx context.Context, r io.Reader, found []Found) (int64, error) {
	counted := &countingReader{r: r}
	group, ctx := errgroup.WithContext(ctx)
	full, empty := make(chan piece), make(chan []byte, len(found)+1)
	for range cap(empty) {
		empty <- make([]byte, pieceSize+2*margin)
	}
	group.Go(func() error {
		defer close(full)
		return cut(ctx, decoded(counted), full, empty)
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
	err := group.Wait()
	return counted.n, err
}

// cut reads r into pieces that overlap by a margin on both sides, so that each can be searched without the others.
func cut(ctx context.Context, r io.Reader, full chan<- piece, empty <-chan []byte) error {
	var overlap [2 * margin]byte
	for kept := 0; ; {
		var text []byte
		select {
		case text = <-empty:
		case <-ctx.Done():
			return ctx.Err()
		}
		copy(text, overlap[:kept])
		n, err := fill(r, text[kept:])
		last := err != nil
		p := piece{text: text[:kept+n], from: max(0, kept-margin), limit: kept + n - margin}
		if last {
			p.limit = len(p.text)
		} else {
			kept = copy(overlap[:], p.text[len(p.text)-len(overlap):])
		}
		select {
		case full <- p:
		case <-ctx.Done():
			return ctx.Err()
		}
		if last {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
