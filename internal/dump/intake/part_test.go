package intake

import (
	"testing"
	"time"
)

// TestPartsAreWorthKeeping: what is quickly scanned again is not kept, unless it is a lot; what a test asks for is.
func TestPartsAreWorthKeeping(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		asked, scanned int64
		took           time.Duration
		want           bool
	}{
		{0, 1 << 30, 29 * time.Second, false},
		{0, 1 << 30, 30 * time.Second, true},
		{0, 1<<30 - 1, time.Hour, false},
		{0, 8<<30 - 1, time.Second, false},
		{0, 8 << 30, time.Second, true},
		{500, 499, time.Hour, false},
		{500, 500, 0, true},
	} {
		im := &Importer{PartBytes: c.asked, Now: func() time.Time { return now }}
		if im.worthKeeping(c.scanned, now.Add(-c.took)) != c.want {
			t.Errorf("%+v", c)
		}
	}
}
