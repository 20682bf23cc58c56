package store

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/sqldb"
)

// NoteReplica says that the process named id serves partners, and returns how many do: those that said so within the
// last time given. Who has not for ten times as long is forgotten.
func (s Upkeep) NoteReplica(ctx context.Context, id string, within time.Duration) (int, error) {
	now := s.now()
	var n int64
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
		if err := execStatement(ctx, tx, "note replica", `INSERT INTO replica (id, seen_at) VALUES ($1, $2)
			ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`, id, toMicros(now)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM replica WHERE seen_at < $1`, toMicros(now.Add(-10*within))); err != nil {
			return fmt.Errorf("forget replicas: %w", err)
		}
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM replica WHERE seen_at >= $1`, toMicros(now.Add(-within))).Scan(&n)
		return wrapError("count replicas", err)
	})
	return int(n), err
}

// DropReplica says that a process serves partners no longer.
func (s Upkeep) DropReplica(ctx context.Context, id string) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		return execStatement(ctx, tx, "drop replica", `DELETE FROM replica WHERE id = $1`, id)
	})
}
