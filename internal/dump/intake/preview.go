package intake

import (
	"context"
	"errors"

	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
)

// Understood is a record as an import would understand it.
type Understood struct {
	Values  []UnderstoodValue
	Told    bool
	Classes record.Classes
	Site    string
	Day     int32
	// Password says that its password would be known to credential-check.
	Password bool
}

// UnderstoodValue is an identifier of a record.
type UnderstoodValue struct {
	Kind   identifier.Kind
	Normal string
}

// errEnough ends a preview.
var errEnough = errors.New("enough records were seen")

// previewBytes is how much is read after the last record that is shown, to count what is left out of smaller inputs.
const previewBytes = 16 << 20

// PreviewRecords reads the inputs, at least until it has seen so many records, and returns these. If it came to the end
// of the inputs, it also returns what was counted. It writes nothing and needs neither keys nor a store: of the
// importer only its clock and what it allows are used.
func (im *Importer) PreviewRecords(ctx context.Context, spec Spec, most int) ([]Understood, *leak.Tally, error) {
	preview := &Importer{
		Now:              im.Now,
		Workers:          1,
		Limits:           im.Limits,
		Budget:           im.Budget,
		ReaderUnconfined: im.ReaderUnconfined,
		Fingerprint:      func(byte, []byte) uint64 { return 0 },
	}
	run := newImportRun(preview, &work{}, spec)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var seen []Understood
	full := false
	run.workers[0].found = func(s *reader.Sighting) {
		if s.First || len(seen) == 0 {
			if full = len(seen) == most; full {
				if run.scanned.Load() > previewBytes {
					stop(errEnough)
				}
				return
			}
			seen = append(seen, Understood{Told: s.Told, Site: string(s.Site), Day: s.Day})
		} else if full {
			return
		}
		u := &seen[len(seen)-1]
		u.Values = append(u.Values, UnderstoodValue{Kind: s.Kind, Normal: string(s.Normal)})
		u.Classes, u.Password = u.Classes|s.Classes, u.Password || s.HasPassword
	}
	err := run.scanInputs(ctx, run.discardKeys)
	if errors.Is(err, errEnough) {
		return seen, nil, nil
	}
	return seen, &run.checked.Tally, err
}
