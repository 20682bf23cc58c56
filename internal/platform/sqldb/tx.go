package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Tx is a transaction on a pinned connection; the pin is what lets Run send statements together.
type Tx struct {
	*sql.Tx
	conn   *sql.Conn
	engine Engine
	texts  *prepared // nil on PostgreSQL and in a snapshot
	after  []func()
	guard  WriteGuard // nil in a snapshot
	marks  []uint32   // of what was written
}

// EngineName returns the engine of the database.
func (t *Tx) EngineName() Engine { return t.engine }

// AfterCommit has fn called once the transaction is on disk, and not at all when it is rolled back. fn must be quick:
// the caller of InTx waits for it.
func (t *Tx) AfterCommit(fn func()) { t.after = append(t.after, fn) }

// maxTries bounds how often a transaction is repeated after the engine asked for it.
const maxTries = 5

// InTransaction runs fn in one write transaction and commits it. On SQLite those of several callers may share one of
// the engine's, each undone for itself when it fails: see shared.go. fn may run more than once: when the engine reports
// a serialisation conflict, a deadlock or a busy file, the transaction is rolled back and repeated, so fn must not have
// effects outside the transaction. Everything inside fn uses tx: a query on the DB itself would wait for ever on
// SQLite.
//
// A server that went away while the connection was idle is noticed at BEGIN, before anything was done: that is retried
// too, on another connection. When the connection is lost later it is unknown whether the transaction was committed, so
// the error goes to the caller.
func (d *DB) InTransaction(ctx context.Context, fn func(tx *Tx) error) error {
	return d.retryTransaction(ctx, func() error { return d.runTransaction(ctx, fn) })
}

