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
		_, err := tx.ExecContext(ctx, `INSERT INTO replica (id, seen_at) VALUES ($1, $2)
			ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`, id, toMicros(now))
		if err != nil {
			return fmt.Errorf("note replica: %w", err)
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM replica WHERE seen_at < $1`, toMicros(now.Add(-10*within))); err != nil {
			return fmt.Errorf("forget replicas: %w", err)
		}
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM replica WHERE seen_at >= $1`, toMicros(now.Add(-within))).Scan(&n); err != nil {
			return fmt.Errorf("count replicas: %w", err)
		}
		return nil
	})
	return int(n), err
}

// DropReplica says that a process serves partners no longer.
func (s Upkeep) DropReplica(ctx context.Context, id string) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM replica WHERE id = $1`, id); err != nil {
			return fmt.Errorf("drop replica: %w", err)
		}
		return nil
	})
}
