package sqldb

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// statisticsPause is how long after an update of the planner's statistics the next one may follow, while there are
	// writes. A table that was empty a moment ago is filled by a bank within minutes; until the planner knows, it reads
	// all that a partner has where it should look single rows up.
	statisticsPause = 2 * time.Second
	// connectionLife is how long a reading connection of SQLite lives: it loads the statistics when it opens.
	connectionLife = time.Minute
	// analysisInterval is how often SQLite analyzes every table, because an index that was empty may have filled.
	analysisInterval = time.Hour
)

// startStatistics starts to update the statistics of PostgreSQL's planner while this process writes, and returns the
// function that stops it. On SQLite who carries the log over does that.
func (d *DB) startStatistics() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-d.wrote:
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(statisticsPause):
			}
			_ = d.UpdateStatistics(ctx, false) // older statistics serve until the next look
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// UpdateStatistics updates the planner's statistics of the tables that grew much since the last time, or on SQLite with
// all set of every table, because an index that was empty may have filled meanwhile.
func (d *DB) UpdateStatistics(ctx context.Context, all bool) error {
	if d.engine == PostgreSQL {
		return d.analyzeGrown(ctx)
	}
	// Each index is sampled, so this takes milliseconds. Grown means tenfold.
	statement := `PRAGMA analysis_limit = 400; PRAGMA optimize = 0x10002`
	if all {
		statement = `PRAGMA analysis_limit = 400; ANALYZE`
	}
	if _, err := d.write.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("update the planner's statistics: %w", err)
	}
	return nil
}

// analyzeGrown analyzes the tables of which more than half is newer than their statistics. PostgreSQL does the same by
// itself, but looks at a database once a minute. A table that another session analyzes at the moment is left out.
func (d *DB) analyzeGrown(ctx context.Context) error {
	var grown []string
	err := EachRow(ctx, d.write, func(row Row) error {
		grown = append(grown, "")
		return row.Scan(&grown[len(grown)-1])
	}, `SELECT quote_ident(relname) FROM pg_stat_user_tables
		WHERE schemaname = current_schema() AND n_mod_since_analyze > 2000 AND n_mod_since_analyze * 2 > n_live_tup
		ORDER BY relname`)
	if err != nil {
		return fmt.Errorf("find the tables that grew: %w", err)
	}
	for _, table := range grown {
		if _, err := d.write.ExecContext(ctx, `ANALYZE (SKIP_LOCKED) `+table); err != nil {
			return fmt.Errorf("update the planner's statistics: %w", err)
		}
	}
	return nil
}
