package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
