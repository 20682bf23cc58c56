package app

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/sqldb"
)

// clock is the time that replicas agree on: leases, due times and the ends of keys and links are rows that one process
// writes and another one judges. On PostgreSQL it is the server's time, read now and then; in between this process's
// own clock goes on from there.
type clock struct {
	own    func() time.Time
	offset atomic.Int64 // nanoseconds
}

const (
	// clockSlack is by how much the clocks may differ before this process's own is corrected: machines that keep their
	// time use their own, and the way to the database is not mistaken for a difference.
	clockSlack = 500 * time.Millisecond
	// clockEvery is how often they are compared, and clockNews what is worth a line in the log.
	clockEvery = 10 * time.Second
	clockNews  = 2 * time.Second
)

// adjustedNow returns the database's time as far as it is known.
func (c *clock) adjustedNow() time.Time { return c.own().Add(time.Duration(c.offset.Load())) }

// followClock compares this process's clock with the database's and returns by how much it was off beyond what was
// known, or zero.
func (a *App) followClock(ctx context.Context) (time.Duration, error) {
	if a.clock == nil || a.Engine != sqldb.PostgreSQL {
		return 0, nil
	}
	before := a.clock.own()
	server, err := a.Store.ServerTime(ctx)
	if err != nil {
		return 0, err
	}
	took := a.clock.own().Sub(before)
	if took > clockSlack { // who knows when in that time it was read
		return 0, nil
	}
	offset := server.Sub(before.Add(took / 2))
	change := offset - time.Duration(a.clock.offset.Load())
	if change.Abs() < clockSlack {
		return 0, nil
	}
	a.clock.offset.Store(int64(offset))
	return change, nil
}

// watchClock keeps following. A database that does not answer leaves the last correction in place.
func (s *Server) watchClock(ctx context.Context) {
	runEvery(ctx, clockEvery, func() {
		if change, err := s.app.followClock(ctx); err == nil && change.Abs() >= clockNews {
			s.log.Warn("the clocks of this machine and of the database differ: the database's is used; keep both by NTP", "seconds", change.Seconds())
		}
	})
}
