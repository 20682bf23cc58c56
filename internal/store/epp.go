package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ cyber.DeviceStore = Devices{}

// keptDevice is what the sealed column holds.
type keptDevice struct {
	User string `json:"user"`
	Name string `json:"name"`
	Key  string `json:"key"`
}

// devicePlace binds a key's sealed details to the partner and the key.
func devicePlace(id partner.ID, key cyber.KeyID) seal.Place {
	return seal.Place{Table: "epp_key", Column: "details", Partner: string(id), Row: string(key)}
}

// activationKeyIndex returns the keyed index of an activation key; it is the same for all partners, as no key is issued
// twice.
func (s Devices) activationKeyIndex(text string) []byte {
	return s.keys.BlindIndex("epp.key", "", []byte(text))
}

// deviceIndex returns the blind index by which a device is found by name; the name itself is stored only sealed.
func (s Devices) deviceIndex(id partner.ID, name string) []byte {
	return s.keys.BlindIndex("epp.device", string(id), []byte(name))
}

const deviceColumns = `id, partner_id, system, details, plan_id, issued_at, valid_until, activated_at, seen_at, ended_at, end_reason`

// scanDevice reads deviceColumns and unseals the user, the device's name and the key.
func (s Devices) scanDevice(row scanner) (cyber.Device, error) {
	var d cyber.Device
	var sealed []byte
	var issued, until, activated, seen, ended int64
	if err := row.Scan(&d.ID, scanPartnerID(&d.Partner), &d.System, &sealed, &d.Plan, &issued, &until, &activated, &seen, &ended, &d.EndReason); err != nil {
		return d, err
	}
	d.IssuedAt, d.ValidUntil, d.EndedAt = fromMicros(issued), fromMicros(until), fromMicros(ended)
	d.ActivatedAt, d.SeenAt = fromMicros(activated), fromMicros(seen)
	plain, err := s.keys.Unseal(devicePlace(d.Partner, d.ID), sealed)
	if err != nil {
		return d, fmt.Errorf("open device: %w", err)
	}
	var kept keptDevice
	if err := json.Unmarshal(plain, &kept); err != nil {
		return d, fmt.Errorf("read device: %w", err)
	}
	d.User, d.Name, d.Key = partner.UserHash(kept.User), kept.Name, kept.Key
	return d, nil
}

// IssueKey returns the live key of a device or keeps a new one: see cyber.DeviceStore.
func (s Devices) IssueKey(ctx context.Context, id partner.ID, r cyber.DeviceRequest, decide func(cyber.Holding) (cyber.NewKey, error)) (cyber.Device, error) {
	var d cyber.Device
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
		u, err := s.findAndNameUser(ctx, tx, id, r.User)
		if err != nil {
			return err
		}
		if err := lockHolder(ctx, tx, id, u); err != nil {
			return err
		}
		if err := s.endExpired(ctx, tx, id, u); err != nil {
			return err
		}
		if d, err = s.deviceNamed(ctx, tx, id, u, r.System, r.Name); !errors.Is(err, cyber.ErrDeviceUnknown) {
			return err
		}
		var h cyber.Holding
		if h, err = s.countHolding(ctx, tx, id, u, r.System); err != nil {
			return err
		}
		next, err := decide(h)
		if err != nil {
			return err
		}
		d = cyber.Device{
			ID: next.ID, Partner: id, User: r.User, System: r.System, Name: r.Name, Key: next.Generated, IssuedAt: next.IssuedAt,
			ValidUntil: next.ValidUntil, Plan: next.Plan,
		}
		if h.Pooled && r.Mode != "" {
			if err := s.takeFromShare(ctx, tx, id, r); err != nil {
				return err
			}
		}
		return s.insertDevice(ctx, tx, u, &d, h.Pooled)
	})
	if err != nil {
		return cyber.Device{}, err
	}
	return d, nil
}

// lockHolder makes the decisions about one person's keys take turns.
func lockHolder(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user) error {
	return execStatement(ctx, tx, "lock holder", `INSERT INTO epp_holder (partner_id, user_index, issued) VALUES ($1, $2, 1)
		ON CONFLICT (partner_id, user_index) DO UPDATE SET issued = epp_holder.issued + 1`, partnerNumber(id), u.write)
}

