package sqldb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"
	"time"
)

// ErrOtherSchema means that the database was migrated by texts that this program does not have: by a version from
// before the first release, mostly.
var ErrOtherSchema = errors.New("the database was made by another version of this program, with other migrations")

// ErrNewerDatabase means that the database was migrated by a newer program than this one.
var ErrNewerDatabase = errors.New("the database is newer than this program")

// Migration is one numbered, forward-only step.
type Migration struct {
	Version  int64
	Name     string
	SQL      string
	Checksum string
}

// Migrations reads the files NNNN_name.sql of a folder. Numbers run from 1 without gaps, so that two branches that both
// add the next one collide at once and not in production.
func Migrations(files fs.FS) ([]Migration, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	sort.Strings(names)
	list := make([]Migration, 0, len(names))
	for i, name := range names {
		number, rest, ok := strings.Cut(strings.TrimSuffix(name, ".sql"), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil || version != int64(i+1) {
			return nil, fmt.Errorf("migration file %s: expected the name %04d_something.sql", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		sum := sha256.Sum256(text)
		list = append(
			list,
			Migration{Version: version, Name: rest, SQL: string(text), Checksum: hex.EncodeToString(sum[:])},
		)
	}
	return list, nil
}

// migrationLock is the key of the PostgreSQL advisory lock under which migrations run; any fixed number would do.
const migrationLock = 0x76696769

// ErrBehindCoordinator means that a worker of a Citus cluster lacks migrations, which only the coordinator can apply.
var ErrBehindCoordinator = errors.New(
	"this database is a worker of a Citus cluster and its schema is behind this program",
)

// ApplyMigrations applies the steps that are missing, each in its own transaction, and returns them. Many replicas may
// call it at once: on PostgreSQL an advisory lock and on SQLite the single writer let one go first, and the others find
// nothing left to do. A step that was applied with another text, or a database with steps this program does not know,
// is refused, and so is a step on a worker of a Citus cluster.
func (d *DB) ApplyMigrations(ctx context.Context, list []Migration, now time.Time) ([]Migration, error) {
	missing, err := d.CountPending(ctx, list)
	switch {
	case err == nil && missing == 0:
		return nil, nil
	case d.coordinator != "" && err == nil:
		return nil, fmt.Errorf(
			"%w: run `vigia migrate --distribute` with the address of the coordinator (%s), then start this again",
			ErrBehindCoordinator,
			d.coordinator,
		)
	case d.coordinator != "":
		return nil, err
	}
	const table = `CREATE TABLE IF NOT EXISTS schema_migration (
		version BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)`
	err = d.InTransaction(ctx, func(tx *Tx) error {
		if err := tx.lockMigrations(ctx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, table)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("prepare migrations: %w", err)
	}
	var applied []Migration
	for _, m := range list {
		done := false
		err := d.InTransaction(ctx, func(tx *Tx) error {
			done = false
			if err := tx.lockMigrations(ctx); err != nil {
				return err
			}
			if _, err := appliedTo(ctx, tx, list); err != nil {
				return err
			}
			var err error
			done, err = tx.applyMigration(ctx, m, now)
			return err
		})
		if err != nil {
			return applied, fmt.Errorf("migration %04d_%s: %w", m.Version, m.Name, err)
		}
		if done {
			applied = append(applied, m)
		}
	}
	return applied, nil
}

// lockMigrations makes sure that one process migrates at a time. The lock ends with the transaction; SQLite has one
// writer anyway.
func (t *Tx) lockMigrations(ctx context.Context) error {
	if t.engine != PostgreSQL {
		return nil
	}
	// A migration may rewrite a large table, and a replica may wait for another's: neither is bound by the timeouts of
	// ordinary statements.
	_, err := t.ExecContext(ctx,
		`SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)`)
	if err != nil {
		return fmt.Errorf("lift the timeouts: %w", err)
	}
	if _, err := t.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
		return fmt.Errorf("wait for the migration lock: %w", err)
	}
	return nil
}

// appliedTo returns the newest migration that the database has. It refuses one that is newer than list, and one whose
// migrations are not those of list: that is neither newer nor older.
func appliedTo(ctx context.Context, q Querier, list []Migration) (newest int64, err error) {
	err = EachRow(ctx, q, func(row Row) error {
		var checksum string
		err := row.Scan(&newest, &checksum)
		if err == nil && newest <= int64(len(list)) && list[newest-1].Checksum != checksum {
			err = fmt.Errorf(
				"%w: its migration %d has checksum %.12s, that of this program %.12s. Run the program that made it; "+
					"there is no upgrade from it",
				ErrOtherSchema,
				newest,
				checksum,
				list[newest-1].Checksum,
			)
		}
		return err
	}, `SELECT version, checksum FROM schema_migration ORDER BY version`)
	if err != nil {
		return newest, err
	}
	if newest > int64(len(list)) {
		return newest, fmt.Errorf(
			"%w: it has migration %d, this program knows %d; start a newer vigia, or restore a backup made before "+
				"the upgrade",
			ErrNewerDatabase,
			newest,
			len(list),
		)
	}
	return newest, nil
}

// applyMigration applies a migration unless it is there already.
func (t *Tx) applyMigration(ctx context.Context, m Migration, now time.Time) (bool, error) {
	var done bool
	const isApplied = `SELECT EXISTS (SELECT 1 FROM schema_migration WHERE version = $1)`
	err := t.QueryRowContext(ctx, isApplied, m.Version).Scan(&done)
	if err != nil || done {
		return false, err
	}
	if _, err := t.ExecContext(ctx, m.SQL); err != nil {
		return false, err
	}
	_, err = t.ExecContext(
		ctx,
		`INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)`,
		m.Version,
		m.Name,
		m.Checksum,
		now.UnixMicro(),
	)
	return err == nil, err
}

// CountPending counts the steps of list that the database does not have yet, all of them if it is empty; a database
// newer than list is an error.
func (d *DB) CountPending(ctx context.Context, list []Migration) (int, error) {
	newest, err := appliedTo(ctx, d.read, list)
	if err != nil && !isTableMissing(err) {
		return 0, err
	}
	return len(list) - int(newest), nil
}

// isTableMissing reports whether a statement failed because the database has no such table, as an empty one.
func isTableMissing(err error) bool {
	return hasSQLState(err, "42P01") || err != nil && strings.Contains(err.Error(), "no such table")
}
