package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// SavePull remembers how far a partner has read. A poll that brings nothing new writes nothing.
func (s Alerts) SavePull(ctx context.Context, id partner.ID, of alert.Areas, seq int64) error {
	known, err := s.loadPulls(ctx, id)
	if err != nil {
		return err
	}
	next := known.WithRead(of, seq)
	if next == known {
		return nil
	}
	return s.execAlone(ctx, `INSERT INTO event_pull (partner_id, seq, subscription_seq, at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (partner_id) DO UPDATE SET at = excluded.at,
				seq = CASE WHEN event_pull.seq < excluded.seq THEN excluded.seq ELSE event_pull.seq END,
				subscription_seq = CASE WHEN event_pull.subscription_seq < excluded.subscription_seq
					THEN excluded.subscription_seq ELSE event_pull.subscription_seq END`,
		id,
		next.Cyber,
		next.Subscriptions,
		s.now(),
	)
}

// loadPulls returns how far the partner has read.
func (s Alerts) loadPulls(ctx context.Context, id partner.ID) (alert.Pulls, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		func(row scanner, p *alert.Pulls) error { return row.Scan(&p.Cyber, &p.Subscriptions) },
		nil,
		`SELECT seq, subscription_seq FROM event_pull WHERE partner_id = $1`,
		id,
	)
}

// eventSeq returns the number of an event.
func (s Alerts) eventSeq(ctx context.Context, q querier, id partner.ID, event alert.EventID) (int64, error) {
	return readRow(
		ctx,
		q,
		scanValue[int64],
		alert.ErrEventNotFound,
		`SELECT seq FROM event WHERE partner_id = $1 AND id = $2`,
		id,
		event,
	)
}
