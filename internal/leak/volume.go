package leak

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
)

// volume is what is read of one breach: its identifiers and, if it has any, its pairs.
type volume struct {
	reader, pairs *segment.Reader
	keys          Pairs
}

// openVolume opens what is published of a breach.
func (m *Matcher) openVolume(ctx context.Context, breach Record) (v volume, err error) {
	v.keys = m.pairs
	if v.reader, err = m.files.Open(ctx, breach.Segment, breach.Digest); err != nil || breach.Pairs == "" {
		return v, err
	}
	if v.pairs, err = m.files.Open(ctx, breach.Pairs, breach.PairsDigest); err != nil {
		return v, errors.Join(err, v.reader.Close())
	}
	return v, nil
}

// closeFiles lets go of both.
func (v volume) closeFiles() error {
	err := v.reader.Close()
	if v.pairs != nil {
		err = errors.Join(err, v.pairs.Close())
	}
	return err
}

// traceValue returns what the records of the breach say of a value. A segment of the old kind, without labels, has no
// such facts.
func (v volume) traceValue(fingerprint uint64) (h Held, err error) {
	label, found, err := v.reader.LookUp(fingerprint)
	if err != nil || !found {
		return h, err
	}
	h.Found = true
	h.Trace, err = v.traceOfLabel(fingerprint, label)
	return h, err
}

// findHits returns those values that the breach holds, with what its records say of them.
func (v volume) findHits(breach string, values []Candidate) ([]Hit, error) {
	hits := make([]Hit, 0, len(values))
	for _, c := range values {
		held, err := v.traceValue(c.Fingerprint)
		if err != nil {
			return nil, err
		}
		if held.Found {
			hits = append(hits, Hit{Asset: c.Asset, Seen: cyber.Seen{Breach: breach, Trace: held.Trace}})
		}
	}
	return hits, nil
}

func (v volume) traceOfLabel(fingerprint uint64, id segment.LabelID) (cyber.Trace, error) {
	text, err := v.reader.LabelBytes(id)
	if err != nil {
		return cyber.Trace{}, err
	}
	label, err := ParseLabel(text)
	if err != nil {
		return cyber.Trace{}, fmt.Errorf("label of a segment: %w", err)
	}
	t := label.TraceOfLabel()
	if v.pairs != nil && t.Classes&passwordClass != 0 {
		if t.Passwords, err = v.passwords(fingerprint); err != nil {
			return cyber.Trace{}, fmt.Errorf("pairs of a segment: %w", err)
		}
	}
	return t, nil
}

// passwordClass is what a credential exposes at least.
var passwordClass = cyber.NewClasses([]cyber.Exposed{cyber.ExposedPassword})

// mostPasswords bounds the passwords known of one value in one breach: an address with more is not one person's.
const mostPasswords = 256

// passwords tells apart those that stood beside a value; nil when there are none, or too many.
func (v volume) passwords(fingerprint uint64) (tags []uint32, err error) {
	first, last := v.keys.PairRange(fingerprint)
	for key, err := range v.pairs.KeysInRange(first, last) {
		if err != nil {
			return nil, err
		}
		if len(tags) == mostPasswords {
			return nil, nil
		}
		tags = append(tags, uint32(key-first))
	}
	return tags, nil
}
