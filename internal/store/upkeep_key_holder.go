package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// KeyHolder is a process that serves with the keys of the database.
type KeyHolder struct {
	ID string
	// Place is its machine and data folder, for people.
	Place string
	// Epoch is the state of the ring that it has, Root what it opens the next one with.
	Epoch int64
	Root  string
}

// NoteKeyHolder says that a process serves and which keys it has. One that has not said so for ten times within is
// forgotten.
func (s Upkeep) NoteKeyHolder(ctx context.Context, h KeyHolder, within time.Duration) error {
	now := s.now()
	return s.runAll(
		ctx,
		sqldb.NewStatement(`INSERT INTO key_holder (id, seen_at, place, epoch, root) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, epoch = excluded.epoch`,
			h.ID,
			now,
			h.Place,
			h.Epoch,
			h.Root,
		),
		sqldb.NewStatement(`DELETE FROM key_holder WHERE seen_at < $1`, now.Add(-10*within)),
	)
}

// DropKeyHolder says that a process serves no longer.
func (s Upkeep) DropKeyHolder(ctx context.Context, id string) error {
	return s.execAlone(ctx, `DELETE FROM key_holder WHERE id = $1`, id)
}

// ListKeyHolders returns the processes that have said within a time that they serve.
func (s Upkeep) ListKeyHolders(ctx context.Context, within time.Duration) ([]KeyHolder, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, h *KeyHolder) error {
		return row.Scan(&h.ID, &h.Place, &h.Epoch, &h.Root)
	}, `SELECT id, place, epoch, root FROM key_holder WHERE seen_at >= $1 ORDER BY place, id`, s.now().Add(-within))
}
