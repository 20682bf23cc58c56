package store

import (
	"context"
	"fmt"

	"vigia/internal/alert"
	"vigia/internal/partner"
	"vigia/internal/seal"
	"vigia/internal/sqldb"
)

func eventPlace(id partner.ID, event string) seal.Place {
	return seal.Place{Table: "event", Column: "body", Partner: string(id), Row: event}
}

// addEvents keeps events of one partner in the transaction of what caused them.
func (s *Store) addEvents(ctx context.Context, tx *sqldb.Tx, id partner.ID, events ...alert.Event) error {
	if len(events) == 0 {
		return nil
	}
	var last int64
	err := tx.QueryRowContext(ctx, `INSERT INTO event_counter (partner_id, last) VALUES ($1, $2)
		ON CONFLICT (partner_id) DO UPDATE SET last = event_counter.last + $2 RETURNING last`,
		string(id), int64(len(events))).Scan(&last)
	if err != nil {
		return fmt.Errorf("number events: %w", err)
	}
	seq, i := last-int64(len(events)), 0
	_, err = tx.Load(ctx, "event", []string{"id", "partner_id", "seq", "type", "person", "body", "created_at"}, func() ([]any, error) {
		if i == len(events) {
			return nil, nil
		}
		e := events[i]
		i++
		seq++
		body, err := e.Body()
		if err != nil {
			return nil, err
		}
		sealed, err := s.keys.Seal(eventPlace(id, string(e.ID)), body)
		if err != nil {
			return nil, fmt.Errorf("seal event: %w", err)
		}
		return []any{string(e.ID), string(id), seq, string(e.Type), s.userIndex(id, e.User), sealed, micros(e.At)}, nil
	})
	if err != nil {
		return fmt.Errorf("keep events: %w", err)
	}
	return nil
}
