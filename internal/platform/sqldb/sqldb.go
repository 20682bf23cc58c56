// Package sqldb is the only package that knows which database engine answers.
//
// It opens SQLite (embedded, the default) or PostgreSQL, runs transactions, sorts errors into classes, loads rows in
// bulk and applies migrations. Above it there is one query text for both engines: `$1` parameters and only TEXT,
// BIGINT, BOOLEAN and BYTEA columns. It knows no table of the product.
//
// The invariant it keeps: a transaction that InTransaction reports as committed is on disk. SQLite runs in WAL mode
// with synchronous=FULL, and a PostgreSQL that has fsync or synchronous_commit off is refused at Open.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
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

// EngineName returns the engine of the database.
func (d *DB) EngineName() Engine { return d.engine }

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
