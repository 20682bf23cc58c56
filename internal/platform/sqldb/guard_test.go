package sqldb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// guard marks bytes that begin with an M, refuses while it is told to, and renews what it has refused once.
type guard struct {
	refuse, renewed int
	seen            []uint32
}

var errRefused = errors.New("refused")

func (g *guard) FindMark(value []byte) (uint32, bool) {
	return uint32(len(value)), bytes.HasPrefix(value, []byte("M"))
}

func (g *guard) CheckMarks(ctx context.Context, in sqldb.Querier, marks []uint32) error {
	g.seen = append(g.seen, marks...)
	if g.refuse > 0 {
		g.refuse--
		return errRefused
	}
	var n int
	return in.QueryRowContext(ctx, `SELECT count(*) FROM marked`).Scan(&n)
}

func (g *guard) RenewAfter(_ context.Context, err error) bool {
	if errors.Is(err, errRefused) {
		g.renewed++
	}
	return errors.Is(err, errRefused) && g.renewed <= 1
}

// TestGuardSeesEveryWayToWrite: whatever way a marked value is written, the guard is asked before it is kept; what has
// none is not looked at, what it refuses is repeated once it has renewed what it knows, and otherwise nothing is kept.
func TestGuardSeesEveryWayToWrite(t *testing.T) {
	each(t, func(t *testing.T, _ string, db *sqldb.DB) {
		ctx := context.Background()
		err := db.InTransaction(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(ctx, `CREATE TABLE marked (id BIGINT PRIMARY KEY, value BYTEA NOT NULL)`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		const insert = `INSERT INTO marked (id, value) VALUES ($1, $2)`
		next := int64(0)
		ways := map[string]func(tx *sqldb.Tx, value []byte) error{
			"exec": func(tx *sqldb.Tx, value []byte) error {
				_, err := tx.ExecContext(ctx, insert, next, value)
				return err
			},
			"query": func(tx *sqldb.Tx, value []byte) error {
				return sqldb.EachRow(ctx, tx, func(row sqldb.Row) error { return row.Scan(new(int64)) },
					insert+` RETURNING id`, next, value)
			},
			"query row": func(tx *sqldb.Tx, value []byte) error {
				return tx.QueryRowContext(ctx, insert+` RETURNING id`, next, value).Scan(new(int64))
			},
			"statements": func(tx *sqldb.Tx, value []byte) error {
				return tx.RunStatements(ctx, []sqldb.Statement{sqldb.NewStatement(insert, next, value)})
			},
			"rows": func(tx *sqldb.Tx, value []byte) error {
				list := [][]any{{next, []byte("plain")}, {next + 1, value}}
				return tx.InsertRows(ctx, "marked", []string{"id", "value"}, func() ([]any, error) {
					if len(list) == 0 {
						return nil, nil
					}
					row := list[0]
					list = list[1:]
					return row, nil
				})
			},
		}
		count := func() (n int) {
			if err := db.ReadPool().QueryRowContext(ctx, `SELECT count(*) FROM marked`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		for name, write := range ways {
			for _, in := range []func(context.Context, func(*sqldb.Tx) error) error{db.InTransaction, db.InBulkTx} {
				run := func(g *guard, value string) error {
					db.GuardWrites(g)
					next += 10
					return in(ctx, func(tx *sqldb.Tx) error { return write(tx, []byte(value)) })
				}
				g := &guard{}
				if err := run(g, "plain"); err != nil || len(g.seen) != 0 {
					t.Errorf("%s, without a mark: %v, %v", name, g.seen, err)
				}
				if err := run(g, "Marked"); err != nil || fmt.Sprint(g.seen) != "[6]" {
					t.Errorf("%s: %v, %v", name, g.seen, err)
				}
				g = &guard{refuse: 1}
				if err := run(g, "Marked"); err != nil || g.renewed != 1 || len(g.seen) != 2 {
					t.Errorf("%s, renewed: %+v, %v", name, g, err)
				}
				before := count()
				g = &guard{refuse: 2}
				if err := run(g, "Marked"); !errors.Is(err, errRefused) || count() != before {
					t.Errorf("%s, refused: %v, %d rows kept", name, err, count()-before)
				}
			}
		}
	})
}

// TestAwaitTransactions waits for a transaction that only reads too, as that of a dump does, and for none that begins
// later.
func TestAwaitTransactions(t *testing.T) {
	each(t, func(t *testing.T, _ string, db *sqldb.DB) {
		ctx := context.Background()
		if err := db.AwaitTransactions(ctx, time.Minute); err != nil {
			t.Error("nothing is open:", err)
		}
		if db.EngineName() == sqldb.SQLite {
			return
		}
		err := db.ReadSnapshot(ctx, func(tx *sqldb.Tx) error {
			var n int
			if err := tx.QueryRowContext(ctx, `SELECT 1`).Scan(&n); err != nil {
				return err
			}
			if err := db.AwaitTransactions(ctx, 50*time.Millisecond); !errors.Is(err, sqldb.ErrStillWriting) {
				t.Error("one is open:", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.AwaitTransactions(ctx, time.Minute); err != nil {
			t.Error("it is over:", err)
		}
	})
}
