package segment

import (
	"context"
	"slices"
	"sync"
)

// digits is a source that gives all keys of a spill, digit by digit. While the keys of one are taken, those of the next
// ones are read and sorted by other goroutines.
type digits[R record] struct {
	spill *spill[R]
	unite unite
	limit int // keys that are held to sort one digit
	order chan chan batch[R]
	free  chan *digitBuffer[R]
	taken *digitBuffer[R] // holds the keys that were given last
	stop  context.CancelFunc
	busy  sync.WaitGroup
}

type batch[R record] struct {
	keys   []R
	buffer *digitBuffer[R]
	err    error
}

type digitBuffer[R record] struct {
	readBuffer[R]
	keys, sorted []R
	places       fineDigits
}

// newDigits begins to read. Memory for limit keys, twice, is used at most; close must be called in the end.
func newDigits[R record](ctx context.Context, s *spill[R], unite unite, limit, cores int) *digits[R] {
	largest := 1
	for d := range 1 << s.digit {
		if n := s.count(d); n <= limit {
			largest = max(largest, n)
		}
	}
	ahead := max(1, min(cores+1, limit/largest))
	ctx, stop := context.WithCancel(ctx) //nolint:gosec // close calls it
	d := &digits[R]{
		spill: s, unite: unite, limit: limit, order: make(chan chan batch[R], ahead), free: make(chan *digitBuffer[R], ahead), stop: stop,
	}
	for range ahead {
		d.free <- &digitBuffer[R]{}
	}
	d.busy.Go(func() { d.run(ctx) })
	return d
}

// close ends the goroutines.
func (d *digits[R]) close() {
	d.stop()
	d.busy.Wait()
}

func (d *digits[R]) more() ([]R, error) {
	if d.taken != nil {
		d.free <- d.taken
		d.taken = nil
	}
	next, ok := <-d.order
	if !ok {
		return nil, nil
	}
	b := <-next
	d.taken = b.buffer
	return b.keys, b.err
}

// run gives out the digits, in order. It ends early when ctx does.
func (d *digits[R]) run(ctx context.Context) {
	defer close(d.order)
	for digit := range 1 << d.spill.digit {
		switch n := d.spill.count(digit); {
		case n > d.limit:
			if !d.large(ctx, digit) {
				return
			}
		case n > 0:
			buffer := d.buffer(ctx)
			if buffer == nil {
				return
			}
			next := make(chan batch[R], 1)
			d.order <- next // has room for as many as there are buffers
			d.busy.Go(func() {
				keys, err := d.sorted(digit, buffer)
				next <- batch[R]{keys, buffer, err}
			})
		}
	}
}

func (d *digits[R]) buffer(ctx context.Context) *digitBuffer[R] {
	select {
	case b := <-d.free:
		return b
	case <-ctx.Done():
		return nil
	}
}

// sorted reads the keys of a digit, of which there are not too many, and sorts them.
func (d *digits[R]) sorted(digit int, b *digitBuffer[R]) ([]R, error) {
	n := d.spill.count(digit)
	b.keys = slices.Grow(b.keys[:0], n)[:n]
	if err := d.spill.gather(digit, b.keys); err != nil {
		return nil, err
	}
	b.sorted = slices.Grow(b.sorted[:0], len(b.keys))[:len(b.keys)]
	sortPiece(b.sorted, b.keys, uint(d.spill.width)-d.spill.digit, &b.places)
	return compact(b.sorted, d.unite), nil
}

// large gives out a digit of more keys than may be held: the least ones of them first, then the least of those above,
// and so on, reading all of them each time. Only keys that are not evenly spread need it. It reports false when ctx has
// ended.
func (d *digits[R]) large(ctx context.Context, digit int) bool {
	var above *uint64
	for {
		buffer := d.buffer(ctx)
		if buffer == nil {
			return false
		}
		least := leastKeys[R]{limit: d.limit, unite: d.unite, above: above, keys: slices.Grow(buffer.keys[:0], d.limit)}
		err := d.spill.read(digit, &buffer.readBuffer, least.add)
		least.cut()
		buffer.keys = least.keys
		next := make(chan batch[R], 1)
		next <- batch[R]{least.keys, buffer, err}
		d.order <- next
		if err != nil || !least.dropped {
			return err == nil
		}
		last := least.keys[len(least.keys)-1][0]
		above = &last
	}
}

// leastKeys collects the least keys above one.
type leastKeys[R record] struct {
	limit   int // keys held at most
	unite   unite
	above   *uint64
	keys    []R
	dropped bool // there are more
}

func (l *leastKeys[R]) add(keys []R) {
	for _, k := range keys {
		if l.above != nil && k[0] <= *l.above || l.dropped && k[0] > l.keys[l.limit/2-1][0] {
			continue
		}
		if len(l.keys) >= l.limit {
			l.cut()
		}
		l.keys = append(l.keys, k)
	}
}

// cut sorts the keys and keeps the lower half of what may be held.
func (l *leastKeys[R]) cut() {
	slices.SortFunc(l.keys, compareKeys[R])
	l.keys = compact(l.keys, l.unite)
	if len(l.keys) > l.limit/2 {
		l.keys, l.dropped = l.keys[:l.limit/2], true
	}
}
