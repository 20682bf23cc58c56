package segment

import (
	"context"
	"math/bits"
	"sort"
)

// source is a sorted sequence of keys that are merged.
type source[R record] interface {
	// nextRecords returns the next keys, which are valid until the next call, and none at the end.
	nextRecords() ([]R, error)
}

// sortedKeys is a source that is in memory.
type sortedKeys[R record] []R

// nextRecords returns all keys at once, and nil from then on.
func (s *sortedKeys[R]) nextRecords() ([]R, error) {
	keys := *s
	*s = nil
	return keys, nil
}

// mergeBatch is how many keys of a source are looked at together: so much of all of them stays in a cache.
const mergeBatch = 4096

// mergeSources appends the union of the sources to out.
func mergeSources[R record](ctx context.Context, out output[R], sources []source[R], unite unite) error {
	if len(sources) == 1 {
		return copySource(ctx, out, sources[0])
	}
	m := &merger[R]{sources: sources, unite: unite, heads: make([][]R, len(sources))}
	var keys []R
	for {
		if err := m.refillSources(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil || len(m.sources) == 0 {
			return err
		}
		keys = m.nextKeys(keys)
		if err := out.addRecords(keys); err != nil {
			return err
		}
	}
}

// copySource appends the keys of one source to out.
func copySource[R record](ctx context.Context, out output[R], s source[R]) error {
	for {
		keys, err := s.nextRecords()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := out.addRecords(keys); err != nil {
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

// refillSources reads more of the sources of which nothing is left, and forgets those that have ended.
func (m *merger[R]) refillSources() error {
	n := 0
	for i, s := range m.sources {
		head := m.heads[i]
		if len(head) == 0 {
			var err error
			if head, err = s.nextRecords(); err != nil {
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

// nextKeys returns the next keys, in dst if they fit.
func (m *merger[R]) nextKeys(dst []R) []R {
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
		m.unitePairs(&m.buf[level&1], total)
	}
	dst = growTo(dst, total)
	if len(m.parts) == 1 {
		return dst[:copy(dst, m.parts[0])]
	}
	return dst[:mergeUnion(dst, m.parts[0], m.parts[1], m.unite)]
}

// unitePairs unites the parts two by two, into buf.
func (m *merger[R]) unitePairs(buf *[]R, total int) {
	*buf = growTo(*buf, total)
	free, n := *buf, 0
	for i := 0; i < len(m.parts); i, n = i+2, n+1 {
		var k int
		if i+1 < len(m.parts) {
			k = mergeUnion(free, m.parts[i], m.parts[i+1], m.unite)
		} else {
			k = copy(free, m.parts[i]) // the buffer it lies in is the next to be written
		}
		m.parts[n], free = free[:k], free[k:]
	}
	m.parts = m.parts[:n]
}

// growTo returns b, or a larger one, at its full length, which is at least n.
func growTo[R record](b []R, n int) []R {
	if cap(b) < n {
		return make([]R, n+n/4)
	}
	return b[:cap(b)]
}

// mergeUnion writes the union of a and b, both sorted, to dst and returns its length. What both have comes once.
func mergeUnion[R record](dst, a, b []R, unite unite) int {
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
				dst[n] = uniteRecords(a[i], b[j], unite)
			}
		}
		n++
		i += int(1 - more)
		j += int(1 - less)
	}
	n += copy(dst[n:], a[i:])
	return n + copy(dst[n:], b[j:])
}
