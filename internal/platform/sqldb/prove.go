package sqldb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrSharedSession means that statements of one connection are run in different sessions of the server.
var ErrSharedSession = errors.New(
	"database: a connection pooler between this program and PostgreSQL runs each transaction in another session " +
		"(PgBouncer: pool_mode = transaction or statement). Locks would not hold, and webhooks would be sent twice. " +
		"Set pool_mode = session for this database, or give the address of PostgreSQL itself",
)

// ErrNoConnection means that the server, or a pooler before it, has no connection left for this process.
var ErrNoConnection = errors.New(
	"database: no connection is free: raise the pooler's pool (PgBouncer: default_pool_size, 20 unless it is set) " +
		"or PostgreSQL's max_connections above what all replicas take (--max-connections each, one for each worker) " +
		"and eight for commands, " +
		"or lower --max-connections",
)

// nameShortage names an error that says that no connection is left. A pooler takes a client in and leaves its first
// statement without an answer until a connection is free; a server answers that statement at once.
func nameShortage(err error) error {
	if pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded) || hasSQLState(err, "53300") {
		return fmt.Errorf("%w (%w)", ErrNoConnection, err)
	}
	return err
}

// probeTime bounds a proof: a pooler without a free connection keeps clients waiting.
const probeTime = 5 * time.Second

// ProveSession proves that a session lock outlives the statement that took it and keeps others out, as every hold of a
// worker relies on; otherwise it returns ErrSharedSession. pooled reports whether a pooler is in between, which is fine
// as long as each client has a session of its own.
func (d *DB) ProveSession(ctx context.Context) (pooled bool, err error) {
	if d.engine != PostgreSQL {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	first, err := d.pool.Acquire(ctx)
	if err != nil {
		return false, fmt.Errorf("database: reach PostgreSQL: %w", err)
	}
	defer first.Release()
	session := first.Conn().PgConn()
	pid, err := querySimple(ctx, session, `SELECT pg_backend_pid()`)
	if err != nil {
		return false, fmt.Errorf("database: reach PostgreSQL: %w", err)
	}
	// The server names its process when a connection begins; a pooler has to make a number up.
	if pid == strconv.FormatUint(uint64(session.PID()), 10) {
		return false, nil
	}
	if err := d.proveLock(ctx, session); err != nil {
		return true, err
	}
	return true, nil
}

// proveLock takes a lock in one session and tries it in others, whose transactions stay open meanwhile: a pooler that
// shares sessions has to give one of them, or the first, the session of another.
func (d *DB) proveLock(ctx context.Context, session *pgconn.PgConn) error {
	key := strconv.FormatInt(rand.Int64(), 10) //nolint:gosec // guards nothing
	if got, err := querySimple(ctx, session, `SELECT pg_try_advisory_lock(`+key+`)`); err != nil || got != "t" {
		return errors.Join(ErrSharedSession, err)
	}
	shared := false
	for range 3 {
		other, err := pgx.ConnectConfig(ctx, d.pool.Config().ConnConfig)
		if err != nil {
			return nameShortage(err)
		}
		defer func() { _ = other.Close(context.WithoutCancel(ctx)) }()
		got, err := querySimple(ctx, other.PgConn(), `BEGIN; SELECT pg_try_advisory_xact_lock(`+key+`)`)
		if hasSQLState(err, "08P01") { // PgBouncer: transaction blocks not allowed in statement pooling mode
			return ErrSharedSession
		}
		if err != nil {
			return fmt.Errorf("prove that sessions are kept apart: %w", nameShortage(err))
		}
		shared = shared || got == "t"
	}
	got, err := querySimple(ctx, session, `SELECT pg_advisory_unlock(`+key+`)`)
	if err == nil && (shared || got != "t") {
		err = ErrSharedSession
	}
	return err
}

// querySimple runs statements by the simple protocol, which every pooler passes on in one go, and returns the only
// value of the last one.
func querySimple(ctx context.Context, conn *pgconn.PgConn, text string) (string, error) {
	results, err := conn.Exec(ctx, text).ReadAll()
	if err != nil {
		return "", err
	}
	last := results[len(results)-1]
	if len(last.Rows) != 1 || len(last.Rows[0]) != 1 {
		return "", errors.New("unexpected answer")
	}
	return string(last.Rows[0][0]), nil
}