// retryTransaction runs a transaction again when the engine asks for it.
func (d *DB) retryTransaction(ctx context.Context, run func() error) error {
	for try := 1; ; try++ {
		select {
		case <-d.distrusted:
			return ErrDistrusted
		default:
		}
		err := run()
		d.judgeSync(err)
		d.noteRefusal(err)
		waits := try < lockTries && d.engine == PostgreSQL && IsLockTimeout(err)
		renewed := err != nil && d.guard != nil && d.guard.RenewAfter(ctx, err)
		if err == nil || !isRepeatable(err) && !waits && !renewed || try == maxTries {
			return err
		}
		pause := time.Duration(
			try*try,
		) * (time.Millisecond + rand.N(4*time.Millisecond)) //nolint:gosec // spreads retries, guards nothing
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

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

// runTransaction runs fn in a transaction: on SQLite in one that others may share.
func (d *DB) runTransaction(ctx context.Context, fn func(tx *Tx) error) error {
	if d.engine == SQLite {
		return d.runShared(ctx, &d.writers, false, fn)
	}
	return d.runTxOnce(ctx, fn)
}

// runTxOnce runs fn in one transaction of its own.
func (d *DB) runTxOnce(ctx context.Context, fn func(tx *Tx) error) (err error) {
	if d.texts != nil {
		d.texts.prepareWanted(ctx, d.write)
	}
	conn, err := d.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("take a connection: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	inner, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return beginError{fmt.Errorf("begin: %w", err)}
	}
	committed := false
	defer d.watchHold(conn)()
	defer func() {
		if !committed { // also when fn panics
			if rerr := inner.Rollback(); rerr != nil && !errors.Is(rerr, sql.ErrTxDone) &&
				!errors.Is(rerr, driver.ErrBadConn) {
				err = errors.Join(err, fmt.Errorf("roll back: %w", rerr))
			}
		}
	}()
	tx := &Tx{Tx: inner, conn: conn, engine: d.engine, texts: d.texts, guard: d.guard}
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.checkMarks(ctx); err != nil {
		return err
	}
	if err := inner.Commit(); err != nil {
		if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil { // database/sql rolled it back when the context ended
			err = ctx.Err()
		}
		return fmt.Errorf("commit: %w", err)
	}
	committed = true
	d.commits.Add(1)
	d.wakeCare()
	for _, fn := range tx.after {
		fn()
	}
	return nil
}

// ReadSnapshot runs fn in a transaction that only reads: all its statements see the database as it was at the first of
// them, whatever others write meanwhile. It waits for no writer and no writer waits for it.
func (d *DB) ReadSnapshot(ctx context.Context, fn func(tx *Tx) error) (err error) {
	conn, err := d.read.Conn(ctx)
	if err != nil {
		return fmt.Errorf("take a connection: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var opts *sql.TxOptions // on SQLite every transaction of the reading pool is one
	if d.engine == PostgreSQL {
		opts = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	inner, err := conn.BeginTx(ctx, opts)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() {
		if rerr := inner.Rollback(); rerr != nil && !errors.Is(rerr, sql.ErrTxDone) &&
			!errors.Is(rerr, driver.ErrBadConn) {
			err = errors.Join(err, fmt.Errorf("end a snapshot: %w", rerr))
		}
	}()
	return fn(&Tx{Tx: inner, conn: conn, engine: d.engine})
}

// Savepoint runs fn so that its writes can be undone while the transaction goes on: when fn fails, what it wrote is
// rolled back and its error returned.
func (t *Tx) Savepoint(ctx context.Context, fn func() error) error {
	if _, err := t.ExecContext(ctx, `SAVEPOINT inner_work`); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	ferr := fn()
	if ferr != nil {
		if _, err := t.ExecContext(ctx, `ROLLBACK TO SAVEPOINT inner_work`); err != nil {
			return errors.Join(ferr, fmt.Errorf("roll back to savepoint: %w", err))
		}
	}
	if _, err := t.ExecContext(ctx, `RELEASE SAVEPOINT inner_work`); err != nil {
		return errors.Join(ferr, fmt.Errorf("release savepoint: %w", err))
	}
	return ferr
}

// IsLockTimeout reports whether err means that another transaction held what this one wanted for too long.
func IsLockTimeout(err error) bool {
	return hasSQLState(err, "55P03") || hasSQLiteCode(err, sqlite3.SQLITE_BUSY)
}

// IsUnavailable reports whether err means that the database cannot serve at the moment: it is gone, starting or
// stopping, only reads (a standby that is not yet promoted), its disk is full or fails, it has no connection left,
// transactions stand in each other's way, or the call's deadline has passed. The same statement may succeed later.
func IsUnavailable(err error) bool {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		switch pe.Code[:2] {
		case "08",
			"40",
			"53",
			"57": // connection, transaction rolled back, insufficient resources, operator intervention
			return true
		}
		// Citus gives no code of its own to a node that goes away under a transaction.
		if pe.Code == "XX000" &&
			(strings.HasPrefix(pe.Message, "postmaster was shut down") ||
				strings.HasPrefix(pe.Message, "failure on connection marked as essential") ||
				strings.HasPrefix(pe.Message, "could not commit transaction")) {
			return true
		}
		// Read-only transaction, idle in transaction for too long, lock timeout, failing disk.
		return pe.Code == "25006" || pe.Code == "25P03" || pe.Code == "55P03" || pe.Code == "58030"
	}
	return isConnectionLost(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrDistrusted) ||
		errors.Is(err, ErrNoConnection) ||
		hasSQLiteCode(err, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
			sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) // the last one: out of file descriptors, mostly
}

// isConnectionLost reports whether the connection was not made or has broken.
func isConnectionLost(err error) bool {
	lost := []error{driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed}
	var connect *pgconn.ConnectError
	var network *net.OpError
	// SafeToRetry is also how pgx names a connection that it has closed itself.
	return slices.ContainsFunc(lost, func(is error) bool { return errors.Is(err, is) }) || errors.As(err, &connect) ||
		errors.As(err, &network) ||
		pgconn.SafeToRetry(err)
}

// beginError is a failure before anything was asked of the database.
type beginError struct{ error }

func (e beginError) Unwrap() error { return e.error }

// isRepeatable reports whether the transaction certainly had no effect and may succeed on another try: a conflict, a
// deadlock, a busy file, or a connection that was lost before BEGIN.
func isRepeatable(err error) bool {
	var begin beginError
	return errors.As(err, &begin) && isConnectionLost(err) || hasSQLState(err, "40001") || hasSQLState(err, "40P01") ||
		hasSQLiteCode(err, sqlite3.SQLITE_BUSY)
}

// hasSQLState reports whether PostgreSQL refused with a code.
func hasSQLState(err error, code string) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == code
}

// hasSQLiteCode reports whether SQLite failed with one of the codes.
func hasSQLiteCode(err error, codes ...int) bool {
	var se *sqlite.Error
	return errors.As(err, &se) &&
		slices.ContainsFunc(codes, func(c int) bool { return se.Code() == c || se.Code()&0xff == c })
}

// UnpreparedReader is for single statements that only read queues; on SQLite beside the writer. PostgreSQL plans them
// for the tables as they are: a plan that was kept from when the table was empty reads all of it once it is full, until
// the engine counts the rows again.
func (d *DB) UnpreparedReader() Querier { return reader{d: d, planned: true} }

// Querier is what a statement that reads needs: a reader or a transaction. Its arguments may be times, durations and
// named types: see convertArguments.
type Querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// EachRow reads what a query finds, row by row.
func EachRow(ctx context.Context, q Querier, read func(Row) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err below reports what matters
	for rows.Next() {
		if err := read(KeptRow{rows}); err != nil {
			return err
		}
	}
	return rows.Err()
}

// BUG(sqldb): a list that comes from a standby is as old as the standby is behind: what was created a moment ago may be
// missing from it. A single thing is always read from the database itself.

// ListReader answers single statements from a standby, and from the database itself where there is none or it fails.
// What it reads may be a little old, so it is for long lists that people page through and never for what a decision or
// a write rests on.
func (d *DB) ListReader() Querier { return reader{d: d, lists: true} }

// StandbyPool returns the pool of the standby, or nil.
func (d *DB) StandbyPool() *sql.DB {
	if d.standby == nil {
		return nil
	}
	return d.standby.read
}

// InsertRows inserts rows into table: many with each statement on PostgreSQL, a prepared statement in a loop on SQLite
// (where one statement with many rows is slower). next returns the values of the next row, or nil after the last one;
// the slice may be reused between calls, and only bytes and sql.NullInt64 may be NULL. Table and columns are names from
// this program, never from a caller.
func (t *Tx) InsertRows(ctx context.Context, table string, columns []string, next func() ([]any, error)) error {
	_, err := t.loadRows(ctx, table, columns, "", "", next)
	return err
}

// InsertOrUpdate is InsertRows for rows that may exist already: conflict says, in the words of ON CONFLICT, which
// constraint they meet and what is then changed. No two rows of one call may meet each other.
func (t *Tx) InsertOrUpdate(
	ctx context.Context,
	table string,
	columns []string,
	conflict string,
	next func() ([]any, error),
) error {
	_, err := t.loadRows(ctx, table, columns, " ON CONFLICT "+conflict, "", next)
	return err
}

// Statement is one statement of a list.
type Statement struct {
	Query string
	Args  []any
}

// NewStatement returns a statement and its arguments.
func NewStatement(query string, args ...any) Statement { return Statement{query, args} }

// RunStatements executes statements that return nothing, in order, and stops at the first that fails. PostgreSQL gets
// them in one round trip; SQLite has each text prepared once. Few texts with many arguments are what it is for.
func (t *Tx) RunStatements(ctx context.Context, list []Statement) error {
	_, err := t.RunCounting(ctx, list)
	return err
}

// RunCounting is Run, and tells how many rows each statement has changed.
func (t *Tx) RunCounting(ctx context.Context, list []Statement) (changed []int64, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	changed = make([]int64, len(list))
	if t.engine == PostgreSQL {
		return changed, t.runPipelined(ctx, list, changed)
	}
	prepared := map[string]*sql.Stmt{}
	defer func() {
		for _, stmt := range prepared {
			err = errors.Join(err, stmt.Close())
		}
	}()
	for i, s := range list {
		stmt := prepared[s.Query]
		if stmt == nil {
			if stmt, err = t.PrepareContext(ctx, s.Query); err != nil {
				return changed, err
			}
			prepared[s.Query] = stmt
		}
		t.noteMarks(convertArguments(s.Args))
		res, err := stmt.ExecContext(ctx, s.Args...)
		if err != nil {
			return changed, fmt.Errorf("%.80s: %w", s.Query, err)
		}
		if changed[i], err = res.RowsAffected(); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// runPipelined sends statements in one round trip.
func (t *Tx) runPipelined(ctx context.Context, list []Statement, changed []int64) error {
	return t.conn.Raw(func(driverConn any) error {
		c, ok := driverConn.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("run statements: unexpected driver %T", driverConn)
		}
		batch := &pgx.Batch{}
		for _, s := range list {
			t.noteMarks(convertArguments(s.Args))
			batch.Queue(s.Query, s.Args...)
		}
		results := c.Conn().SendBatch(ctx, batch)
		for i := range list {
			tag, err := results.Exec()
			if err != nil {
				return errors.Join(fmt.Errorf("%.80s: %w", list[i].Query, err), results.Close())
			}
			changed[i] = tag.RowsAffected()
		}
		return results.Close()
	})
}
