package sqldb_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var errUndone = errors.New("undone")

// TestWatchWriter: every transaction is told of with its time and the rows that it wrote, undone ones included.
func TestWatchWriter(t *testing.T) {
	ctx := context.Background()
	db := open(t, filepath.Join(t.TempDir(), "vigia.db"))
	const fill = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO r SELECT i FROM n`
	write := func(statement string, result error) {
		err := db.InTransaction(ctx, func(tx *sqldb.Tx) error {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
			return result
		})
		if !errors.Is(err, result) {
			t.Fatal(err)
		}
	}
	write(`CREATE TABLE r (x BIGINT)`, nil)
	write(fill, nil)
	var rows []int64
	err := db.WatchWriter(ctx, func(h sqldb.Hold) {
		if rows = append(rows, h.RowsWritten()); h.Time <= 0 {
			t.Error(h.Time)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	write(fill, nil)
	write(`DELETE FROM r WHERE x > 100`, errUndone)
	if len(rows) != 2 || rows[0] != 300 || rows[1] != 400 {
		t.Error(rows)
	}
}

// TestInBatches: work ends when a step does nothing, no step is allowed more than was asked for, and the size grows
// while steps are quick and shrinks when they are not.
func TestInBatches(t *testing.T) {
	ctx := context.Background()
	db := open(t, filepath.Join(t.TempDir(), "vigia.db"))
	var limits []int64
	left, slow := int64(2000), false
	done, err := db.InBatches(ctx, 300, func(_ *sqldb.Tx, done, limit int64) (int64, error) {
		if done != 2000-left {
			t.Error(done, left)
		}
		limits = append(limits, limit)
		if len(limits) == 4 {
			slow = true
		}
		if slow {
			time.Sleep(50 * time.Millisecond) // a slow disk
			slow = false
		}
		n := min(left, limit)
		left -= n
		return n, nil
	})
	if err != nil || done != 2000 || left != 0 {
		t.Fatal(done, left, err)
	}
	for i, limit := range limits {
		if limit > 300 || limit < 1 {
			t.Error(limits)
		}
		if i == 4 && limit != limits[3]/2 {
			t.Error("a slow step is not followed by a smaller one:", limits)
		}
	}
	stop := errors.New("stop")
	if done, err := db.InBatches(
		ctx,
		10,
		func(*sqldb.Tx, int64, int64) (int64, error) { return 1, stop },
	); done != 0 ||
		!errors.Is(err, stop) {
		t.Error(done, err)
	}
}
