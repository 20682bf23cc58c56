package sqldb

import (
	"errors"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// judgeSync notes an error that says that the disk refused a sync.
func (d *DB) judgeSync(err error) {
	if hasSQLiteCode(err, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC) {
		d.distrust.Do(func() { close(d.distrusted) })
	}
}

// refusal is a write that the disk did not take.
type refusal struct {
	at  time.Time
	why error
}

// noteRefusal notes whether the disk took a write.
func (d *DB) noteRefusal(err error) {
	switch {
	case hasSQLState(err, "53100") || hasSQLiteCode(err, sqlite3.SQLITE_FULL):
		d.refusal.Store(&refusal{time.Now(), ErrDiskFull})
	case hasSQLState(err, "25006"), hasSQLState(err, "58030"),
		hasSQLiteCode(err, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR):
		d.refusal.Store(&refusal{time.Now(), ErrDiskRefuses})
	case err == nil && d.refusal.Load() != nil:
		d.refusal.Store(nil)
	}
}

// ErrDiskFull means that the last write found no room.
var ErrDiskFull = errors.New("the disk of the database is full")

// ErrDiskRefuses means that the last write was refused: the disk is read-only or fails.
var ErrDiskRefuses = errors.New("the disk of the database takes no writes")

// CheckWrites returns why a write was refused within the last 30 s, if none has succeeded since. Without that time a
// server that gets no traffic for it would never find out that writes are taken again.
func (d *DB) CheckWrites() error {
	if last := d.refusal.Load(); last != nil && time.Since(last.at) < 30*time.Second {
		return last.why
	}
	return nil
}

// ErrDistrusted means that a sync failed before, so nothing is written any more.
var ErrDistrusted = errors.New(
	"the disk refused to sync the database's log: no more is written until the process has been restarted",
)

// Distrusted is closed once SQLite could not sync its log. The system may then have dropped the pages that it could not
// write and report success for the next sync, so no later sync can be trusted: the process must stop, and start again
// from what the disk really holds. PostgreSQL does the same by itself.
func (d *DB) Distrusted() <-chan struct{} { return d.distrusted }
