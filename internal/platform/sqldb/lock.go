package sqldb

import _ "modernc.org/sqlite" // registers the driver "sqlite"

// SkipLocked returns what a claim query adds to its inner SELECT: what it finds is locked until the transaction ends,
// so no other worker of any replica has it, and none waits for it. SQLite needs nothing: it has one writer at a time.
func (d *DB) SkipLocked() string {
	if d.engine == PostgreSQL {
		return " FOR UPDATE SKIP LOCKED"
	}
	return ""
}

// LockRows returns what a SELECT adds to lock the rows that it finds until the transaction ends: others that delete or
// lock them wait, and so does it. SQLite needs nothing, as above.
//
// A DELETE that waits for a row of PostgreSQL does not look at its conditions again when the row is as it was, and what
// it looks up in other tables is of before the wait. So whoever deletes what others rely on locks it by a statement of
// its own first: the next statement sees what they have committed.
func (d *DB) LockRows() string {
	if d.engine == PostgreSQL {
		return " FOR UPDATE"
	}
	return ""
}

// HoldRows returns what a SELECT adds to hold the rows that it finds as an UPDATE of them would: others that change or
// delete them wait, those that only refer to them do not.
func (d *DB) HoldRows() string {
	if d.engine == PostgreSQL {
		return " FOR NO KEY UPDATE"
	}
	return ""
}

// KeepRows returns what a SELECT adds so that the rows that it finds are neither deleted nor get another key until the
// transaction ends. Many may do so at once.
func (d *DB) KeepRows() string {
	if d.engine == PostgreSQL {
		return " FOR KEY SHARE"
	}
	return ""
}
