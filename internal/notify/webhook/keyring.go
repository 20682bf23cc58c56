package webhook

import (
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// RotationOverlap is how long a replaced key goes on signing beside the new one, unless the operator cuts it short.
const RotationOverlap = 24 * time.Hour

// maxKeys bounds the keys of one scheme that sign at the same time, and with it the size of the header.
const maxKeys = 5

// DatedKey is a key of an endpoint and the time it stops signing; the zero time means it is the current one.
type DatedKey struct {
	Key   Key
	Until time.Time
}

// Keyring holds the keys of one endpoint, newest first: at most one current key of each scheme, and replaced ones.
type Keyring []DatedKey

// RotateKey returns a ring in which next is the current key of its scheme and the one before it signs for overlap more
// (zero: not at all, for a key known to be stolen). Keys of the other scheme stay as they are. Too many rotations
// within one overlap are refused rather than cutting the promised time of an earlier key.
func (r Keyring) RotateKey(next Key, now time.Time, overlap time.Duration) (Keyring, error) {
	ring := Keyring{{Key: next}}
	same := 1
	for _, k := range r {
		if k.Key.Scheme() == next.Scheme() {
			if end := now.Add(overlap); k.Until.IsZero() || k.Until.After(end) {
				k.Until = end
			}
		}
		if !k.isLiveAt(now) {
			continue
		}
		if k.Key.Scheme() == next.Scheme() {
			same++
		}
		ring = append(ring, k)
	}
	if same > maxKeys {
		return nil, ErrTooMany.With("overlap", fault.KeysValidAtOnce, maxKeys)
	}
	return ring, nil
}

// LiveKeys returns the keys that sign at now, newest first.
func (r Keyring) LiveKeys(now time.Time) []Key {
	keys := make([]Key, 0, len(r))
	for _, k := range r {
		if k.isLiveAt(now) {
			keys = append(keys, k.Key)
		}
	}
	return keys
}

// isLiveAt reports whether the key signs at now.
func (k DatedKey) isLiveAt(now time.Time) bool { return k.Until.IsZero() || now.Before(k.Until) }
