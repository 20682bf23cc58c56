package store

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

const warnBatch = 200

// WarnExpiring writes an event for each key whose notice is due: see cyber.DeviceStore. Notice and event are one
// transaction, and a row that another replica holds is passed over, so each notice is given once.
func (s Devices) WarnExpiring(ctx context.Context, decide func(d cyber.Device, now time.Time) cyber.Notice) (int, error) {
	total := 0
	for {
		var seen, told int
		err := s.inTx(ctx, func(tx *sqldb.Tx) (err error) {
			seen, told, err = s.warnBatch(ctx, tx, decide)
			return err
		})
		total += told
		if err != nil || seen < warnBatch {
			return total, err
		}
	}
}

func (s Devices) warnBatch(ctx context.Context, tx *sqldb.Tx, decide func(d cyber.Device, now time.Time) cyber.Notice) (seen, told int, err error) {
	now := s.now()
	// In the order of partners: two workers number events of several partners without waiting for each other in a
	// circle.
	due, err := collect(ctx, tx, s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE id IN (
		SELECT id FROM epp_key WHERE next_warning > 0 AND next_warning <= $1 ORDER BY next_warning LIMIT $2`+s.db.SkipLocked()+`)
		ORDER BY partner_id, id`, micros(now), int64(warnBatch))
	if err != nil {
		return 0, 0, fmt.Errorf("find keys to announce: %w", err)
	}
	events := map[partner.ID][]alert.Event{}
	var order []partner.ID
	for _, d := range due {
		notice := decide(d, now)
		_, err := tx.ExecContext(ctx, `UPDATE epp_key SET next_warning = $2 WHERE id = $1`, string(d.ID), micros(notice.Next))
		if err != nil {
			return 0, 0, fmt.Errorf("note announcement: %w", err)
		}
		if !notice.Tell {
			continue
		}
		e, err := alert.KeyExpires(d, now)
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
		if err := s.alerts().addEvents(ctx, tx, id, events[id]...); err != nil {
			return 0, 0, err
		}
	}
	return len(due), told, nil
}
