// Package sqldb is the only package that knows which database engine answers.
//
// It opens SQLite (embedded, the default) or PostgreSQL, runs transactions, sorts errors into classes, loads rows in
// bulk and applies migrations. Above it there is one query text for both engines: `$1` parameters and only TEXT,
// BIGINT, BOOLEAN and BYTEA columns. It knows no table of the product.
//
// The invariant it keeps: a transaction that InTx reports as committed is on disk. SQLite runs in WAL mode with
// synchronous=FULL, and a PostgreSQL that has fsync or synchronous_commit off is refused at Open.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// Engine names the database behind a DB.
type Engine string

// The engines.
const (
	SQLite     Engine = "sqlite"
	PostgreSQL Engine = "postgres"
)

// DB is an open database: one pool that writes and one that only reads. On PostgreSQL both are the same pool.
type DB struct {
	engine Engine
	write  *sql.DB
	read   *sql.DB
	pool   *pgxpool.Pool // nil on SQLite
	// coordinator is the address of the coordinator when this server is a worker of a Citus cluster, else empty.
	coordinator string
	// holds is how sessions for holders are opened; nil on SQLite.
	holds *pgx.ConnConfig
	// standby answers lists when there is one.
	standby *DB
	// address is how another connection to the same SQLite file is opened, path where it lies.
	address, path string
	// distrusted is closed when the disk has refused a sync: see Distrusted.
	distrusted chan struct{}
	distrust   sync.Once
	// refusal is the last write that the disk refused; nil since one has succeeded.
	refusal atomic.Pointer[refusal]
	// texts are kept prepared for the writing connection, readTexts for those that read; nil on PostgreSQL.
	texts, readTexts *prepared
	// writers share transactions on SQLite; commits counts those of the engine.
	writers writers
	queues  queues
	commits atomic.Int64
	// watcher is told of transactions on SQLite; changes is how many rows its writing connection had written before.
	watcher atomic.Pointer[func(Hold)]
	changes int64
	// guard has the last word on what is written; nil where there is none.
	guard WriteGuard
	// wrote wakes who cares for the database beside the writers, stopCare ends it.
	wrote    chan struct{}
	log      logState
	stopCare func()
}

// Options tune the pools.
type Options struct {
	// MaxConns bounds the connections of this process to PostgreSQL. Zero means 16.
	MaxConns int
	// StatementTimeout ends a PostgreSQL statement that runs longer. Zero means 60 s.
	StatementTimeout time.Duration
	// ReadAddress names a PostgreSQL standby for Lister. It need not be there when the database is opened.
	ReadAddress string
	// Insecure lets a PostgreSQL on another machine go without a certificate that is checked.
	Insecure bool
	// Passing says that a SQLite file is not kept: nothing waits for the disk, and no sync of it holds up those of
	// others.
	Passing bool
}

// OpenDatabase connects to the database at address: a postgres:// URL, or the path of a SQLite file, which is created
// with mode 0600 when it is not there.
func OpenDatabase(ctx context.Context, address string, opts Options) (*DB, error) {
	if isPostgres(address) {
		d, err := openPostgres(ctx, address, opts)
		if err == nil && opts.ReadAddress != "" {
			if d.standby, err = connectPostgres(ctx, opts.ReadAddress, opts); err != nil {
				return nil, errors.Join(err, d.Close())
			}
		}
		return d, err
	}
	return openSQLite(ctx, address, opts.Passing)
}

