package segment

import (
	"context"
	"slices"
	"sync"
)

// digits is a source that gives all keys of a spill, digit by digit. While the keys of one are taken, those of the next
// ones are read and sorted by other goroutines.
type digits struct {
	spill *spill
	limit int // keys that are held to sort one digit
	order chan chan batch
	free  chan *digitBuffer
	taken *digitBuffer // holds the keys that were given last
	stop  context.CancelFunc
	busy  sync.WaitGroup
}

type batch struct {
	keys   []uint64
	buffer *digitBuffer
	err    error
}

type digitBuffer struct {
	readBuffer
	keys, sorted []uint64
}

// newDigits begins to read. Memory for limit keys, twice, is used at most; close must be called in the end.
func newDigits(ctx context.Context, s *spill, limit, cores int) *digits {
	largest := 1
	for d := range 1 << s.digit {
		if n := s.count(d); n <= limit {
			largest = max(largest, n)
		}
	}
	ahead := max(1, min(cores+1, limit/largest))
	ctx, stop := context.WithCancel(ctx)
	d := &digits{spill: s, limit: limit, order: make(chan chan batch, ahead), free: make(chan *digitBuffer, ahead), stop: stop}
	for range ahead {
		d.free <- &digitBuffer{}
	}
	d.busy.Go(func() { d.run(ctx) })
	return d
}

// close ends the goroutines.
func (d *digits) close() {
	d.stop()
	d.busy.Wait()
}

func (d *digits) more() ([]uint64, error) {
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
func (d *digits) run(ctx context.Context) {
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
			next := make(chan batch, 1)
			d.order <- next // has room for as many as there are buffers
			d.busy.Go(func() {
				keys, err := d.sorted(digit, buffer)
				next <- batch{keys, buffer, err}
			})
		}
	}
}

func (d *digits) buffer(ctx context.Context) *digitBuffer {
	select {
	case b := <-d.free:
		return b
	case <-ctx.Done():
		return nil
	}
}

// sorted reads the keys of a digit, of which there are not too many, and sorts them.
func (d *digits) sorted(digit int, b *digitBuffer) ([]uint64, error) {
	b.keys = b.keys[:0]
	if err := d.spill.read(digit, &b.readBuffer, func(keys []uint64) { b.keys = append(b.keys, keys...) }); err != nil {
		return nil, err
	}
	b.sorted = slices.Grow(b.sorted[:0], len(b.keys))[:len(b.keys)]
	sortPiece(b.sorted, b.keys, uint(d.spill.width)-d.spill.digit)
	return slices.Compact(b.sorted), nil
}

// large gives out a digit of more keys than may be held: the least ones of them first, then the least of those above,
// and so on, reading all of them each time. Only keys that are not evenly spread need it. It reports false when ctx has
// ended.
func (d *digits) large(ctx context.Context, digit int) bool {
	var above *uint64
	for {
		buffer := d.buffer(ctx)
		if buffer == nil {
			return false
		}
		least := leastKeys{limit: d.limit, above: above, keys: slices.Grow(buffer.keys[:0], d.limit)}
		err := d.spill.read(digit, &buffer.readBuffer, least.add)
		least.cut()
		buffer.keys = least.keys
		next := make(chan batch, 1)
		next <- batch{least.keys, buffer, err}
		d.order <- next
		if err != nil || !least.dropped {
			return err == nil
		}
		last := least.keys[len(least.keys)-1]
		above = &last
	}
}

// leastKeys collects the least keys above one.
type leastKeys struct {
	limit   int // keys held at most
	above   *uint64
	keys    []uint64
	dropped bool // there are more
}

func (l *leastKeys) add(keys []uint64) {
	for _, k := range keys {
		if l.above != nil && k <= *l.above || l.dropped && k > l.keys[l.limit/2-1] {
			continue
		}
		if len(l.keys) >= l.limit {
			l.cut()
		}
		l.keys = append(l.keys, k)
	}
}

// cut sorts the keys and keeps the lower half of what may be held.
func (l *leastKeys) cut() {
	slices.Sort(l.keys)
	l.keys = slices.Compact(l.keys)
	if len(l.keys) > l.limit/2 {
		l.keys, l.dropped = l.keys[:l.limit/2], true
	}
}
