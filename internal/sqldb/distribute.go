package sqldb

import (
	"context"
	"errors"
	"fmt"
)

// ErrNotDistributed means that the database cannot spread tables over machines.
var ErrNotDistributed = errors.New("the database has no extension citus: install it on every machine, " +
	"CREATE EXTENSION citus, add the workers by citus_add_node, and try again")

// Distribute has a PostgreSQL with the extension Citus spread tables over its machines: every table with column in its
// primary key is distributed by it, all of one value on one machine, and everywhere is copied to all machines, in this
// order. Tables that are spread already stay as they are. It returns how many it has spread.
func (d *DB) Distribute(ctx context.Context, column string, everywhere []string) (done int, err error) {
	if d.engine != PostgreSQL {
		return 0, ErrNotDistributed
	}
	var there bool
	err = d.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')`).Scan(&there)
	if err != nil || !there {
		return 0, errors.Join(err, ErrNotDistributed)
	}
	for _, table := range everywhere {
		if err := d.spread(ctx, &done, table, `SELECT create_reference_table($1::regclass)`, table); err != nil {
			return done, err
		}
	}
	tables, err := d.tablesBy(ctx, column)
	if err != nil {
		return done, err
	}
	for _, table := range tables {
		together := tables[0] // rows of one value lie on one machine, whatever their table
		if table == together {
			together = "default"
		}
		err := d.spread(ctx, &done, table, `SELECT create_distributed_table($1::regclass, $2, colocate_with => $3)`, table, column, together)
		if err != nil {
			return done, err
		}
	}
	return done, d.passSettingsOn(ctx)
}

// passSettingsOn has what a transaction sets for itself count on every machine that it reaches, such as how long it
// waits for a lock. Sessions that begin from now on have it.
func (d *DB) passSettingsOn(ctx context.Context) error {
	var name, now string
	err := d.read.QueryRowContext(ctx, `SELECT quote_ident(current_database()), current_setting('citus.propagate_set_commands')`).Scan(&name, &now)
	if err == nil && now != "local" {
		_, err = d.write.ExecContext(ctx, `ALTER DATABASE `+name+` SET citus.propagate_set_commands TO 'local'`)
	}
	if err != nil {
		return fmt.Errorf("have machines share settings: %w", err)
	}
	return nil
}

// spread spreads a table unless it is spread already.
func (d *DB) spread(ctx context.Context, done *int, table, statement string, args ...any) error {
	var already bool
	// Citus also lists tables that are local and refer to one that is everywhere: hashed ones and full copies count.
	err := d.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_dist_partition
		WHERE logicalrelid = $1::regclass AND (partmethod = 'h' OR repmodel = 't'))`, table).Scan(&already)
	if err == nil && !already {
		err = d.InTx(ctx, func(tx *Tx) error {
			if err := tx.lockMigrations(ctx); err != nil {
				return err
			}
			// Or Citus makes tables its own that wait for their turn, and then refuses their references.
			// One machine after the other, since a table may refer to one that is everywhere.
			_, err := tx.ExecContext(ctx, `SELECT set_config('citus.enable_local_reference_table_foreign_keys', 'off', true),
				set_config('citus.multi_shard_modify_mode', 'sequential', true)`)
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

// tablesBy are the tables with column in their primary key, those that others refer to first.
func (d *DB) tablesBy(ctx context.Context, column string) (names []string, err error) {
	rows, err := d.read.QueryContext(ctx, `SELECT c.relname FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey) AND a.attname = $1
		WHERE c.relnamespace = current_schema()::regnamespace
		ORDER BY (SELECT count(*) FROM pg_constraint f WHERE f.contype = 'f' AND f.confrelid = c.oid AND f.conrelid <> c.oid) = 0, c.relname`, column)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	defer func() { _ = rows.Close() }() // Err below reports what matters
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("list tables: %w", err)
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
