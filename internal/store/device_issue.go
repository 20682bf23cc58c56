package store

import (
	"context"
	"errors"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// IssueKey returns the live key of a device or keeps a new one: see cyber.DeviceStore.
func (s Devices) IssueKey(
	ctx context.Context, id partner.ID, r cyber.DeviceRequest, decide func(cyber.Holding) (cyber.NewKey, error),
) (cyber.Device, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (d cyber.Device, err error) {
		u, err := s.findAndNameUser(ctx, tx, id, r.User)
		if err == nil {
			err = lockHolder(ctx, tx, id, u)
		}
		if err == nil {
			err = s.endExpired(ctx, tx, id, u)
		}
		if err != nil {
			return d, err
		}
		if d, err = s.deviceNamed(ctx, tx, id, u, r.System, r.Name); !errors.Is(err, cyber.ErrDeviceUnknown) {
			return d, err
		}
		h, err := s.countHolding(ctx, tx, id, u, r.System)
		if err != nil {
			return d, err
		}
		next, err := decide(h)
		if err != nil {
			return d, err
		}
		d = cyber.Device{
			ID:         next.ID,
			Partner:    id,
			User:       r.User,
			System:     r.System,
			Name:       r.Name,
			Key:        next.Generated,
			IssuedAt:   next.IssuedAt,
			ValidUntil: next.ValidUntil,
			Plan:       next.Plan,
		}
		err = s.insertDevice(ctx, tx, u, &d, r, h.Pooled)
		return d, err
	})
}

// lockHolder makes the decisions about one person's keys take turns.
func lockHolder(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user) error {
	return execStatement(ctx, tx, `INSERT INTO epp_holder (partner_id, user_index, issued) VALUES ($1, $2, 1)
		ON CONFLICT (partner_id, user_index) DO UPDATE SET issued = epp_holder.issued + 1`,
		id,
		u.write,
	)
}

// deviceNamed returns the person's device that has a key which did not end, by system and name.
func (s Devices) deviceNamed(
	ctx context.Context, q querier, id partner.ID, u user, system cyber.System, name string,
) (cyber.Device, error) {
	return s.findDevice(
		ctx,
		q,
		`partner_id = $1 AND user_index IN ($2, $3) AND system = $4 AND device_index = $5 AND ended_at = 0`,
		id,
		u.write,
		u.other,
		system,
		s.deviceIndex(id, name),
	)
}

// countHolding counts a person's live keys and finds their plans.
func (s Devices) countHolding(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, u user, system cyber.System,
) (cyber.Holding, error) {
	pooled, err := usesKeyPool(ctx, tx, id, system)
	if err != nil {
		return cyber.Holding{}, err
	}
	live, err := readValue[int](
		ctx,
		tx,
		`SELECT count(*) FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3) AND ended_at = 0`,
		id,
		u.write,
		u.other,
	)
	if err != nil {
		return cyber.Holding{}, err
	}
	e, err := Cover(s).readEntitled(ctx, tx, id, u)
	return cyber.NewHolding(live, e, pooled), err
}

// insertDevice gives a device its key, from the pool where the system has one, and keeps it.
func (s Devices) insertDevice(
	ctx context.Context, tx *sqldb.Tx, u user, d *cyber.Device, r cyber.DeviceRequest, pooled bool,
) error {
	if pooled && r.Mode != "" {
		if err := s.takeFromShare(ctx, tx, d.Partner, r); err != nil {
			return err
		}
	}
	if pooled {
		k, err := s.takeFromPool(ctx, tx, *d)
		if err != nil {
			return err
		}
		d.Key, d.ValidUntil = k.Key, k.EndsAt(d.ValidUntil)
	}
	sealed, err := s.sealValue(devicePlace(d.Partner, d.ID), keptDevice{User: string(d.User), Name: d.Name, Key: d.Key})
	if err != nil {
		return err
	}
	return execStatement(
		ctx,
		tx,
		`INSERT INTO epp_key (id, partner_id, user_index, system, device_index, key_index, details, plan_id,
		issued_at, valid_until, ended_at, end_reason, next_warning)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, '', $11)`,
		d.ID,
		d.Partner,
		u.write,
		d.System,
		s.deviceIndex(d.Partner, d.Name),
		s.activationKeyIndex(d.Key),
		sealed,
		d.Plan,
		d.IssuedAt,
		d.ValidUntil,
		cyber.NextNotice(d.IssuedAt, d.ValidUntil),
	)
}
