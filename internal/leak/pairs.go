package leak

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
)

// Pairs computes keys of pairs; seal.Keys does.
type Pairs interface {
	// PairFingerprint is the key of a value, by its fingerprint, and a password, by the first 40 bits of its SHA-1.
	PairFingerprint(fingerprint, password uint64) uint64
	// PairRange is the range in which all pairs of a value are.
	PairRange(fingerprint uint64) (first, last uint64)
}

// CountPairs tells how many pairs of a value and a password are open.
func (l *Library) CountPairs() (keys uint64) {
	if s := l.current.Load(); s != nil {
		for _, v := range s.segments {
			if v.pairs != nil {
				keys += v.pairs.Count()
			}
		}
	}
	return keys
}

// HoldsPair reports whether a published breach holds one of the values together with the password. It follows what was
// published up to now, by another process too: people ask right after an alert. Where not every breach could be asked,
// and none that was holds it, the answer is cyber.ErrNotAsked.
func (l *Library) HoldsPair(ctx context.Context, fingerprints []uint64, password uint64) (bool, error) {
	unloaded := l.LoadPublished(ctx)
	for range 2 { // as in ProbeFingerprint
		s := l.current.Load()
		if s == nil {
			break
		}
		held, err := s.holdsPair(l.pairs, fingerprints, password)
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

// holdsPair reports whether a breach of the snapshot holds the pair.
func (s *snapshot) holdsPair(keys Pairs, fingerprints []uint64, password uint64) (bool, error) {
	for _, f := range fingerprints {
		key := keys.PairFingerprint(f, password)
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
