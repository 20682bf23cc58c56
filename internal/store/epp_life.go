package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// FindOwnDevice finds a partner's key by its id or by the activation key: see cyber.LifeStore.
func (s Devices) FindOwnDevice(ctx context.Context, id partner.ID, named string) (cyber.Device, error) {
	if strings.HasPrefix(named, "ek_") {
		return s.findDevice(ctx, s.readQuerier(), `partner_id = $1 AND id = $2`, partnerNumber(id), named)
	}
	return s.findDevice(ctx, s.readQuerier(), `partner_id = $1 AND key_index = $2`, partnerNumber(id), s.activationKeyIndex(named))
}

// NoteReport stores that a device reported, and tells when it did so for the first time: see cyber.LifeStore.
func (s Devices) NoteReport(ctx context.Context, id partner.ID, key cyber.KeyID,
	decide func(d cyber.Device, now time.Time) (cyber.Device, bool),
) (cyber.Device, error) {
	var d cyber.Device
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
		now := s.now()
		before, err := s.lockLiveKey(ctx, tx, id, key, now)
		if err != nil {
			return err
		}
		var changed bool
		if d, changed = decide(before, now); !changed {
			return nil
		}
		if err := execStatement(ctx, tx, "note report", `UPDATE epp_key SET activated_at = $3, seen_at = $4 WHERE partner_id = $1 AND id = $2`,
			partnerNumber(id), string(key), toMicros(d.ActivatedAt), toMicros(d.SeenAt)); err != nil {
			return err
		}
		if !before.ActivatedAt.IsZero() {
			return nil
		}
		e, err := alert.KeyActivates(d)
		if err != nil {
			return err
		}
		return s.alertsArea().addPartnerEvents(ctx, tx, id, e)
	})
	return d, err
}

// lockLiveKey locks a live key until the transaction ends and returns it.
func (s Devices) lockLiveKey(ctx context.Context, tx *sqldb.Tx, id partner.ID, key cyber.KeyID, now time.Time) (cyber.Device, error) {
	d, err := s.scanDevice(tx.QueryRowContext(ctx, `UPDATE epp_key SET ended_at = 0 WHERE partner_id = $1 AND id = $2
		AND ended_at = 0 AND valid_until > $3 RETURNING `+deviceColumns, partnerNumber(id), string(key), toMicros(now)))
	if errors.Is(err, sql.ErrNoRows) {
		if _, err := s.findDevice(ctx, tx, `partner_id = $1 AND id = $2`, partnerNumber(id), string(key)); err != nil {
			return d, err
		}
		return d, cyber.ErrDeviceEnded.With("key", fault.HasEndedAlready)
	}
	return d, wrapError("lock key", err)
}

// EndKey ends a live key and tells of it.
func (s Devices) EndKey(ctx context.Context, id partner.ID, key cyber.KeyID, reason cyber.EndReason) (cyber.Device, error) {
	var d cyber.Device
	err := s.runInTx(ctx, func(tx *sqldb.Tx) (err error) {
		d, err = s.endLiveKey(ctx, tx, id, key, reason, "")
		return err
	})
	return d, err
}

// endLiveKey ends a live key in the transaction of the caller.
func (s Devices) endLiveKey(ctx context.Context, tx *sqldb.Tx, id partner.ID, key cyber.KeyID, reason cyber.EndReason, movedTo cyber.KeyID) (cyber.Device, error) {
	now := s.now()
	d, err := s.lockLiveKey(ctx, tx, id, key, now)
	if err != nil {
		return d, err
	}
	d.EndedAt, d.EndReason = now, reason
	return d, s.endKeys(ctx, tx, id, []cyber.Device{d}, movedTo)
}

// endKeys stores when and why keys of one partner ended, and tells of each; movedTo is the key that took the place of
// the only one.
func (s Devices) endKeys(ctx context.Context, tx *sqldb.Tx, id partner.ID, keys []cyber.Device, movedTo cyber.KeyID) error {
	events := make([]alert.Event, len(keys))
	for i, d := range keys {
		if err := execStatement(ctx, tx, "end key", `UPDATE epp_key SET ended_at = $3, end_reason = $4, next_warning = 0 WHERE partner_id = $1 AND id = $2`,
			partnerNumber(id), string(d.ID), toMicros(d.EndedAt), string(d.EndReason)); err != nil {
			return err
		}
		if d.EndReason == cyber.EndRevoked && d.ActivatedAt.IsZero() {
			if err := s.returnKeyToPool(ctx, tx, d); err != nil {
				return err
			}
		}
		e, err := alert.NewKeyEndEvent(d, s.now(), movedTo)
		if err != nil {
			return err
		}
		events[i] = e
	}
	return s.alertsArea().addPartnerEvents(ctx, tx, id, events...)
}

