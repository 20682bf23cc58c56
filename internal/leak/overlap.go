package leak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/segment"
)

// ErrNotLoaded means that not every published segment is open, so that what is known cannot be counted.
var ErrNotLoaded = fault.New(fault.Unavailable, "breach.not_loaded")

// Overlap is how much of a breach others had before.
type Overlap struct {
	Keys  uint64 // of the breach
	Known uint64 // of them that at least one other has
	Each  []Shared
}

// Shared is how many keys a breach has in common with another.
type Shared struct {
	Breach string
	Keys   uint64
}

// Part is which part of the breach was known, from 0 to 1.
func (o Overlap) Part() float64 { return float64(o.Known) / float64(max(1, o.Keys)) }

// Overlap counts exactly what a segment has in common with every published one but that of its own breach. Each lists
// those with something in common, the most first.
func (l *Library) Overlap(ctx context.Context, breach string, r *segment.Reader) (Overlap, error) {
	for range 2 { // as in Probe
		s := l.current.Load()
		if s == nil || !s.whole {
			return Overlap{}, ErrNotLoaded
		}
		o, err := s.overlap(ctx, breach, r)
		if !errors.Is(err, segment.ErrClosed) {
			return o, err
		}
	}
	return Overlap{}, ErrNotLoaded
}

func (s *snapshot) overlap(ctx context.Context, breach string, r *segment.Reader) (Overlap, error) {
	var names []string
	var readers []*segment.Reader
	for _, v := range s.segments {
		if v.Breach != breach {
			names, readers = append(names, v.Breach), append(readers, v.reader)
		}
	}
	counted, err := r.Compare(ctx, readers)
	if err != nil {
		return Overlap{}, fmt.Errorf("overlap of %s: %w", breach, err)
	}
	o := Overlap{Keys: r.Count(), Known: counted.Any}
	for i, n := range counted.Each {
		if n > 0 {
			o.Each = append(o.Each, Shared{names[i], n})
		}
	}
	slices.SortFunc(o.Each, func(a, b Shared) int { return cmp.Or(cmp.Compare(b.Keys, a.Keys), cmp.Compare(a.Breach, b.Breach)) })
	return o, nil
}
