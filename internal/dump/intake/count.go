package intake

import (
	"bytes"
	"context"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Counted is how often a value stands in a dump.
type Counted struct {
	// Records hold the value, each counted once. Loose counts the places where it stands in no record that could be
	// told.
	Records, Loose int64
	// Skips are inputs, or members of archives, that could not be read to their end; the first hundred of them.
	Skips []container.Skip
}

// FingerprintOf returns the keyed fingerprint under which a value stands in segments.
func (im *Importer) FingerprintOf(kind identifier.Kind, value string) (uint64, error) {
	normal, err := identifier.ParseValue(kind, value, identifier.Required)
	if err != nil {
		return 0, err
	}
	return im.Fingerprint(byte(kind), identifier.MatchForm(kind, normal)), nil
}

// CountValue searches the inputs, as an import does, for the records that hold a value, and writes nothing. How many
// records held a value is not stored anywhere, so the caller must still have the dump.
func (im *Importer) CountValue(ctx context.Context, spec Spec, kind identifier.Kind, value string) (Counted, error) {
	normal, err := identifier.ParseValue(kind, value, identifier.Required)
	if err != nil {
		return Counted{}, err
	}
	form := identifier.MatchForm(kind, normal)
	if len(spec.Inputs) == 0 {
		return Counted{}, ErrInput.With("inputs", fault.NoFile)
	}
	run := newImportRun(im, &work{noPairs: true}, spec)
	counters := make([]counter, len(run.workers))
	for i, w := range run.workers {
		counters[i] = counter{kind: kind, form: form}
		w.found = counters[i].countSighting
	}
	stop := run.watchProgress()
	defer stop()
	err = run.scanInputs(ctx, run.discardKeys)
	all := Counted{Skips: run.skips}
	for i := range counters {
		all.Records += counters[i].records
		all.Loose += counters[i].loose
	}
	return all, err
}

// counter counts the records of one worker that hold a value.
type counter struct {
	kind           identifier.Kind
	form, room     []byte
	counted        bool // the record at hand was
	records, loose int64
}

// countSighting takes a sighting. Those of a record come together.
func (c *counter) countSighting(s *reader.Sighting) {
	if s.First {
		c.counted = false
	}
	if s.Kind != c.kind {
		return
	}
	normal := s.Normal
	if s.Kind == identifier.Email {
		box, spelling := identifier.AppendMailbox(c.room[:0], normal)
		if normal = box; spelling != 0 {
			c.room = box
		}
	}
	switch {
	case !bytes.Equal(normal, c.form):
	case !s.Told:
		c.loose++
	case !c.counted: // else it stands there twice
		c.records, c.counted = c.records+1, true
	}
}
