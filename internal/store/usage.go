package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ partner.MeterStore = Partners{}

// AddRequests counts what a partner asked for: see partner.MeterStore.
func (s Partners) AddRequests(ctx context.Context, id partner.ID, counts []partner.Requests, forget int64) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		for _, c := range counts {
			if err := execStatement(ctx, tx, "count requests", `INSERT INTO request_count (partner_id, day, operation, sent, refused) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (partner_id, day, operation) DO UPDATE SET sent = request_count.sent + excluded.sent, refused = request_count.refused + excluded.refused`,
				partnerNumber(id), c.Day, c.Operation, c.Sent, c.Refused); err != nil {
				return err
			}
		}
		return execStatement(ctx, tx, "forget requests", `DELETE FROM request_count WHERE partner_id = $1 AND day < $2`, partnerNumber(id), forget)
	})
}

// RequestsOf returns what a partner asked for: see partner.MeterStore.
func (s Partners) RequestsOf(ctx context.Context, id partner.ID, since int64) ([]partner.Requests, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner) (r partner.Requests, err error) {
		err = row.Scan(&r.Day, &r.Operation, &r.Sent, &r.Refused)
		return r, err
	}, `SELECT day, operation, sent, refused FROM request_count WHERE partner_id = $1 AND day >= $2 ORDER BY day DESC, operation`, partnerNumber(id), since)
}

// LogRequests keeps the latest requests of a partner: see partner.MeterStore.
func (s Partners) LogRequests(ctx context.Context, id partner.ID, lines []partner.LoggedRequest) error {
	if len(lines) == 0 {
		return nil
	}
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		for i, l := range lines {
			if err := execStatement(ctx, tx, "log request", `INSERT INTO request_log (partner_id, at, number, operation, status, took, fault, key_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
				ON CONFLICT (partner_id, at, number) DO NOTHING`, partnerNumber(id), toMicros(l.At), int64(i), l.Operation, int64(l.Status), l.Took.Microseconds(), l.Fault, string(l.Key)); err != nil {
				return err
			}
		}
		return execStatement(ctx, tx, "forget requests", `DELETE FROM request_log WHERE partner_id = $1 AND at < (SELECT at FROM request_log WHERE partner_id = $1
			ORDER BY at DESC, number DESC LIMIT 1 OFFSET $2)`, partnerNumber(id), int64(partner.MaxLogged-1))
	})
}

// LatestRequests returns the latest requests of a partner: see partner.MeterStore.
func (s Partners) LatestRequests(ctx context.Context, id partner.ID, failedOnly bool, limit int) ([]partner.LoggedRequest, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner) (l partner.LoggedRequest, err error) {
		var at, took int64
		err = row.Scan(&at, &l.Operation, &l.Status, &took, &l.Fault, &l.Key)
		l.At, l.Took = fromMicros(at), time.Duration(took)*time.Microsecond
		return l, err
	}, `SELECT at, operation, status, took, fault, key_id FROM request_log WHERE partner_id = $1 AND (NOT $2 OR status >= 400) ORDER BY at DESC, number DESC LIMIT $3`,
		partnerNumber(id), failedOnly, int64(limit))
}
