package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
)

// ErrNotDistributed means that the database cannot spread tables over machines.
var ErrNotDistributed = errors.New("the database has no extension citus: install it on every machine, " +
	"CREATE EXTENSION citus, add the workers by citus_add_node, and try again")

// findCoordinator notes where the coordinator is when this server is a worker of a Citus cluster. Holders go there:
// advisory locks are known to one node only.
func (d *DB) findCoordinator(ctx context.Context, address string, opts Options) error {
	var host, port string
	there, err := d.hasCitus(ctx)
	if err == nil && there {
		err = d.read.QueryRowContext(ctx, `SELECT nodename, nodeport FROM pg_dist_node
			WHERE groupid = 0 AND EXISTS (SELECT 1 FROM pg_dist_local_group WHERE groupid <> 0)`).Scan(&host, &port)
	}
	if errors.Is(err, sql.ErrNoRows) || (err == nil && !there) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("database: find the coordinator: %w", err)
	}
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("database: the PostgreSQL address cannot be read") // its error would show the password
	}
	d.coordinator = net.JoinHostPort(host, port)
	u.Host = d.coordinator
	cfg, err := parseAddress(u.String(), opts)
	if err != nil {
		return err
	}
	d.holds = cfg.ConnConfig
	return nil
}

// hasCitus reports whether the database has the Citus extension; SQLite never has.
func (d *DB) hasCitus(ctx context.Context) (there bool, err error) {
	if d.engine == PostgreSQL {
		const hasCitus = `SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')`
		err = d.read.QueryRowContext(ctx, hasCitus).Scan(&there)
	}
	return there, err
}

// Distribute has a PostgreSQL with the extension Citus spread tables over its machines: every table with column in its
// primary key is distributed by it, all of one value on one machine; everywhere is copied to all machines, in this
// order; and all other tables stay on the coordinator, where every machine reaches them. Tables that are spread already
// stay as they are. It returns how many it has spread.
func (d *DB) Distribute(ctx context.Context, column string, everywhere []string) (done int, err error) {
	if there, err := d.hasCitus(ctx); err != nil || !there {
		return 0, errors.Join(err, ErrNotDistributed)
	}
	for _, table := range everywhere {
		err := d.distributeTable(ctx, &done, table, `SELECT create_reference_table($1::regclass)`, table)
		if err != nil {
			return done, err
		}
	}
	tables, local, err := d.tablesKeyedBy(ctx, column)
	if err != nil {
		return done, err
	}
	for _, table := range tables {
		together := tables[0] // rows of one value lie on one machine, whatever their table
		if table == together {
			together = "default"
		}
		err := d.distributeTable(
			ctx,
			&done,
			table,
			`SELECT create_distributed_table($1::regclass, $2, colocate_with => $3)`,
			table,
			column,
			together,
		)
		if err != nil {
			return done, err
		}
	}
	for _, table := range local {
		if slices.Contains(everywhere, table) {
			continue
		}
		err := d.distributeTable(
			ctx,
			&done,
			table,
			`SELECT citus_add_local_table_to_metadata($1::regclass, cascade_via_foreign_keys => true)`,
			table,
		)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// distributeTable spreads a table unless it is spread already.
func (d *DB) distributeTable(ctx context.Context, done *int, table, statement string, args ...any) error {
	var already bool
	// Citus also lists local tables, by itself, that refer to one that is everywhere: these do not count.
	err := d.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_dist_partition
		WHERE logicalrelid = $1::regclass AND NOT autoconverted)`, table).Scan(&already)
	if err == nil && !already {
		err = d.InTransaction(ctx, func(tx *Tx) error {
			if err := tx.lockMigrations(ctx); err != nil {
				return err
			}
			// Or Citus makes tables its own that wait for their turn, and then refuses their references.
			// One machine after the other, since a table may refer to one that is everywhere.
			_, err := tx.ExecContext(
				ctx,
				`SELECT set_config('citus.enable_local_reference_table_foreign_keys', 'off', true),
				set_config('citus.multi_shard_modify_mode', 'sequential', true)`,
			)
			if err == nil {
				_, err = tx.ExecContext(ctx, statement, args...)
			}
			return err
		})
		*done++
	}
	if err != nil {
		return fmt.Errorf("distribute %s: %w", table, err)
	}
	return nil
}

// tablesKeyedBy returns the tables with column in their primary key, those that others refer to first, and all others.
func (d *DB) tablesKeyedBy(ctx context.Context, column string) (with, without []string, err error) {
	err = EachRow(ctx, d.read, func(row Row) error {
		var name string
		var has bool
		err := row.Scan(&name, &has)
		if has {
			with = append(with, name)
		} else {
			without = append(without, name)
		}
		return err
	}, `SELECT c.relname, a.attname IS NOT NULL FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
		LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey) AND a.attname = $1
		WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
		ORDER BY (SELECT count(*) FROM pg_constraint f
			WHERE f.contype = 'f' AND f.confrelid = c.oid AND f.conrelid <> c.oid) = 0, c.relname`, column)
	return with, without, err
}
