package app

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// machine is the clock of this machine in its two readings: what it shows, which people and programs may set, and how
// much time has passed, which nobody can.
type machine struct {
	wall    func() time.Time
	elapsed func() time.Duration
}

// processStart is when the process began, with the monotonic reading that time.Since goes by.
var processStart = time.Now()

// thisMachine returns the clock of the machine that the process runs on.
func thisMachine() machine {
	return machine{wall: func() time.Time { return time.Now().Round(0) }, elapsed: elapsedTime}
}

// clock is the time that all rows are judged by: leases, due times, and the ends of keys, links and subscriptions are
// written by one process and judged by another. It is what the database's server said last, and the time that has
// passed since; on the embedded database, which has no clock of its own, what this machine showed when the process
// began, and the time that has passed since. So a machine whose clock is wrong or is set decides nothing that is kept.
type clock struct {
	machine machine
	at      atomic.Pointer[instant]

	mu sync.Mutex
	// compared is whether the database's server was asked at least once.
	compared bool
	// doubted is how many comparisons in a row have found the database's clock set.
	doubted int
}

// instant is a time and how much had passed by then.
type instant struct {
	time    time.Time
	elapsed time.Duration
}

const (
	// clockSlack is by how much the database's time may differ from what is expected before it is followed: the way to
	// the database is not mistaken for a difference.
	clockSlack = 500 * time.Millisecond
	// clockJump is a difference that no drift explains: the clock of the database's machine was set, or another machine
	// answers. It is followed only when it has lasted for clockDoubts comparisons, since what ends by it ends for good.
	clockJump   = time.Minute
	clockDoubts = 3
	// clockEvery is how often the database is asked, and clockNews what is worth a line in the log.
	clockEvery = 10 * time.Second
	clockNews  = 2 * time.Second
)

// newClock begins at what the machine shows.
func newClock(m machine) *clock {
	c := &clock{machine: m}
	c.at.Store(&instant{m.wall(), m.elapsed()})
	return c
}

// now returns the agreed time.
func (c *clock) now() time.Time {
	at := c.at.Load()
	return at.time.Add(c.machine.elapsed() - at.elapsed)
}

// skew returns by how much the machine's clock is ahead of the agreed time.
func (c *clock) skew() time.Duration { return c.machine.wall().Sub(c.now()) }

// follow asks the database's server for its time. It returns by how much that differs from what was expected, or zero,
// and whether the clock goes by it from now on. The first answer is taken however long it took: it is off by half of
// that at most, and the machine's own clock by any time.
func (c *clock) follow(
	ctx context.Context,
	serverTime func(context.Context) (time.Time, error),
) (change time.Duration, followed bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.machine.elapsed()
	server, err := serverTime(ctx)
	if err != nil {
		return 0, false, err
	}
	took := c.machine.elapsed() - before
	if took > clockSlack && c.compared {
		return 0, false, nil
	}
	read := &instant{server, before + took/2}
	if !c.compared {
		c.compared = true
		c.at.Store(read)
		return 0, true, nil
	}
	known := c.at.Load()
	change = read.time.Sub(known.time.Add(read.elapsed - known.elapsed))
	if change.Abs() < clockSlack {
		c.doubted = 0
		return 0, false, nil
	}
	if change.Abs() >= clockJump {
		c.doubted++
		if c.doubted < clockDoubts {
			return change, false, nil
		}
	}
	c.doubted = 0
	c.at.Store(read)
	return change, true, nil
}

// Now returns the time that this installation goes by: see clock.
func (a *App) Now() time.Time { return a.now() }

// watchClock follows the database's clock, and tells when this machine's differs, from the start on. A database that
// does not answer leaves the clock as it is.
func (s *Server) watchClock(ctx context.Context) {
	c := s.app.clock
	if c == nil {
		return
	}
	s.metrics.RegisterCollectors(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vigia_clock_skew_seconds",
		Help: "By how much the clock of this machine is ahead of the time that the service goes by.",
	}, func() float64 { return c.skew().Seconds() }))
	watch := clockWatch{server: s, clock: c}
	runEvery(ctx, time.Second, func() { watch.runOnce(ctx) })
	if s.app.Engine == sqldb.SQLite { // nobody goes by the old time any more
		s.reportChore(ctx, "note of the clock", s.app.Store.Upkeep.NoteClockSkew(context.WithoutCancel(ctx), 0))
	}
}

// clockWatch is the chore that follows the clock and tells of differences.
type clockWatch struct {
	server *Server
	clock  *clock
	asked  time.Duration // when the database was asked last, by the time that has passed
	begun  bool
	told   time.Duration
}

// runOnce asks the database when it is time to, and tells of a difference that has changed.
func (w *clockWatch) runOnce(ctx context.Context) {
	engine := w.server.app.Engine
	if passed := w.clock.machine.elapsed(); engine == sqldb.PostgreSQL && (!w.begun || passed-w.asked >= clockEvery) {
		w.asked = passed
		w.askDatabase(ctx)
	}
	skew := w.clock.skew()
	news := (skew - w.told).Abs() >= clockNews
	if w.begun && !news {
		return
	}
	if engine == sqldb.SQLite { // for doctor, which cannot see the clock of another process
		w.server.reportChore(ctx, "note of the clock", w.server.app.Store.Upkeep.NoteClockSkew(ctx, skew))
	}
	w.begun = true
	if !news {
		return
	}
	w.told = skew
	switch {
	case skew.Abs() < clockNews:
		w.server.log.Info("the clock of this machine is right again")
	case engine == sqldb.PostgreSQL:
		w.server.log.Warn(
			"the clocks of this machine and of the database differ: the database's is used; keep both by NTP",
			"seconds", skew.Round(100*time.Millisecond).Seconds(),
		)
	default:
		w.server.log.Warn(
			"the clock of this machine was set: the service goes on by the time that has passed since its start; "+
				"restart it if the new time is right",
			"seconds", skew.Round(100*time.Millisecond).Seconds(),
		)
	}
}

// askDatabase compares the clock with the database's.
func (w *clockWatch) askDatabase(ctx context.Context) {
	change, followed, err := w.clock.follow(ctx, w.server.app.Store.ServerTime)
	if err != nil || change.Abs() < clockNews {
		return
	}
	if followed {
		w.server.log.Warn(
			"the database's clock was set, and is followed; keep it by NTP",
			"seconds", change.Round(100*time.Millisecond).Seconds(),
		)
	} else {
		w.server.log.Warn(
			"the database's clock was set; it is followed if it stays so",
			"seconds", change.Round(100*time.Millisecond).Seconds(),
		)
	}
}
