package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// noticeBatch is how many keys or findings are looked at in one statement.
const noticeBatch = 200

// GiveNotices writes an event for each key whose notice is due: see cyber.LifeStore. A few of a partner's notices and
// their events are one transaction, and a row that another replica holds is passed over, so each notice is given once.
func (s Devices) GiveNotices(
	ctx context.Context,
	decide func(d cyber.Device, now time.Time) cyber.Notice,
) (int, error) {
	return workOffDue(ctx, s.core, func(tx *sqldb.Tx, id partner.ID, part []cyber.KeyID) (locked, told int, err error) {
		return s.giveNotices(ctx, tx, id, part, decide)
	}, `SELECT partner_id, id FROM epp_key WHERE next_warning > 0 AND next_warning <= $1
		ORDER BY next_warning LIMIT $2`)
}

// giveNotices gives the notices of those of a partner's keys that are still due and not locked by another worker.
func (s Devices) giveNotices(ctx context.Context, tx *sqldb.Tx, id partner.ID, keys []cyber.KeyID,
	decide func(d cyber.Device, now time.Time) cyber.Notice,
) (locked, told int, err error) {
	now := s.now()
	args := []any{id, now}
	due, err := collectRows(
		ctx,
		tx,
		s.scanDevice,
		`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND id `+inList(tx.EngineName(), &args, keys)+`
		AND next_warning > 0 AND next_warning <= $2 ORDER BY id`+s.db.SkipLocked(),
		args...,
	)
	if err != nil {
		return 0, 0, err
	}
	var events []alert.Event
	var over []cyber.Device
	for _, d := range due {
		notice := decide(d, now)
		if notice.Over {
			over = append(over, d)
			continue
		}
		err := execStatement(ctx, tx, `UPDATE epp_key SET next_warning = $3 WHERE partner_id = $1 AND id = $2`,
			id, d.ID, notice.Next)
		if err != nil {
			return 0, 0, err
		}
		if !notice.Tell {
			continue
		}
		events = append(events, alert.KeyExpires(d, now))
	}
	if err := s.endKeysOfPartner(ctx, tx, id, markExpired(over), ""); err != nil {
		return 0, 0, err
	}
	return len(due), len(events) + len(over), Alerts(s).addPartnerEvents(ctx, tx, id, events...)
}