// openPostgres connects and refuses a server or a pooler on which transactions would not be safe.
func openPostgres(ctx context.Context, address string, opts Options) (*DB, error) {
	d, err := connectPostgres(ctx, address, opts)
	if err != nil {
		return nil, err
	}
	_, err = d.ProveSession(ctx)
	if err == nil {
		err = d.refuseUnsafePostgres(ctx)
	}
	if err == nil {
		err = d.findCoordinator(ctx, address, opts)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	d.wrote = make(chan struct{}, 1)
	d.stopCare = d.startStatistics()
	return d, nil
}

// idleConnection is how long a connection without work is kept: a pooler in between has none to give while a quiet
// replica keeps those of its last rush.
const idleConnection = time.Minute

// parseAddress returns how connections to the PostgreSQL at address are opened.
func parseAddress(address string, opts Options) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errors.New(
			"database: the PostgreSQL address cannot be read; expected postgres://user:password@host:port/name",
		)
	}
	if err := refuseUnverified(cfg.ConnConfig, opts.Insecure); err != nil {
		return nil, err
	}
	if opts.MaxConns == 0 {
		opts.MaxConns = 16
	}
	if opts.StatementTimeout == 0 {
		opts.StatementTimeout = time.Minute
	}
	cfg.MaxConns = int32(min(opts.MaxConns, 1000))
	cfg.MaxConnIdleTime = idleConnection
	setSession(cfg.ConnConfig, opts.StatementTimeout)
	cfg.ConnConfig.Tracer = postgresTracer{}
	return cfg, nil
}

// connectPostgres makes a pool; it does not ask the server anything yet.
func connectPostgres(ctx context.Context, address string, opts Options) (*DB, error) {
	cfg, err := parseAddress(address, opts)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("database: open PostgreSQL: %w", err)
	}
	db := stdlib.OpenDBFromPool(pool)
	return &DB{
		engine:     PostgreSQL,
		write:      db,
		read:       db,
		pool:       pool,
		holds:      pool.Config().ConnConfig,
		distrusted: make(chan struct{}),
	}, nil
}

// refuseUnsafePostgres keeps the promise that a committed transaction survives a crash.
func (d *DB) refuseUnsafePostgres(ctx context.Context) error {
	var fsync, commit string
	const settings = `SELECT current_setting('fsync'), current_setting('synchronous_commit')`
	err := d.read.QueryRowContext(ctx, settings).Scan(&fsync, &commit)
	if err != nil {
		return fmt.Errorf("database: reach PostgreSQL: %w", err)
	}
	if fsync != "on" || commit == "off" {
		return fmt.Errorf(
			"database: PostgreSQL has fsync=%s and synchronous_commit=%s; a crash could lose acknowledged data. "+
				"Set fsync=on and synchronous_commit=on",
			fsync,
			commit,
		)
	}
	return nil
}

// openSQLite creates the file if needed and opens two pools: one connection that writes, and several that only read.
func openSQLite(ctx context.Context, path string, passing bool) (*DB, error) {
	// Created here so that the file is never wider than 0600, whatever the umask; SQLite gives its WAL the same mode.
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("database: open the SQLite file: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("database: open the SQLite file: %w", err)
	}
	base := sqliteAddress(path)
	if passing {
		base += noSync
	}
	write, err := sql.Open("sqlite", base+"&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("database: open the SQLite file: %w", err)
	}
	write.SetMaxOpenConns(1)
	read, err := sql.Open("sqlite", base+"&_pragma=query_only(1)")
	if err != nil {
		return nil, fmt.Errorf("database: open the SQLite file: %w", errors.Join(err, write.Close()))
	}
	read.SetMaxOpenConns(8)
	read.SetMaxIdleConns(8)
	read.SetConnMaxLifetime(connectionLife)
	d := &DB{
		engine:     SQLite,
		write:      write,
		read:       read,
		address:    base,
		path:       path,
		distrusted: make(chan struct{}),
		texts:      newPrepared(),
		readTexts:  newPrepared(),
		wrote:      make(chan struct{}, 1),
	}
	d.stopCare = d.startCheckpoints()
	if err := enableWAL(ctx, write); err != nil {
		return nil, errors.Join(fmt.Errorf("database: open the SQLite file: %w", err), d.Close())
	}
	return d, nil
}

// busyTime is how long a connection waits for another one's lock on a SQLite file.
const busyTime = 10 * time.Second

