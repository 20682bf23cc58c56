package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

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

// noSync, behind an address, is for a file that is not kept.
const noSync = "&_pragma=synchronous(OFF)"

// sqliteAddress names a file with the settings that every connection has. They go in the address, so that no connection
// of a pool can miss them. secure_delete overwrites erased values. The journal mode is not among them: see enableWAL.
// A larger cache makes commits slower: one that follows a split of pages searches it whole for pages beyond the end of
// the file, as long as that is below 1 GB.
func sqliteAddress(path string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + strings.Join([]string{
		fmt.Sprintf("_pragma=busy_timeout(%d)", busyTime.Milliseconds()),
		"_pragma=synchronous(" + synchronous + ")",
		"_pragma=foreign_keys(1)",
		"_pragma=secure_delete(1)",
		"_pragma=cache_size(-16000)",
		"_pragma=temp_store(MEMORY)",
		"_pragma=wal_autocheckpoint(" + logPages + ")",
	}, "&")
}
