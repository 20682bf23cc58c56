package sqldb

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/polltest"
)

// TestScrubWaits: a vacuum that is bound by the limits of ordinary statements never ends on a large table, or beside
// another one.
func TestScrubWaits(t *testing.T) {
	ctx := context.Background()
	d, err := OpenDatabase(ctx, gatetest.Postgres(t)+"&lock_timeout=100", Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	table := fmt.Sprintf("scrub_%d", time.Now().UnixNano())
	if _, err := d.write.ExecContext(ctx, `CREATE TABLE `+table+` (n BIGINT PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = d.write.ExecContext(ctx, `DROP TABLE `+table) })
	scrubbed := make(chan error, 1)
	err = d.InTransaction(ctx, func(tx *Tx) error {
		if _, err := tx.ExecContext(ctx, `LOCK TABLE `+table+` IN SHARE UPDATE EXCLUSIVE MODE`); err != nil {
			return err
		}
		go func() { scrubbed <- d.ScrubDeleted(ctx, table) }()
		select {
		case err := <-scrubbed:
			return fmt.Errorf("it did not wait: %w", err)
		case <-time.After(500 * time.Millisecond):
			return nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-scrubbed; err != nil {
		t.Error(err)
	}
	var limit string
	if err := d.write.QueryRowContext(ctx, `SELECT current_setting('lock_timeout')`).Scan(&limit); err != nil || limit != "100ms" {
		t.Error("the next session:", limit, err)
	}
}

// TestGrownTablesAreAnalyzed: PostgreSQL's planner learns of rows without waiting for the server's own rounds, which are
// off for this table.
func TestGrownTablesAreAnalyzed(t *testing.T) {
	ctx := context.Background()
	d, err := OpenDatabase(ctx, gatetest.Postgres(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	table := fmt.Sprintf("grown_%d", time.Now().UnixNano())
	create := `CREATE TABLE ` + table + ` (n BIGINT PRIMARY KEY) WITH (autovacuum_enabled = false)`
	if _, err := d.write.ExecContext(ctx, create); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = d.write.ExecContext(ctx, `DROP TABLE `+table) })
	write := func(text string) {
		t.Helper()
		if err := d.InTransaction(ctx, func(tx *Tx) error { _, err := tx.ExecContext(ctx, text); return err }); err != nil {
			t.Fatal(err)
		}
	}
	write(`INSERT INTO ` + table + ` SELECT generate_series(1, 5000)`)
	polltest.Until(t, "statistics of 5,000 rows", func() bool {
		write(`UPDATE ` + table + ` SET n = n WHERE n = 1`) // writes go on
		var rows float64
		err := d.write.QueryRowContext(ctx, `SELECT reltuples FROM pg_class WHERE relname = $1`, table).Scan(&rows)
		return err == nil && rows > 4000
	})
}