// enableWAL turns the write-ahead log on; the setting stays in the file. SQLite ignores its busy timeout here: of two
// connections that have both read the file and want it exclusively, one fails at once. So a process that starts beside
// others tries again.
func enableWAL(ctx context.Context, db *sql.DB) error {
	for deadline := time.Now().Add(busyTime); ; {
		var mode string
		err := db.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode)
		switch {
		case err == nil && mode == "wal":
			return nil
		case err == nil:
			return fmt.Errorf("its journal mode stays %s", mode)
		case !IsLockTimeout(err) || time.Now().After(deadline):
			return err
		}
		pause := time.Millisecond + rand.N(9*time.Millisecond) //nolint:gosec // spreads tries, guards nothing
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// EngineName returns the engine of the database.
func (d *DB) EngineName() Engine { return d.engine }

// ReadPool is for single statements that only read, outside a transaction.
func (d *DB) ReadPool() *sql.DB { return d.read }

// KeptReader is for single statements that only read and are asked again and again: SQLite keeps them prepared,
// PostgreSQL's driver does so by itself.
func (d *DB) KeptReader() Querier { return reader{d: d} }

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

// ConnectionPools returns the pools by name, for metrics of waits for connections: one pool on PostgreSQL, the writing
// and the reading one on SQLite.
func (d *DB) ConnectionPools() map[string]*sql.DB {
	if d.read == d.write {
		return map[string]*sql.DB{"all": d.write}
	}
	return map[string]*sql.DB{"write": d.write, "read": d.read}
}

// ServerTime returns the time of PostgreSQL's machine. SQLite has none of its own.
func (d *DB) ServerTime(ctx context.Context) (time.Time, error) {
	var at time.Time
	if err := d.read.QueryRowContext(ctx, `SELECT clock_timestamp()`).Scan(&at); err != nil {
		return at, fmt.Errorf("read the database's clock: %w", err)
	}
	return at, nil
}

// CheckAnswers returns an error unless the database answers.
func (d *DB) CheckAnswers(ctx context.Context) error { return d.read.PingContext(ctx) }

// Close closes the pools.
func (d *DB) Close() error {
	if d.stopCare != nil {
		d.stopCare()
	}
	err := d.write.Close()
	if d.read != d.write {
		err = errors.Join(err, d.read.Close())
	}
	if d.pool != nil {
		d.pool.Close()
	}
	if d.standby != nil {
		err = errors.Join(err, d.standby.Close())
	}
	return err
}

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

// startStatement begins the span of a statement where its request or job is traced. Texts are constants with numbered
// parameters, so no value reaches a trace.
func startStatement(ctx context.Context, text string) trace.Span {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return noop.Span{}
	}
	verb, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	_, span := parent.TracerProvider().Tracer("github.com/vigiahq/vigia/internal/platform/sqldb").Start(ctx, verb,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("db.query.text", text)))
	return span
}

// startStatement begins the span of a statement of SQLite; pgx has a tracer of its own.
func (e Engine) startStatement(ctx context.Context, text string) trace.Span {
	if e != SQLite {
		return noop.Span{}
	}
	return startStatement(ctx, text)
}

// postgresTracer makes the spans of what pgx sends.
type postgresTracer struct{}

// statementSpan is the key of the context under which the span of a running statement is passed to TraceQueryEnd.
type statementSpan struct{}

// TraceQueryStart starts a span for the statement, unless the request is not sampled.
func (postgresTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, query pgx.TraceQueryStartData) context.Context {
	span := startStatement(ctx, query.SQL)
	if !span.IsRecording() {
		return ctx
	}
	return context.WithValue(ctx, statementSpan{}, span)
}

// TraceQueryEnd ends the span. The error's text is left out: it may quote values of the row.
func (postgresTracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, query pgx.TraceQueryEndData) {
	span, ok := ctx.Value(statementSpan{}).(trace.Span)
	if !ok {
		return
	}
	if query.Err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
