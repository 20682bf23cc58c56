package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
)

// ReadApart runs fn on a connection of its own: also when everybody who has one of the pool waits for the answer.
func (d *DB) ReadApart(ctx context.Context, fn func(q Querier) error) (err error) {
	var own *sql.DB
	if d.engine == PostgreSQL {
		own = stdlib.OpenDB(*d.holds.Copy())
	} else if own, err = sql.Open("sqlite", d.address+"&_pragma=query_only(1)"); err != nil {
		return fmt.Errorf("open a connection: %w", err)
	}
	own.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, own.Close()) }()
	return fn(own)
}

// ErrStillWriting means that a transaction which began earlier has not ended.
var ErrStillWriting = errors.New("a transaction that began before has not ended")

// running lists the transactions of a database that have begun and not ended.
const running = `SELECT l.pid || ' ' || l.virtualtransaction || ' ' || coalesce(a.application_name, '')
	FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
	WHERE l.locktype = 'virtualxid' AND l.mode = 'ExclusiveLock' AND l.granted AND l.pid <> pg_backend_pid()
		AND a.datname = current_database() AND coalesce(a.backend_type, 'client backend') = 'client backend'`

// AwaitTransactions waits until every transaction has ended that was open when it was called: what they could not see
// yet, every later one sees. It returns ErrStillWriting when that takes longer than patience. On SQLite there is
// nothing to wait for: it has one writer at a time.
func (d *DB) AwaitTransactions(ctx context.Context, patience time.Duration) error {
	if d.engine == SQLite {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list := running
	if there, err := d.hasCitus(ctx); err != nil {
		return err
	} else if there { // partners' programs are connected to any node
		list = `SELECT nodeid || ' ' || unnest(string_to_array(result, chr(10))) FROM run_command_on_all_nodes($$
			SELECT string_agg(each.text, chr(10)) FROM (` + running + `) each(text) $$)`
	}
	before, err := d.queryTexts(ctx, list)
	if err != nil {
		return fmt.Errorf("list transactions: %w", err)
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		now, err := d.queryTexts(ctx, list)
		if err == nil {
			before = slices.DeleteFunc(before, func(t string) bool { return !slices.Contains(now, t) })
			if len(before) == 0 {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", ErrStillWriting, strings.Join(before, "; "))
		case <-time.After(pause):
		}
	}
}
