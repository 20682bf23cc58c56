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

const noticeBatch = 200

// GiveNotices writes an event for each key whose notice is due: see cyber.LifeStore. A few of a partner's notices and
// their events are one transaction, and a row that another replica holds is passed over, so each notice is given once.
func (s Devices) GiveNotices(ctx context.Context, decide func(d cyber.Device, now time.Time) cyber.Notice) (int, error) {
	total := 0
	for {
		due, err := s.dueWarnings(ctx)
		if err != nil {
			return total, err
		}
		seen, decided := 0, 0
		for id, keys := range due {
			err := inEventParts(ctx, s.core, id, keys, func(tx *sqldb.Tx, part []cyber.KeyID) error {
				locked, told, err := s.giveNotices(ctx, tx, id, part, decide)
				tx.AfterCommit(func() { decided, total = decided+locked, total+told })
				return err
			})
			if err != nil {
				return total, err
			}
			seen += len(keys)
		}
		if seen < noticeBatch || decided == 0 { // none: another replica has them all
			return total, nil
		}
	}
}

// ownKey names a key of a partner.
type ownKey struct {
	partner partner.ID
	id      cyber.KeyID
}

// scanOwnKey reads a partner and a key's ID, in this order.
func scanOwnKey(row scanner) (k ownKey, err error) {
	return k, row.Scan(scanPartnerID(&k.partner), &k.id)
}

// keysByPartner groups keys.
func keysByPartner(keys []ownKey) map[partner.ID][]cyber.KeyID {
	groups := map[partner.ID][]cyber.KeyID{}
	for _, k := range keys {
		groups[k.partner] = append(groups[k.partner], k.id)
	}
	return groups
}

// dueWarnings returns the first keys whose notice is due, by partner.
func (s Devices) dueWarnings(ctx context.Context) (map[partner.ID][]cyber.KeyID, error) {
	found, err := collectRows(ctx, s.readQuerier(), scanOwnKey,
		`SELECT partner_id, id FROM epp_key WHERE next_warning > 0 AND next_warning <= $1 ORDER BY next_warning LIMIT $2`,
		toMicros(s.now()), int64(noticeBatch))
	if err != nil {
		return nil, fmt.Errorf("find keys to look at: %w", err)
	}
	return keysByPartner(found), nil
}

// giveNotices gives the notices of those of a partner's keys that are still due and not locked by another worker.
func (s Devices) giveNotices(ctx context.Context, tx *sqldb.Tx, id partner.ID, keys []cyber.KeyID,
	decide func(d cyber.Device, now time.Time) cyber.Notice,
) (locked, told int, err error) {
	now := s.now()
	args := []any{partnerNumber(id), toMicros(now)}
	due, err := collectRows(ctx, tx, s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND id IN (`+appendListMarks(&args, keys)+`)
		AND next_warning > 0 AND next_warning <= $2 ORDER BY id`+s.db.SkipLocked(), args...)
	if err != nil {
		return 0, 0, fmt.Errorf("lock keys to announce: %w", err)
	}
	var events []alert.Event
	var over []cyber.Device
	for _, d := range due {
		notice := decide(d, now)
		if notice.Over {
			over = append(over, d)
			continue
		}
		if err := execStatement(ctx, tx, "note announcement", `UPDATE epp_key SET next_warning = $3 WHERE partner_id = $1 AND id = $2`, partnerNumber(id), string(d.ID), toMicros(notice.Next)); err != nil {
			return 0, 0, err
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
	if err := s.endKeys(ctx, tx, id, markExpired(over), ""); err != nil {
		return 0, 0, err
	}
	return len(due), len(events) + len(over), s.alertsArea().addPartnerEvents(ctx, tx, id, events...)
}
