package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// Replica is a process that serves partners.
type Replica struct {
	ID string
	// Place is its machine and data folder, for people.
	Place string
	// Passwords has the digest of each imported corpus of breached passwords that it answers from, by algorithm.
	Passwords map[string]string
}

// NoteReplica says that a process serves partners, and returns all that do: those that said so within the last time
// given. One that has not for ten times as long is forgotten.
func (s Upkeep) NoteReplica(ctx context.Context, r Replica, within time.Duration) ([]Replica, error) {
	now := s.now()
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) ([]Replica, error) {
		err := tx.RunStatements(ctx, sqldb.Statements{
			sqldb.NewStatement(`INSERT INTO replica (id, seen_at, place, passwords) VALUES ($1, $2, $3, $4)
				ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, passwords = excluded.passwords`,
				r.ID,
				now,
				r.Place,
				jsonArgument{r.Passwords},
			),
			sqldb.NewStatement(`DELETE FROM replica WHERE seen_at < $1`, now.Add(-10*within)),
		})
		if err != nil {
			return nil, err
		}
		return listReplicas(ctx, tx, now.Add(-within))
	})
}

// ListReplicas returns the processes that serve partners.
func (s Upkeep) ListReplicas(ctx context.Context, within time.Duration) ([]Replica, error) {
	return listReplicas(ctx, s.readQuerier(), s.now().Add(-within))
}

func listReplicas(ctx context.Context, q querier, since time.Time) ([]Replica, error) {
	return collectRows(ctx, q, func(row scanner, r *Replica) error {
		return row.Scan(&r.ID, &r.Place, parsesJSON(&r.Passwords))
	}, `SELECT id, place, passwords FROM replica WHERE seen_at >= $1 ORDER BY place, id`, since)
}

// DropReplica says that a process serves partners no longer.
func (s Upkeep) DropReplica(ctx context.Context, id string) error {
	return s.execAlone(ctx, `DELETE FROM replica WHERE id = $1`, id)
}
