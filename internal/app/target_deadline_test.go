package app

import (
	"net"
	"slices"
	"testing"
	"time"
)

// deadlines remembers what reaches the connection.
type deadlines struct {
	net.Conn
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// TestWriteDeadlineMovesWhenItMust holds what stays behind the wrapper to what net/http asked for: never later than
// asked, never more than a second earlier, and at once when it comes nearer.
func TestWriteDeadlineMovesWhenItMust(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	conn := &deadlines{}
	c := &targetConn{Conn: conn}
	for _, asked := range []time.Time{
		at(30 * time.Second), {}, // a first request
		at(30*time.Second + 999*time.Millisecond), {}, // one right after it
		at(31 * time.Second), {}, // one a second later
		at(10 * time.Minute), {}, // a large body
		at(32 * time.Second), // and a small one
	} {
		if err := c.SetWriteDeadline(asked); err != nil {
			t.Fatal(err)
		}
	}
	want := []time.Time{at(30 * time.Second), at(31 * time.Second), at(10 * time.Minute), at(32 * time.Second)}
	if !slices.Equal(conn.set, want) {
		t.Errorf("deadlines in force one after the other: %v, want %v", conn.set, want)
	}
}
