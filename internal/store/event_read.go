package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
)

// keptColumns are those that scanning an event expects, in its order.
const keptColumns = `id, seq, type, body, created_at`

// scanKeptEvent reads and opens an event.
func (s Alerts) scanKeptEvent(id partner.ID) func(scanner, *alert.Kept) error {
	return func(row scanner, e *alert.Kept) error {
		return row.Scan(
			&e.ID,
			&e.Seq,
			&e.Type,
			s.unseals(&e.Body, func() seal.Place { return eventPlace(id, string(e.ID)) }),
			&e.At,
		)
	}
}

func (s Alerts) GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		s.scanKeptEvent(id),
		alert.ErrEventNotFound,
		`SELECT `+keptColumns+` FROM event WHERE partner_id = $1 AND id = $2`,
		id,
		event,
	)
}

// EventsAfter returns up to limit events of some areas that follow seq. The newest number is read first, so that it is
// never ahead of the events.
func (s Alerts) EventsAfter(
	ctx context.Context, id partner.ID, of alert.Areas, seq int64, limit int,
) (alert.Stretch, error) {
	var found alert.Stretch
	q := s.readQuerier()
	err := readColumns(
		ctx,
		q,
		[]any{&found.Newest, &found.NewestID, &found.At},
		`SELECT c.last, coalesce((SELECT e.id FROM event e WHERE e.partner_id = $1 AND e.seq = c.last), ''),
			coalesce((SELECT e.id FROM event e WHERE e.partner_id = $1 AND e.seq = $2), '')
		FROM event_counter c WHERE c.partner_id = $1`,
		id,
		seq,
	)
	if errors.Is(err, sql.ErrNoRows) {
		return found, nil
	}
	if err != nil {
		return found, err
	}
	args, only := []any{id, seq, limit}, ""
	if of != alert.Everything {
		only = ` AND type IN (` + appendMarks(&args, of.ListTypes()) + `)`
	}
	found.Events, err = collectRows(
		ctx,
		q,
		s.scanKeptEvent(id),
		`SELECT `+keptColumns+` FROM event WHERE partner_id = $1 AND seq > $2`+only+`
		ORDER BY seq LIMIT $3`,
		args...,
	)
	next := seq + 1
	if err != nil || found.Newest < next || len(found.Events) > 0 && found.Events[0].Seq == next {
		return found, err
	}
	found.Gap, err = readValue[bool](ctx, q, `SELECT NOT EXISTS (SELECT 1 FROM event WHERE partner_id = $1 AND seq = $2)
		AND NOT EXISTS (SELECT 1 FROM event_gap WHERE partner_id = $1 AND seq = $2)`,
		id,
		next,
	)
	return found, err
}

// NewestEvents returns up to limit events of some areas, the newest first.
func (s Alerts) NewestEvents(ctx context.Context, id partner.ID, of alert.Areas, limit int) ([]alert.Kept, error) {
	args := []any{id, limit}
	return collectRows(
		ctx,
		s.readQuerier(),
		s.scanKeptEvent(id),
		`SELECT `+keptColumns+` FROM event WHERE partner_id = $1
		AND type IN (`+appendMarks(&args, of.ListTypes())+`) ORDER BY seq DESC LIMIT $2`,
		args...,
	)
}
