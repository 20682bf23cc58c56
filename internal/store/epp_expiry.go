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

// WarnExpiring writes an event for each key whose notice is due: see cyber.DeviceStore. A partner's notices and events
// are one transaction, and a row that another replica holds is passed over, so each notice is given once.
func (s Devices) WarnExpiring(ctx context.Context, decide func(d cyber.Device, now time.Time) cyber.Notice) (int, error) {
	total := 0
	for {
		due, err := s.dueWarnings(ctx)
		if err != nil {
			return total, err
		}
		seen, decided := 0, 0
		for id, keys := range due {
			var locked, told int
			err := s.inTx(ctx, func(tx *sqldb.Tx) (err error) {
				locked, told, err = s.warn(ctx, tx, id, keys, decide)
				return err
			})
			if err != nil {
				return total, err
			}
			seen, decided, total = seen+len(keys), decided+locked, total+told
		}
		if seen < warnBatch || decided == 0 { // none: another replica has them all
			return total, nil
		}
	}
}

// dueWarnings are the first keys whose notice is due, by partner.
func (s Devices) dueWarnings(ctx context.Context) (map[partner.ID][]cyber.KeyID, error) {
	type key struct {
		partner partner.ID
		id      cyber.KeyID
	}
	found, err := collect(ctx, s.reader(), func(row scanner) (k key, err error) { return k, row.Scan(numbered(&k.partner), &k.id) },
		`SELECT partner_id, id FROM epp_key WHERE next_warning > 0 AND next_warning <= $1 ORDER BY next_warning LIMIT $2`,
		micros(s.now()), int64(warnBatch))
	if err != nil {
		return nil, fmt.Errorf("find keys to announce: %w", err)
	}
	due := map[partner.ID][]cyber.KeyID{}
	for _, k := range found {
		due[k.partner] = append(due[k.partner], k.id)
	}
	return due, nil
}

// warn gives the notices of a partner's keys that are still due and that nobody else has locked.
func (s Devices) warn(ctx context.Context, tx *sqldb.Tx, id partner.ID, keys []cyber.KeyID,
	decide func(d cyber.Device, now time.Time) cyber.Notice,
) (locked, told int, err error) {
	now := s.now()
	args := []any{number(id), micros(now)}
	due, err := collect(ctx, tx, s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND id IN (`+list(&args, keys)+`)
		AND next_warning > 0 AND next_warning <= $2 ORDER BY id`+s.db.SkipLocked(), args...)
	if err != nil {
		return 0, 0, fmt.Errorf("lock keys to announce: %w", err)
	}
	var events []alert.Event
	for _, d := range due {
		notice := decide(d, now)
		_, err := tx.ExecContext(ctx, `UPDATE epp_key SET next_warning = $3 WHERE partner_id = $1 AND id = $2`, number(id), string(d.ID), micros(notice.Next))
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
		events = append(events, e)
	}
	if len(events) == 0 {
		return len(due), 0, nil
	}
	return len(due), len(events), s.alerts().addEvents(ctx, tx, id, events...)
}
