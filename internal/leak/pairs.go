package leak

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/segment"
)

// Pairs computes keys of pairs; seal.Keys does.
type Pairs interface {
	// Pair is the key of a value, by its fingerprint, and a password, by the first 40 bits of its SHA-1.
	Pair(fingerprint, password uint64) uint64
	// Pairs is the range in which all pairs of a value are.
	Pairs(fingerprint uint64) (first, last uint64)
}

// Holds reports whether a published breach holds one of the values together with the password. It follows what was
// published up to now, by another process too: people ask right after an alert. Where not every breach could be asked,
// and none that was holds it, the answer is cyber.ErrNotAsked.
func (l *Library) Holds(ctx context.Context, fingerprints []uint64, password uint64) (bool, error) {
	unloaded := l.Load(ctx)
	for range 2 { // as in Probe
		s := l.current.Load()
		if s == nil {
			break
		}
		held, err := s.holds(l.pairs, fingerprints, password)
		if errors.Is(err, segment.ErrClosed) {
			continue
		}
		if held || err == nil && s.whole && unloaded == nil {
			return held, nil
		}
		if err != nil {
			return false, cyber.ErrNotAsked.Because(err)
		}
		break
	}
	return false, cyber.ErrNotAsked.Because(unloaded)
}

func (s *snapshot) holds(keys Pairs, fingerprints []uint64, password uint64) (bool, error) {
	for _, f := range fingerprints {
		key := keys.Pair(f, password)
		for _, v := range s.segments {
			if v.pairs == nil {
				continue
			}
			held, err := v.pairs.Contains(key)
			if err != nil {
				return false, fmt.Errorf("pairs of breach %s: %w", v.Breach, err)
			}
			if held {
				return true, nil
			}
		}
	}
	return false, nil
}
