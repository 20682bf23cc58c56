package sqldb

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
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
	if _, err := t.ExecContext(
		ctx,
		`SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)`,
	); err != nil {
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

// unverifiedHost returns a host of the address that an attacker on the network could impersonate: it is neither a
// socket nor this machine, and its certificate is not checked. It returns "" when there is none.
func unverifiedHost(cfg *pgx.ConnConfig) string {
	if answersUnchecked(cfg.Host, cfg.TLSConfig) {
		return cfg.Host
	}
	for _, f := range cfg.Fallbacks { // other hosts, and what is tried when the server knows no TLS
		if answersUnchecked(f.Host, f.TLSConfig) {
			return f.Host
		}
	}
	return ""
}

// answersUnchecked reports whether a server at host is neither local nor proved by a certificate that is checked.
func answersUnchecked(host string, secure *tls.Config) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return false
	}
	if a, err := netip.ParseAddr(host); err == nil && a.Unmap().IsLoopback() {
		return false
	}
	// verify-ca skips the standard library's check, which includes the name, and makes its own of the chain.
	return secure == nil || secure.InsecureSkipVerify && secure.VerifyPeerCertificate == nil
}

// Unverified reports whether a PostgreSQL address is reached without checking who answers.
func Unverified(address string) bool {
	cfg, err := pgx.ParseConfig(address)
	return isPostgres(address) && err == nil && unverifiedHost(cfg) != ""
}

// isPostgres reports whether the address is one of PostgreSQL; everything else is the path of a SQLite file.
func isPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// refuseUnverified keeps the password and the rows from being sent to a server whose identity is not checked.
func refuseUnverified(cfg *pgx.ConnConfig, insecure bool) error {
	if host := unverifiedHost(cfg); host != "" && !insecure {
		return fmt.Errorf(
			"database: the certificate of %+q would not be checked, so that anybody on the way could answer in its "+
				"place. "+
				"Add sslmode=verify-full to the address (and sslrootcert=FILE for a certificate authority of your "+
				"own), or say --database-insecure",
			host,
		)
	}
	return nil
}

// chunkRows is how many rows go to PostgreSQL as arguments of one statement.
const chunkRows = 500

// LoadMissing is Load for rows that may exist already: a row that meets a unique constraint is left out and the rest is
// inserted, even if another transaction is inserting the same rows at that moment. key names a BIGINT column among
// columns; its values in the rows that were new are returned in ascending order. With an empty key nothing is returned.
func (t *Tx) LoadMissing(
	ctx context.Context,
	table string,
	columns []string,
	key string,
	next func() ([]any, error),
) ([]int64, error) {
	return t.loadRows(ctx, table, columns, " ON CONFLICT DO NOTHING", key, next)
}

// loadRows is InsertRows with what is done on a conflict, and LoadMissing.
func (t *Tx) loadRows(
	ctx context.Context,
	table string,
	columns []string,
	conflict, key string,
	next func() ([]any, error),
) (added []int64, err error) {
	insert := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") "
	if t.engine == PostgreSQL {
		err = t.insertChunks(ctx, insert, len(columns), conflict, key, next, &added)
	} else {
		added, err = t.insertEach(
			ctx,
			insert+"VALUES ("+numberedMarks(len(columns))+")"+conflict,
			slices.Index(columns, key),
			next,
		)
	}
	slices.Sort(added)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", table, err)
	}
	return added, nil
}

// insertChunks inserts rows, many with each statement, and appends the values of key in those that were new.
//
// COPY would be a fifth faster, and is not used: while the server waits for more rows of one it obeys neither
// statement_timeout nor idle_in_transaction_session_timeout, so a process that hangs in the middle would keep what its
// transaction has locked for as long as it hangs.
func (t *Tx) insertChunks(
	ctx context.Context,
	insert string,
	columns int,
	conflict, key string,
	next func() ([]any, error),
	added *[]int64,
) error {
	for {
		rows, err := readChunk(next)
		if err != nil || len(rows) == 0 {
			return err
		}
		values, args := "VALUES ("+numberedMarks(columns)+")", rows[0] // Citus sends one row straight to its node
		if len(rows) > 1 {
			values, args = columnArrays(rows)
		}
		if key == "" {
			_, err = t.ExecContext(ctx, insert+values+conflict, args...)
		} else {
			err = t.insertReturning(ctx, insert+values+conflict+" RETURNING "+key, args, added)
		}
		if err != nil || len(rows) < chunkRows { // next has said that there are no more
			return err
		}
	}
}

// readChunk reads up to chunkRows rows, each with values of its own.
func readChunk(next func() ([]any, error)) (rows [][]any, err error) {
	for len(rows) < chunkRows {
		row, err := next()
		if err != nil || row == nil {
			return rows, err
		}
		rows = append(rows, convertArguments(slices.Clone(row)))
	}
	return rows, nil
}

// numberedMarks returns n numbered placeholders, separated by commas.
func numberedMarks(n int) string {
	text := ""
	for i := range n {
		text += ", $" + strconv.Itoa(i+1)
	}
	return strings.TrimPrefix(text, ", ")
}

// columnArrays turns rows into one array for each column, and returns a SELECT of them.
func columnArrays(rows [][]any) (query string, args []any) {
	types := ""
	for i, v := range rows[0] {
		if i > 0 {
			types += ", "
		}
		types += "$" + strconv.Itoa(i+1)
		switch v.(type) {
		case int64:
			types, args = types+"::bigint[]", append(args, columnArray[int64](rows, i))
		case string:
			types, args = types+"::text[]", append(args, columnArray[string](rows, i))
		case bool:
			types, args = types+"::boolean[]", append(args, columnArray[bool](rows, i))
		case sql.NullInt64:
			types, args = types+"::bigint[]", append(args, columnArray[sql.NullInt64](rows, i))
		default:
			types, args = types+"::bytea[]", append(args, columnArray[[]byte](rows, i))
		}
	}
	return "SELECT * FROM unnest(" + types + ")", args
}

// columnArray returns one column of the rows as an array argument for unnest.
func columnArray[T any](rows [][]any, column int) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i], _ = row[column].(T) // NULL stays the zero value: that of bytes is NULL
	}
	return values
}

// insertReturning runs an INSERT and appends the numbers that it returns.
func (t *Tx) insertReturning(ctx context.Context, insert string, args []any, added *[]int64) error {
	return EachRow(ctx, t, func(row Row) error {
		*added = append(*added, 0)
		return row.Scan(&(*added)[len(*added)-1])
	}, insert, args...)
}

// insertEach inserts row by row. It is for SQLite, where a statement costs no round trip.
func (t *Tx) insertEach(
	ctx context.Context,
	insert string,
	key int,
	next func() ([]any, error),
) (added []int64, err error) {
	stmt, err := t.PrepareContext(ctx, insert)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	for {
		row, err := next()
		if err != nil || row == nil {
			return added, err
		}
		t.noteMarks(convertArguments(row))
		res, err := stmt.ExecContext(ctx, row...)
		if err != nil {
			return nil, err
		}
		if key < 0 {
			continue
		}
		n, err := res.RowsAffected()
		if err != nil {
			return nil, err
		}
		if v, ok := row[key].(int64); ok && n == 1 {
			added = append(added, v)
		}
	}
}
