package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
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
// the caller of InTransaction waits for it.
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
		jitter := rand.N(4 * time.Millisecond) //nolint:gosec // spreads retries, guards nothing
		pause := time.Duration(try*try) * (time.Millisecond + jitter)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// runTransaction runs fn in a transaction: on SQLite in one that others may share.
func (d *DB) runTransaction(ctx context.Context, fn func(tx *Tx) error) error {
	if d.engine == SQLite {
		return d.runShared(ctx, false, fn)
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
