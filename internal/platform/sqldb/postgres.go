package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

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
