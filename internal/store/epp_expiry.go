package store

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

const warnBatch = 200

// WarnExpiring writes an event for each key whose notice is due: see cyber.DeviceStore. Notice and event are one
// transaction, and a row that another replica holds is passed over, so each notice is given once.
func (s *Store) WarnExpiring(ctx context.Context, next func(now, end time.Time) time.Time) (int, error) {
	total := 0
	for {
		var seen, told int
		err := s.inTx(ctx, func(tx *sqldb.Tx) (err error) {
			seen, told, err = s.warnBatch(ctx, tx, next)
			return err
		})
		total += told
		if err != nil || seen < warnBatch {
			return total, err
		}
	}
}

func (s *Store) warnBatch(ctx context.Context, tx *sqldb.Tx, next func(now, end time.Time) time.Time) (seen, told int, err error) {
	now := s.now()
	// In the order of partners: two workers number events of several partners without waiting for each other in a circle.
	due, err := collect(ctx, tx, s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE id IN (
		SELECT id FROM epp_key WHERE next_warning > 0 AND next_warning <= $1 ORDER BY next_warning LIMIT $2`+s.db.SkipLocked()+`)
		ORDER BY partner_id, id`, micros(now), int64(warnBatch))
	if err != nil {
		return 0, 0, fmt.Errorf("find keys to announce: %w", err)
	}
	events := map[partner.ID][]alert.Event{}
	var order []partner.ID
	for _, d := range due {
		_, err := tx.ExecContext(ctx, `UPDATE epp_key SET next_warning = $2 WHERE id = $1`, string(d.ID), micros(next(now, d.ValidUntil)))
		if err != nil {
			return 0, 0, fmt.Errorf("note announcement: %w", err)
		}
		if !d.LiveAt(now) { // the service was down while it ended: too late to be news
			continue
		}
		e, err := alert.New(d.Partner, alert.KeyExpiring, d.User, now, alert.KeyExpiry{
			User: d.User, Key: d.ID, System: d.System, ValidUntil: d.ValidUntil.UTC().Format(alert.TimeFormat),
		})
		if err != nil {
			return 0, 0, err
		}
		if events[d.Partner] == nil {
			order = append(order, d.Partner)
		}
		events[d.Partner] = append(events[d.Partner], e)
		told++
	}
	for _, id := range order {
		if err := s.addEvents(ctx, tx, id, events[id]...); err != nil {
			return 0, 0, err
		}
	}
	return len(due), told, nil
}
