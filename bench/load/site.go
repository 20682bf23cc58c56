package load

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/sqldb"
)

// Engines are the engines to measure: the one that was asked for, or both.
func Engines(asked string) []string {
	if asked != "" {
		return []string{asked}
	}
	return []string{"sqlite", "postgres"}
}

// CPF is the n-th made-up CPF, with right check digits.
func CPF(n int) string {
	s := fmt.Sprintf("%09d", 100_000_000+n)
	for range 2 {
		sum := 0
		for i := range len(s) {
			sum += int(s[i]-'0') * (len(s) + 1 - i)
		}
		s += strconv.Itoa(sum * 10 % 11 % 10)
	}
	return s
}

// NewSchema makes a schema of its own on the PostgreSQL that the environment names. Dropping it may take as long as it
// is large.
func NewSchema(ctx context.Context) (address string, drop func() error, err error) {
	base := os.Getenv("VIGIA_TEST_POSTGRES")
	if base == "" {
		return "", nil, errors.New("VIGIA_TEST_POSTGRES is not set: run under scripts/with-postgres")
	}
	u, err := url.Parse(base)
	if err != nil {
		return "", nil, err
	}
	name := "bench_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	run := func(ctx context.Context, statement string) error {
		db, err := sqldb.Open(ctx, base, sqldb.Options{StatementTimeout: time.Hour})
		if err != nil {
			return err
		}
		err = db.InTx(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(ctx, statement)
			return err
		})
		return errors.Join(err, db.Close())
	}
	if err := run(ctx, `CREATE SCHEMA `+name); err != nil {
		return "", nil, err
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String(), func() error { return run(context.WithoutCancel(ctx), `DROP SCHEMA `+name+` CASCADE`) }, nil
}
