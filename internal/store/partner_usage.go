package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ partner.MeterStore = Partners{}

// AddRequests counts what a partner asked for: see partner.MeterStore.
func (s Partners) AddRequests(ctx context.Context, id partner.ID, counts []partner.Requests, forget int64) error {
	var list sqldb.Statements
	for _, c := range counts {
		list.Add(
			`INSERT INTO request_count (partner_id, day, operation, sent, refused) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (partner_id, day, operation) DO UPDATE SET sent = request_count.sent + excluded.sent,
			refused = request_count.refused + excluded.refused`,
			id,
			c.Day,
			c.Operation,
			c.Sent,
			c.Refused,
		)
	}
	return s.runAll(
		ctx,
		append(list, sqldb.NewStatement(`DELETE FROM request_count WHERE partner_id = $1 AND day < $2`, id, forget))...,
	)
}

// RequestsOf returns what a partner asked for: see partner.MeterStore.
func (s Partners) RequestsOf(ctx context.Context, id partner.ID, since int64) ([]partner.Requests, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, r *partner.Requests) error {
		return row.Scan(&r.Day, &r.Operation, &r.Sent, &r.Refused)
	}, `SELECT day, operation, sent, refused FROM request_count WHERE partner_id = $1 AND day >= $2
		ORDER BY day DESC, operation`,
		id,
		since,
	)
}

// LogRequests keeps the latest requests of a partner: see partner.MeterStore.
func (s Partners) LogRequests(ctx context.Context, id partner.ID, lines []partner.LoggedRequest) error {
	if len(lines) == 0 {
		return nil
	}
	var list sqldb.Statements
	for i, l := range lines {
		list.Add(`INSERT INTO request_log (partner_id, at, number, operation, status, took, fault, key_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (partner_id, at, number) DO NOTHING`,
			id,
			l.At,
			i,
			l.Operation,
			l.Status,
			l.Took,
			l.Fault,
			l.Key,
		)
	}
	return s.runAll(
		ctx,
		append(
			list,
			sqldb.NewStatement(
				`DELETE FROM request_log WHERE partner_id = $1 AND at < (SELECT at FROM request_log
				WHERE partner_id = $1
		ORDER BY at DESC, number DESC LIMIT 1 OFFSET $2)`,
				id,
				partner.MaxLogged-1,
			),
		)...)
}

// LatestRequests returns the latest requests of a partner: see partner.MeterStore.
func (s Partners) LatestRequests(
	ctx context.Context, id partner.ID, failedOnly bool, limit int,
) ([]partner.LoggedRequest, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, l *partner.LoggedRequest) error {
		return row.Scan(&l.At, &l.Operation, &l.Status, &l.Took, &l.Fault, &l.Key)
	}, `SELECT at, operation, status, took, fault, key_id FROM request_log
		WHERE partner_id = $1 AND (NOT $2 OR status >= 400) ORDER BY at DESC, number DESC LIMIT $3`,
		id,
		failedOnly,
		limit,
	)
}
