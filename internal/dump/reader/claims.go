package reader

import (
	"errors"
	"math"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/scan"
)

// claims bounds what a reader says of itself by what its parent knows: the sizes of the inputs and the limits of
// unpacking. Time and output are granted for progress, so a reader that was taken over must not be able to claim any.
type claims struct {
	limits container.Limits
	// ordered is how many inputs there were, and from where the one at hand begins.
	ordered int64
	from    Cursor
	// size is that of the input at hand; earlier is what may be said of those before it.
	size    int64
	earlier bounds
}

// bounds is the most that may be said of inputs.
type bounds struct{ read, scanned, streams int64 }

// readsOfInput is how often an input may be read and still count as progress: directories of archives are read first,
// and an encrypted member is read once for each password.
const readsOfInput = 16

// errClaim ends a reader that says what cannot be.
var errClaim = errors.New("reader: it claims what cannot be")

// beginInput takes up the next input. The size of one that can only be read on grows by what is served.
func (c *claims) beginInput(from Cursor, size int64) {
	c.earlier = c.most()
	c.ordered++
	c.from, c.size = from, max(0, size)
}

// most returns the bounds of all inputs so far.
func (c *claims) most() bounds {
	if c.ordered == 0 {
		return bounds{}
	}
	return bounds{
		read:    addUpTo(c.earlier.read, c.size),
		scanned: addUpTo(addUpTo(c.earlier.scanned, c.size), c.limits.MostUnpacked(c.size)),
		streams: addUpTo(c.earlier.streams, c.limits.MostEntries()),
	}
}

// addUpTo adds two sizes; a sum that does not fit is the largest there is.
func addUpTo(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// checkCounters returns what is believed of counters, and how much progress that is.
func (c *claims) checkCounters(told Counters) (believed Counters, progress int64, err error) {
	// What was read with the span before is taken off when a reader goes on in the middle of a text.
	if told.Read < 0 || told.Scanned < -scan.Overlap || told.Streams < 0 {
		return Counters{}, 0, errClaim
	}
	most := c.most()
	believed = Counters{
		Read:    min(told.Read, most.read),
		Scanned: min(told.Scanned, most.scanned),
		Streams: min(told.Streams, most.streams),
	}
	repeated := told.Read
	if most.read < math.MaxInt64/readsOfInput {
		repeated = min(told.Read, readsOfInput*most.read)
	}
	return believed, addUpTo(repeated, max(0, believed.Scanned)), nil
}

// checkCheckpoint refuses a place that is not in the input at hand nor right behind it, and bounds its counters.
func (c *claims) checkCheckpoint(k *Checkpoint) (progress int64, err error) {
	last := c.from.Input
	if c.ordered > 0 {
		last++
	}
	at := k.At
	if at.Done || at.Input < c.from.Input || at.Input > last || at.Stream < 0 || at.Span < 0 {
		return 0, errClaim
	}
	k.Counters, progress, err = c.checkCounters(k.Counters)
	return progress, err
}

// mostSkips is more than a report names: a hundred members, a hundred lines and the input itself.
const mostSkips = 256

// checkReport refuses figures that cannot be those of the input at hand.
func (c *claims) checkReport(r *Report) error {
	most := c.most()
	figures := []int64{r.Entries, r.Bytes, r.Unknown, r.Skipped - int64(len(r.Skips))}
	if r.Records != nil {
		figures = append(figures, r.Records.Records, r.Records.Wrong, r.Records.LeftOut)
	}
	for _, figure := range figures {
		if figure < 0 || figure > addUpTo(most.scanned, most.streams) {
			return errClaim
		}
	}
	if len(r.Skips) > mostSkips {
		return errClaim
	}
	return nil
}
