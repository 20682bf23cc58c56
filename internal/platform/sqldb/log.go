package sqldb

import (
	"context"
	"database/sql"
	"sync"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

const (
	// logPages is how long SQLite's write-ahead log grows before a writer has to carry it over itself.
	logPages = "16000"
	// logRest is how long the log rests after it was carried over: what is written again meanwhile is carried once.
	logRest = 100 * time.Millisecond
	// longLog is how many pages the log may have before bulk writers wait for it to be reset. It has to be well below
	// logPages, or a writer is blocked while the whole rest is checkpointed.
	longLog = 8000
	// longestWait is how long they wait at most, whatever the disk does.
	longestWait = time.Second
)

// startCheckpoints starts to checkpoint the write-ahead log into the SQLite file, beside the writers, and returns the
// function that stops it. Left to itself, SQLite lets the writer whose commit finds a thousand pages do so, with two
// syncs, while all others wait.
//
// SQLite resets the log only when a writer finds all of it checkpointed, and under steady writing a rest always
// remains. So while the log is long bulk writers wait: see AwaitCheckpoint. Then the small rest is checkpointed while
// there is no writer. Where that does not help, the next writer that finds logPages checkpoints the rest.
func (d *DB) startCheckpoints() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		own, err := sql.Open("sqlite", d.address)
		if err != nil {
			return // the writers carry it, as said above
		}
		own.SetMaxOpenConns(1)
		defer func() { _ = own.Close() }() // it has written what it was asked to
		defer d.setLogBehind(false)
		var updated time.Time
		analyzed := time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-d.wrote:
			}
			if time.Since(updated) > statisticsPause {
				all := time.Since(analyzed) > analysisInterval
				_ = d.UpdateStatistics(ctx, all) // older statistics serve until the next time
				if updated = time.Now(); all {
					analyzed = updated
				}
			}
			if d.checkpointLog(own) > longLog {
				d.setLogBehind(true)
				d.checkpointLog(own) // pages appended since, with no bulk writer active
				d.checkpointRest(ctx, own)
				d.setLogBehind(false)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(logRest):
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// checkpointLog carries over what is in the log by now and returns how many pages that log has.
func (d *DB) checkpointLog(own *sql.DB) (pages int64) {
	var busy, moved int64
	d.judgeSync(own.QueryRowContext(context.Background(), `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &pages, &moved))
	return pages
}

// checkpointRest checkpoints what is left while there is no writer, so that the next writer resets the log.
func (d *DB) checkpointRest(ctx context.Context, own *sql.DB) {
	writer, err := d.write.Conn(ctx)
	if err != nil {
		return // it closes
	}
	defer func() { _ = writer.Close() }() // back to the pool
	d.checkpointLog(own)
}

// setLogBehind keeps whether those who write much have to wait.
func (d *DB) setLogBehind(behind bool) {
	d.log.Lock()
	defer d.log.Unlock()
	switch {
	case behind && d.log.caughtUp == nil:
		d.log.caughtUp = make(chan struct{})
	case !behind && d.log.caughtUp != nil:
		close(d.log.caughtUp)
		d.log.caughtUp = nil
	}
}

// AwaitCheckpoint is called before many rows are written. While SQLite's log is long it waits for the checkpoint, so
// that the log is reset between small writes and no writer is blocked by a long checkpoint.
func (d *DB) AwaitCheckpoint(ctx context.Context) {
	d.log.Lock()
	caughtUp := d.log.caughtUp
	d.log.Unlock()
	if caughtUp == nil {
		return
	}
	select {
	case <-ctx.Done(): // the transaction will say so
	case <-caughtUp:
	case <-time.After(longestWait):
	}
}

// logState tells those who write much how far the log is carried.
type logState struct {
	sync.Mutex
	caughtUp chan struct{} // nil while bulk writers need not wait; closed when the log is checkpointed
}

// wakeCare wakes who cares for the database beside the writers, if there is one that sleeps.
func (d *DB) wakeCare() {
	select {
	case d.wrote <- struct{}{}:
	default:
	}
}
