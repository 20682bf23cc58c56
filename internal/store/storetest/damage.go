package storetest

import (
	"context"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// Write runs a statement behind the program's back: it knows the tables and not the keys.
func Write(ctx context.Context, e *Env, statement string, args ...any) error {
	return e.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}