// endExpired makes room in the unique index for keys that follow others.
func (s Devices) endExpired(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user) error {
	over, err := collectRows(ctx, tx, s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key
		WHERE partner_id = $1 AND user_index IN ($2, $3) AND ended_at = 0 AND valid_until <= $4 ORDER BY id`,
		partnerNumber(id), u.write, u.other, toMicros(s.now()))
	if err != nil {
		return fmt.Errorf("end expired keys: %w", err)
	}
	return s.endKeys(ctx, tx, id, markExpired(over), "")
}

// markExpired are keys as they are after their time.
func markExpired(keys []cyber.Device) []cyber.Device {
	for i := range keys {
		keys[i].EndedAt, keys[i].EndReason = keys[i].ValidUntil, cyber.EndExpired
	}
	return keys
}

// MoveDevice ends a live key and issues another for the same person: see cyber.LifeStore.
func (s Devices) MoveDevice(ctx context.Context, id partner.ID, key cyber.KeyID, r cyber.DeviceRequest, next cyber.NewKey) (cyber.Device, error) {
	var d cyber.Device
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
		old, err := s.findDevice(ctx, tx, `partner_id = $1 AND id = $2`, partnerNumber(id), string(key))
		if err != nil {
			return err
		}
		u, err := s.findUser(ctx, tx, id, old.User)
		if err != nil {
			return err
		}
		// The holder first, as everybody does who issues.
		if err := lockHolder(ctx, tx, id, u); err != nil {
			return err
		}
		if old, err = s.endLiveKey(ctx, tx, id, key, cyber.EndMoved, next.ID); err != nil {
			return err
		}
		if err := s.endExpired(ctx, tx, id, u); err != nil {
			return err
		}
		if _, err = s.deviceNamed(ctx, tx, id, u, r.System, r.Name); !errors.Is(err, cyber.ErrDeviceUnknown) {
			if err == nil {
				err = cyber.ErrDeviceTaken.With("deviceName", fault.HasALiveKey)
			}
			return err
		}
		d = cyber.Device{
			ID: next.ID, Partner: id, User: old.User, System: r.System, Name: r.Name, Key: next.Generated, IssuedAt: next.IssuedAt,
			ValidUntil: old.ValidUntil, Plan: old.Plan,
		}
		pooled, err := usesKeyPool(ctx, tx, id, r.System)
		if err != nil {
			return err
		}
		if pooled && r.Mode != "" {
			if err := s.takeFromShare(ctx, tx, id, r); err != nil {
				return err
			}
		}
		return s.insertDevice(ctx, tx, u, &d, pooled)
	})
	if err != nil {
		return cyber.Device{}, err
	}
	return d, nil
}

// EndUnsubscribed ends the keys that were to end with the last subscription of their plan, and tells of each. It looks
// outside of transactions, a page at a time, and ends what it found in those of a few keys of one partner.
func (s Devices) EndUnsubscribed(ctx context.Context) (int, error) {
	const alone = ` AND ended_at = 0 AND plan_id <> '' AND NOT EXISTS (
		SELECT 1 FROM person r JOIN subscription b ON b.partner_id = r.partner_id AND b.cpf = r.cpf
		WHERE r.partner_id = epp_key.partner_id AND (r.user_512 = epp_key.user_index OR r.user_256 = epp_key.user_index)
			AND b.plan_id = epp_key.plan_id AND b.ended_at = 0 AND (b.expiry_day = 0 OR b.expiry_day >= $3))`
	today, total := int64(subscription.DayInBrazil(s.now())), 0
	for after, last := int64(0), cyber.KeyID(""); ; {
		keys, err := collectRows(ctx, s.readQuerier(), scanOwnKey, `SELECT partner_id, id FROM epp_key WHERE (partner_id, id) > ($1, $2)`+alone+`
			ORDER BY partner_id, id LIMIT $4`, after, string(last), today, int64(noticeBatch))
		if err != nil {
			return total, fmt.Errorf("find keys without a subscription: %w", err)
		}
		for id, own := range keysByPartner(keys) {
			err := inEventParts(ctx, s.core, id, own, func(tx *sqldb.Tx, part []cyber.KeyID) error {
				args := []any{partnerNumber(id), "", today} // the place of an id in the query above
				ended, err := collectRows(ctx, tx, s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND id > $2`+alone+`
					AND id IN (`+appendListMarks(&args, part)+`) ORDER BY id`+s.db.SkipLocked(), args...)
				if err != nil {
					return fmt.Errorf("lock keys without a subscription: %w", err)
				}
				for i := range ended {
					ended[i].EndedAt, ended[i].EndReason = s.now(), cyber.EndSubscription
				}
				tx.AfterCommit(func() { total += len(ended) })
				return s.endKeys(ctx, tx, id, ended, "")
			})
			if err != nil {
				return total, err
			}
		}
		if len(keys) < noticeBatch {
			return total, nil
		}
		after, last = partnerNumber(keys[len(keys)-1].partner), keys[len(keys)-1].id
	}
}

// installLink is where the program of a system is installed from.
type installLink struct {
	system cyber.System
	link   string
}

const installColumns = `system, link, mac`

// scanInstall reads an install link and checks its MAC: people follow the link and run what it downloads.
func (c core) scanInstall(row scanner) (checked[installLink], error) {
	var l installLink
	var mac []byte
	err := row.Scan(&l.system, &l.link, &mac)
	return checked[installLink]{l, "epp_install " + string(l.system), !c.isGenuine("epp_install", installGrant(l.system, l.link), mac)}, err
}

// InstallLinks returns where the program of each system is installed from; there is none where the row is forged.
func (s Devices) InstallLinks(ctx context.Context) (map[cyber.System]string, error) {
	rows, err := collectGenuine(ctx, s.readQuerier(), s.scanInstall, `SELECT `+installColumns+` FROM epp_install`)
	if err != nil {
		return nil, fmt.Errorf("read install links: %w", err)
	}
	links := map[cyber.System]string{}
	for _, r := range rows {
		links[r.system] = r.link
	}
	return links, nil
}

// SetInstallLink changes where the program of a system is installed from: see cyber.LifeStore.
func (s Devices) SetInstallLink(ctx context.Context, system cyber.System, link string) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) (err error) {
		if link == "" {
			_, err = tx.ExecContext(ctx, `DELETE FROM epp_install WHERE system = $1`, string(system))
		} else {
			_, err = tx.ExecContext(ctx, `INSERT INTO epp_install (system, link, mac) VALUES ($1, $2, $3)
				ON CONFLICT (system) DO UPDATE SET link = excluded.link, mac = excluded.mac`, string(system), link,
				s.grantMAC("epp_install", installGrant(system, link)))
		}
		return wrapError("set install link", err)
	})
}
