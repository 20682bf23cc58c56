package leak

import (
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/scan/record"
	"github.com/vigiahq/vigia/internal/segment"
)

// Trace is the label in the words of the rules.
func (l Label) Trace() cyber.Trace {
	return cyber.Trace{Told: l.Told(), Classes: cyber.Classes(l.Classes), Sites: l.Sites, Day: l.Day}
}

// LabelOf undoes Trace.
func LabelOf(t cyber.Trace) Label {
	return Label{Classes: record.Classes(t.Classes), Sites: t.Sites, Day: t.Day}
}

// tracer reads traces from a segment. In one of the old kind nothing is told of anybody.
func tracer(r *segment.Reader) Tracer {
	return func(fingerprint uint64) (cyber.Trace, error) {
		label, found, err := r.LookUp(fingerprint)
		if err != nil || !found {
			return cyber.Trace{}, err
		}
		return traceOf(r, label)
	}
}

func traceOf(r *segment.Reader, id segment.LabelID) (cyber.Trace, error) {
	text, err := r.Label(id)
	if err != nil {
		return cyber.Trace{}, err
	}
	label, err := ParseLabel(text)
	if err != nil {
		return cyber.Trace{}, fmt.Errorf("label of a segment: %w", err)
	}
	return label.Trace(), nil
}
