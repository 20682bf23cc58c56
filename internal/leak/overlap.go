package leak

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/corpus/segment"
)

// LargestOverlap names the breach that shares most with this one; of equals the first by name.
func (m Measured) LargestOverlap() (breach string, values int64) {
	for name, n := range m.From {
		if n > values || n == values && name < breach {
			breach, values = name, n
		}
	}
	return breach, values
}

// measureOverlap counts what is new in a breach. Only breaches published before it count, so that a
// repetition gives the same.
func (m *Matcher) measureOverlap(ctx context.Context, breach Record, r *segment.Reader) (err error) {
	if breach.Tally.Measured != nil {
		return nil
	}
	segments, _, err := m.store.ListSegments(ctx) // in the order of publication
	if err != nil {
		return err
	}
	var names []string
	var earlier []*segment.Reader
	defer func() {
		for _, e := range earlier {
			err = errors.Join(err, e.Close())
		}
	}()
	for _, g := range segments {
		if g.Breach == breach.Name {
			break
		}
		e, err := m.files.Open(ctx, g.File, g.Digest)
		if err != nil {
			return fmt.Errorf("measure with %s: %w", g.Breach, err)
		}
		names, earlier = append(names, g.Breach), append(earlier, e)
	}
	counted, err := r.CompareWith(ctx, earlier)
	if err != nil {
		return fmt.Errorf("overlap of %s: %w", breach.Name, err)
	}
	measured := Measured{Known: int64(counted.Any), From: map[string]int64{}}
	for i, n := range counted.Each {
		if n > 0 {
			measured.From[names[i]] = int64(n)
		}
	}
	t := breach.Tally
	t.Measured = &measured
	return m.store.KeepTally(ctx, breach.Name, breach.Digest, t)
}
