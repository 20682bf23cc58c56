package intake

import (
	"time"

	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/job"
)

// Progress is how far an import has come.
type Progress struct {
	// Read and Total are bytes of the inputs; Total is 0 when it is not known.
	Read, Total int64
	// Scanned is bytes after unpacking, Resumed those that an earlier run had already done.
	Scanned, Resumed int64
	// Before is which of the bytes read an earlier run had read.
	Before int64
	// Found counts sightings by kind, each as often as it was met; Distinct, once it is all over, those that differ.
	Found    map[string]int64
	Distinct int64
	// Merging says that reading is over and the segment is being put together.
	Merging bool
	Elapsed time.Duration
	Input   string
}

// CurrentPace returns how fast it goes.
func (p Progress) CurrentPace() job.Pace {
	return job.EstimatePace(p.Read, p.Before, p.Total, p.Elapsed)
}

// Ended returns the last word on an import: the figures of its breach, so that no page tells two numbers of one thing.
func (p Progress) Ended(t leak.Tally) Progress {
	p.Read, p.Scanned, p.Found, p.Distinct, p.Merging = t.Bytes, t.Scanned, t.Found, t.Distinct, false
	if p.Total > 0 {
		p.Total = p.Read
	}
	return p
}
