package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
)

// ErrNotEmbedded means that the database is a server's: what was asked for is done by its own tools.
var ErrNotEmbedded = errors.New("the database is a PostgreSQL server: use its own tools")

// CopyFileTo writes a copy of a SQLite database, as it is at one moment, to a new file of mode 0600, while other
// processes go on reading and writing. The copy holds no free pages, so nothing that was deleted is in it. It is one to
// read and throw away: after a power cut it may be half there.
func (d *DB) CopyFileTo(ctx context.Context, path string) error {
	if d.engine != SQLite {
		return ErrNotEmbedded
	}
	// Made here for its mode; SQLite takes an empty file for its own.
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	// A connection of its own: the copy may take minutes, and the writing pool has only one. Nothing of the copy is
	// synced: the disk would be busy with all of it at once, and who writes to the database meanwhile would wait for
	// that.
	own, err := sql.Open("sqlite", d.address+noSync)
	if err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	_, err = own.ExecContext(ctx, `VACUUM INTO $1`, path)
	if err = errors.Join(err, own.Close()); err != nil {
		return fmt.Errorf("copy the database: %w", errors.Join(err, os.Remove(path)))
	}
	return nil
}

// FindDamage looks for what the engine itself can find wrong with its files, and returns it in words, at most limit of
// them. On SQLite every page, index and reference is read. PostgreSQL tells of unusable indexes, constraints that were
// never checked and pages whose checksum failed; more than that is for pg_amcheck.
func (d *DB) FindDamage(ctx context.Context, limit int) ([]string, error) {
	if d.engine == PostgreSQL {
		return d.postgresDamage(ctx, limit)
	}
	found, err := d.queryTexts(ctx, fmt.Sprintf(`PRAGMA integrity_check(%d)`, limit))
	if err != nil {
		return nil, fmt.Errorf("check the database: %w", err)
	}
	if len(found) == 1 && found[0] == "ok" {
		found = nil
	}
	err = EachRow(ctx, d.read, func(row Row) error {
		var table, parent string
		var n int64
		err := row.Scan(&table, &n, &parent)
		found = append(found, fmt.Sprintf("%d rows of %s refer to rows of %s that are not there", n, table, parent))
		return err
	}, `SELECT "table", count(*), parent FROM pragma_foreign_key_check GROUP BY 1, 3 ORDER BY 1, 3`)
	return found, err
}

// postgresDamage lists indexes and constraints that do not protect what they should, and pages with a wrong checksum.
// Each query returns sentences for the operator.
func (d *DB) postgresDamage(ctx context.Context, limit int) ([]string, error) {
	var found []string
	for _, query := range []string{
		`SELECT 'index ' || c.relname || ' is not usable: REINDEX it'
			FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			WHERE (NOT i.indisvalid OR NOT i.indisready) AND c.relnamespace = current_schema()::regnamespace`,
		`SELECT 'constraint ' || conname || ' was never checked' FROM pg_constraint
			WHERE NOT convalidated AND connamespace = current_schema()::regnamespace`,
		`SELECT checksum_failures || ' pages had a wrong checksum' FROM pg_stat_database
			WHERE datname = current_database() AND checksum_failures > 0`,
	} {
		words, err := d.queryTexts(ctx, query)
		if err != nil {
			return found, fmt.Errorf("check the database: %w", err)
		}
		found = append(found, words...)
	}
	return found[:min(limit, len(found))], nil
}

// queryTexts returns the texts that a query finds.
func (d *DB) queryTexts(ctx context.Context, query string) (list []string, err error) {
	err = EachRow(ctx, d.read, func(row Row) error {
		list = append(list, "")
		return row.Scan(&list[len(list)-1])
	}, query)
	return list, err
}

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

// noSync, behind an address, is for a file that is not kept.
const noSync = "&_pragma=synchronous(OFF)"

// sqliteAddress names a file with the settings that every connection has. They go in the address, so that no connection
// of a pool can miss them. secure_delete overwrites erased values. The journal mode is not among them: see enterWAL.
// A larger cache makes commits slower: one that follows a split of pages searches it whole for pages beyond the end of
// the file, as long as that is below 1 GB.
func sqliteAddress(path string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + strings.Join([]string{
		fmt.Sprintf(
			"_pragma=busy_timeout(%d)",
			busyTime.Milliseconds(),
		),
		"_pragma=synchronous(" + synchronous + ")",
		"_pragma=foreign_keys(1)",
		"_pragma=secure_delete(1)",
		"_pragma=cache_size(-16000)",
		"_pragma=temp_store(MEMORY)",
		"_pragma=wal_autocheckpoint(" + logPages + ")",
	}, "&")
}
