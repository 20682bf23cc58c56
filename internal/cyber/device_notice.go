package cyber

import (
	"context"
	"time"
)

// warnings are how long before its end a key's partner is told, longest first.
var warnings = [...]time.Duration{30 * 24 * time.Hour, 7 * 24 * time.Hour}

// NextNotice returns when a key that ends at end is next due: at the next warning before its end, or at its end. No
// warning is sent at the moment a key is issued: a key of 20 days is announced once, 7 days ahead.
func NextNotice(now, end time.Time) time.Time {
	for _, ahead := range warnings {
		if at := end.Add(-ahead); at.After(now) {
			return at
		}
	}
	return end
}

// Notice is what becomes of a key whose notice is due.
type Notice struct {
	// Tell is whether the partner hears now that it ends soon, Over whether it has ended; Next when it is looked at
	// again.
	Tell, Over bool
	Next       time.Time
}

func DecideNotice(d Device, now time.Time) Notice {
	if !d.IsLiveAt(now) {
		return Notice{Over: true}
	}
	return Notice{Tell: true, Next: NextNotice(now, d.ValidUntil)}
}

// GiveNotices tells partners of keys that end soon, and ends those whose time is over; the row of a key remembers what
// was told.
func (e *Endpoints) GiveNotices(ctx context.Context) (int, error) {
	return e.store.GiveNotices(ctx, DecideNotice)
}
