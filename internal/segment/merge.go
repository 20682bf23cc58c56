package segment

import (
	"context"
	"math/bits"
	"sort"
)

// source is a sorted sequence of keys that are merged.
type source[R record] interface {
	// more returns the next keys, which are valid until the next call, and none at the end.
	more() ([]R, error)
}

// sortedKeys is a source that is in memory.
type sortedKeys[R record] []R

func (s *sortedKeys[R]) more() ([]R, error) {
	keys := *s
	*s = nil
	return keys, nil
}

// mergeBatch is how many keys of a source are looked at together: so much of all of them stays in a cache.
const mergeBatch = 4096

// merge appends the union of the sources to out.
func merge[R record](ctx context.Context, out output[R], sources []source[R], unite unite) error {
	if len(sources) == 1 {
		return copyAll(ctx, out, sources[0])
	}
	m := &merger[R]{sources: sources, unite: unite, heads: make([][]R, len(sources))}
	var keys []R
	for {
		if err := m.fill(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil || len(m.sources) == 0 {
			return err
		}
		keys = m.next(keys)
		if err := out.add(keys); err != nil {
			return err
		}
	}
}

// copyAll appends the keys of one source to out.
func copyAll[R record](ctx context.Context, out output[R], s source[R]) error {
	for {
		keys, err := s.more()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := out.add(keys); err != nil {
			return err
		}
	}
}

// merger takes from all sources the keys up to the least of their last ones, which is all there can be of them, and
// unites these pair by pair. Keys are compared without branches: which of two random keys is less is a guess that fails
// every second time.
type merger[R record] struct {
	sources []source[R]
	unite   unite
	heads   [][]R // what was read of each and not yet taken
	parts   [][]R
	buf     [2][]R
}

// fill reads more of the sources of which nothing is left, and forgets those that have ended.
func (m *merger[R]) fill() error {
	n := 0
	for i, s := range m.sources {
		head := m.heads[i]
		if len(head) == 0 {
			var err error
			if head, err = s.more(); err != nil {
				return err
			}
		}
		if len(head) > 0 {
			m.sources[n], m.heads[n] = s, head
			n++
		}
	}
	m.sources, m.heads = m.sources[:n], m.heads[:n]
	return nil
}

// next returns the next keys, in dst if they fit.
func (m *merger[R]) next(dst []R) []R {
	upto := ^uint64(0)
	for _, head := range m.heads {
		upto = min(upto, head[min(len(head), mergeBatch)-1][0])
	}
	total := 0
	m.parts = m.parts[:0]
	for i, head := range m.heads {
		n := sort.Search(min(len(head), mergeBatch), func(k int) bool { return head[k][0] > upto })
		if n > 0 {
			m.parts, m.heads[i] = append(m.parts, head[:n]), head[n:]
			total += n
		}
	}
	for level := 0; len(m.parts) > 2; level++ {
		m.halve(&m.buf[level&1], total)
	}
	dst = room(dst, total)
	if len(m.parts) == 1 {
		return dst[:copy(dst, m.parts[0])]
	}
	return dst[:union(dst, m.parts[0], m.parts[1], m.unite)]
}

// halve unites the parts two by two, into buf.
func (m *merger[R]) halve(buf *[]R, total int) {
	*buf = room(*buf, total)
	free, n := *buf, 0
	for i := 0; i < len(m.parts); i, n = i+2, n+1 {
		var k int
		if i+1 < len(m.parts) {
			k = union(free, m.parts[i], m.parts[i+1], m.unite)
		} else {
			k = copy(free, m.parts[i]) // the buffer it lies in is the next to be written
		}
		m.parts[n], free = free[:k], free[k:]
	}
	m.parts = m.parts[:n]
}

// room returns b, or a larger one, at its full length, which is at least n.
func room[R record](b []R, n int) []R {
	if cap(b) < n {
		return make([]R, n+n/4)
	}
	return b[:cap(b)]
}

// union writes the union of a and b, both sorted, to dst and returns its length. What both have comes once.
func union[R record](dst, a, b []R, unite unite) int {
	i, j, n := 0, 0, 0
	dst = dst[:len(a)+len(b)]
	for i < len(a) && j < len(b) {
		x, y := a[i][0], b[j][0]
		_, less := bits.Sub64(x, y, 0)
		_, more := bits.Sub64(y, x, 0)
		if unite == nil { // no labels
			dst[n][0] = min(x, y)
		} else if less != 0 {
			dst[n] = a[i]
		} else {
			dst[n] = b[j]
			if more == 0 {
				dst[n] = united(a[i], b[j], unite)
			}
		}
		n++
		i += int(1 - more)
		j += int(1 - less)
	}
	n += copy(dst[n:], a[i:])
	return n + copy(dst[n:], b[j:])
}
