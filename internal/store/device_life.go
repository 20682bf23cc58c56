package store

import (
	"context"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// NoteReport stores that a device reported, and tells when it did so for the first time: see cyber.LifeStore.
func (s Devices) NoteReport(ctx context.Context, id partner.ID, key cyber.KeyID,
	decide func(d cyber.Device, now time.Time) (cyber.Device, bool),
) (cyber.Device, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (d cyber.Device, err error) {
		now := s.now()
		before, err := s.lockLiveKey(ctx, tx, id, key, now)
		if err != nil {
			return d, err
		}
		var changed bool
		if d, changed = decide(before, now); !changed {
			return d, nil
		}
		err = execStatement(ctx, tx,
			`UPDATE epp_key SET activated_at = $3, seen_at = $4 WHERE partner_id = $1 AND id = $2`,
			id, key, d.ActivatedAt, d.SeenAt)
		if err != nil {
			return d, err
		}
		if !before.ActivatedAt.IsZero() {
			return d, nil
		}
		return d, Alerts(s).addPartnerEvents(ctx, tx, id, alert.KeyActivates(d))
	})
}

// lockLiveKey locks a live key until the transaction ends and returns it.
func (s Devices) lockLiveKey(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, key cyber.KeyID, now time.Time,
) (cyber.Device, error) {
	d, err := readRow(
		ctx,
		tx,
		s.scanDevice,
		cyber.ErrDeviceEnded.With("key", fault.HasEndedAlready),
		`UPDATE epp_key SET ended_at = 0
		WHERE partner_id = $1 AND id = $2 AND ended_at = 0 AND valid_until > $3 RETURNING `+deviceColumns,
		id,
		key,
		now,
	)
	if errors.Is(err, cyber.ErrDeviceEnded) {
		if _, missing := s.findDevice(ctx, tx, `partner_id = $1 AND id = $2`, id, key); missing != nil {
			err = missing
		}
	}
	return d, err
}

// MoveDevice ends a live key and issues another for the same person: see cyber.LifeStore.
func (s Devices) MoveDevice(
	ctx context.Context, id partner.ID, key cyber.KeyID, r cyber.DeviceRequest, next cyber.NewKey,
) (cyber.Device, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (d cyber.Device, err error) {
		old, err := s.findDevice(ctx, tx, `partner_id = $1 AND id = $2`, id, key)
		if err != nil {
			return d, err
		}
		u, err := s.keepUser(ctx, tx, id, old.User)
		if err == nil { // the holder first, as everybody does who issues
			err = lockHolder(ctx, tx, id, u)
		}
		if err == nil {
			old, err = s.endLiveKey(ctx, tx, id, key, cyber.EndMoved, next.ID)
		}
		if err == nil {
			err = s.endExpired(ctx, tx, id, u)
		}
		if err != nil {
			return d, err
		}
		if _, err = s.deviceNamed(ctx, tx, id, u, r.System, r.Name); !errors.Is(err, cyber.ErrDeviceUnknown) {
			if err == nil {
				err = cyber.ErrDeviceTaken.With("deviceName", fault.HasALiveKey)
			}
			return d, err
		}
		d = cyber.Device{
			ID:         next.ID,
			Partner:    id,
			User:       old.User,
			System:     r.System,
			Name:       r.Name,
			Key:        next.Generated,
			IssuedAt:   next.IssuedAt,
			ValidUntil: old.ValidUntil,
			Plan:       old.Plan,
		}
		pooled, err := usesKeyPool(ctx, tx, id, r.System)
		if err == nil {
			err = s.insertDevice(ctx, tx, u, &d, r, pooled)
		}
		return d, err
	})
}
