package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
)

// ErrStillKept means that a reader kept old pages in use for so long that they could not be scrubbed.
var ErrStillKept = errors.New(
	"another process has been reading for too long: deleted bytes are still in the write-ahead log",
)

// ScrubDeleted takes what was deleted out of the files. SQLite overwrites deleted rows as it goes (secure_delete), so
// what is left is the write-ahead log, which is checkpointed and truncated; that has to wait for readers, and is
// retried until ctx ends. Copies of a row in the unused part of a page that it was moved from stay until the page is
// written again: every personal value in them is sealed. On PostgreSQL the tables are vacuumed, so that their pages are
// free to be overwritten; its write-ahead log is recycled by the server.
func (d *DB) ScrubDeleted(ctx context.Context, tables ...string) error {
	if d.engine == PostgreSQL {
		return d.vacuum(ctx, tables)
	}
	own, err := sql.Open("sqlite", d.address)
	if err != nil {
		return fmt.Errorf("cut the write-ahead log: %w", err)
	}
	own.SetMaxOpenConns(1)
	return errors.Join(truncateLog(ctx, own), own.Close())
}

// vacuum takes as long as it takes: a table may be large, and another vacuum of it may run, which began before what is
// to be scrubbed was deleted and so cannot stand in for this one. Nobody waits meanwhile, neither for this session nor
// for the lock that it waits for. A session without limits is not used for anything else.
func (d *DB) vacuum(ctx context.Context, tables []string) error {
	own, err := d.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	defer func() { _ = own.Raw(endSession) }()
	_, err = own.ExecContext(
		ctx,
		`SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)`,
	)
	if err != nil {
		return fmt.Errorf("lift the timeouts: %w", err)
	}
	for _, t := range tables {
		if _, err := own.ExecContext(ctx, `VACUUM `+t); err != nil {
			return fmt.Errorf("vacuum %s: %w", t, err)
		}
	}
	return nil
}

// endSession closes a session of PostgreSQL, which its pool would otherwise give to the next one who asks.
func endSession(of any) error {
	session, isPostgres := of.(*stdlib.Conn)
	if !isPostgres {
		return fmt.Errorf("a session of %T", of)
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	return errors.Join(session.Conn().Close(ctx), driver.ErrBadConn)
}

// truncateLog waits in short steps, because a checkpoint that waits keeps writers out. For the same reason the log is
// first carried over beside them: what is left for the one that keeps them out is little.
func truncateLog(ctx context.Context, own *sql.DB) error {
	if _, err := own.ExecContext(ctx, `PRAGMA busy_timeout = 50`); err != nil {
		return fmt.Errorf("cut the write-ahead log: %w", err)
	}
	for {
		var busy, pages, moved int64
		err := own.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &pages, &moved)
		if err != nil && !IsLockTimeout(err) && ctx.Err() == nil {
			return fmt.Errorf("cut the write-ahead log: %w", err)
		}
		err = own.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved)
		switch {
		case ctx.Err() != nil:
			return ErrStillKept
		case err != nil && !IsLockTimeout(err):
			return fmt.Errorf("cut the write-ahead log: %w", err)
		case err == nil && busy == 0:
			return nil
		}
		select {
		case <-ctx.Done():
			return ErrStillKept
		case <-time.After(50 * time.Millisecond):
		}
	}
}