// deviceNamed returns the person's device that has a key which did not end, by system and name.
func (s Devices) deviceNamed(ctx context.Context, q querier, id partner.ID, u user, system cyber.System, name string) (cyber.Device, error) {
	return s.findDevice(ctx, q, `partner_id = $1 AND user_index IN ($2, $3) AND system = $4 AND device_index = $5 AND ended_at = 0`,
		partnerNumber(id), u.write, u.other, string(system), s.deviceIndex(id, name))
}

// findDevice returns the one key that fits.
func (s Devices) findDevice(ctx context.Context, q querier, where string, args ...any) (cyber.Device, error) {
	d, err := s.scanDevice(q.QueryRowContext(ctx, `SELECT `+deviceColumns+` FROM epp_key WHERE `+where, args...))
	return d, readError("read device", err, cyber.ErrDeviceUnknown)
}

// countHolding counts a person's live keys and finds their plans.
func (s Devices) countHolding(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user, system cyber.System) (cyber.Holding, error) {
	pooled, err := usesKeyPool(ctx, tx, id, system)
	if err != nil {
		return cyber.Holding{}, err
	}
	var live int
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3) AND ended_at = 0`,
		partnerNumber(id), u.write, u.other).Scan(&live)
	if err != nil {
		return cyber.Holding{}, fmt.Errorf("count devices: %w", err)
	}
	e, err := s.coverArea().readEntitled(ctx, tx, id, u)
	return cyber.NewHolding(live, e, pooled), err
}

// insertDevice gives a device its key, from the pool where the system has one, and keeps it.
func (s Devices) insertDevice(ctx context.Context, tx *sqldb.Tx, u user, d *cyber.Device, pooled bool) error {
	if pooled {
		k, err := s.takeFromPool(ctx, tx, *d)
		if err != nil {
			return err
		}
		d.Key, d.ValidUntil = k.Key, k.EndsAt(d.ValidUntil)
	}
	plain, err := json.Marshal(keptDevice{User: string(d.User), Name: d.Name, Key: d.Key})
	if err != nil {
		return fmt.Errorf("keep device: %w", err)
	}
	sealed, err := s.keys.Seal(devicePlace(d.Partner, d.ID), plain)
	if err != nil {
		return fmt.Errorf("seal device: %w", err)
	}
	return execStatement(ctx, tx, "insert key", `INSERT INTO epp_key (id, partner_id, user_index, system, device_index, key_index, details, plan_id,
		issued_at, valid_until, ended_at, end_reason, next_warning) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, '', $11)`,
		string(d.ID), partnerNumber(d.Partner), u.write, string(d.System), s.deviceIndex(d.Partner, d.Name), s.activationKeyIndex(d.Key), sealed,
		string(d.Plan), toMicros(d.IssuedAt), toMicros(d.ValidUntil), toMicros(cyber.NextNotice(d.IssuedAt, d.ValidUntil)))
}

// ListDevices returns a person's live devices, newest first.
func (s Devices) ListDevices(ctx context.Context, id partner.ID, sent partner.UserHash) ([]cyber.Device, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, id, sent)
	if err != nil {
		return nil, err
	}
	return collectRows(ctx, q, s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3)
		AND ended_at = 0 AND valid_until > $4 ORDER BY issued_at DESC, id DESC`, partnerNumber(id), u.write, u.other, toMicros(s.now()))
}

// PartnerDevices returns a partner's newest live devices.
func (s Devices) PartnerDevices(ctx context.Context, id partner.ID, limit int) ([]cyber.Device, error) {
	return collectRows(ctx, s.listQuerier(), s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND ended_at = 0
		AND valid_until > $2 ORDER BY issued_at DESC, id DESC LIMIT $3`, partnerNumber(id), toMicros(s.now()), int64(limit))
}

// DeviceByID returns one key, ended ones too. The operator's question: it names no partner.
func (s Devices) DeviceByID(ctx context.Context, key cyber.KeyID) (cyber.Device, error) {
	return s.findDevice(ctx, s.readQuerier(), `id = $1`, string(key))
}

// DeviceByKey returns the device that a key was issued for.
func (s Devices) DeviceByKey(ctx context.Context, text string) (cyber.Device, error) {
	return s.findDevice(ctx, s.readQuerier(), `key_index = $1`, s.activationKeyIndex(text))
}
