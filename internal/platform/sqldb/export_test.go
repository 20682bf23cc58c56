package sqldb

import (
	"context"
	"database/sql"
)

// LongestWait is how long those who write much wait for a long log at most.
const LongestWait = longestWait

// HoldKey is for tests that look for who holds a name.
var HoldKey = lockNumber

// StopCarrying ends what carries SQLite's log over by itself.
func (d *DB) StopCarrying() { d.stopCare() }

// CarryRest carries SQLite's log over while nobody writes.
func (d *DB) CarryRest(ctx context.Context, own *sql.DB) { d.checkpointRest(ctx, own) }

// NoteLog has those who write much wait, or go on.
func (d *DB) NoteLog(long bool) { d.setLogBehind(long) }
