package store

import (
	"context"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
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

// deviceColumns are those that scanDevice expects, in its order.
const deviceColumns = `id, partner_id, system, details, plan_id, issued_at, valid_until, activated_at, seen_at,
	ended_at, end_reason`

// scanDevice reads deviceColumns and unseals the user, the device's name and the key.
func (s Devices) scanDevice(row scanner, d *cyber.Device) error {
	var kept keptDevice
	err := row.Scan(
		&d.ID,
		&d.Partner,
		&d.System,
		s.unseals(&kept, func() seal.Place { return devicePlace(d.Partner, d.ID) }),
		&d.Plan,
		&d.IssuedAt,
		&d.ValidUntil,
		&d.ActivatedAt,
		&d.SeenAt,
		&d.EndedAt,
		&d.EndReason,
	)
	d.User, d.Name, d.Key = partner.UserHash(kept.User), kept.Name, kept.Key
	return err
}

// findDevice returns the one key that fits.
func (s Devices) findDevice(ctx context.Context, q querier, where string, args ...any) (cyber.Device, error) {
	return readRow(
		ctx,
		q,
		s.scanDevice,
		cyber.ErrDeviceUnknown,
		`SELECT `+deviceColumns+` FROM epp_key WHERE `+where,
		args...,
	)
}

// ListDevices returns a person's live devices, newest first.
func (s Devices) ListDevices(ctx context.Context, id partner.ID, sent partner.UserHash) ([]cyber.Device, error) {
	return collectOfUser(
		ctx,
		s.core,
		id,
		sent,
		s.scanDevice,
		`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3)
		AND ended_at = 0 AND valid_until > $4 ORDER BY issued_at DESC, id DESC`,
		s.now(),
	)
}

// PartnerDevices returns a partner's newest live devices.
func (s Devices) PartnerDevices(ctx context.Context, id partner.ID, limit int) ([]cyber.Device, error) {
	return collectRows(
		ctx,
		s.listQuerier(),
		s.scanDevice,
		`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND ended_at = 0
		AND valid_until > $2 ORDER BY issued_at DESC, id DESC LIMIT $3`,
		id,
		s.now(),
		limit,
	)
}

// DeviceByID returns one key, ended ones too. The operator's question: it names no partner.
func (s Devices) DeviceByID(ctx context.Context, key cyber.KeyID) (cyber.Device, error) {
	return s.findDevice(ctx, s.readQuerier(), `id = $1`, key)
}

// DeviceByKey returns the device that a key was issued for.
func (s Devices) DeviceByKey(ctx context.Context, text string) (cyber.Device, error) {
	return s.findDevice(ctx, s.readQuerier(), `key_index = $1`, s.activationKeyIndex(text))
}

// FindOwnDevice finds a partner's key by its id or by the activation key: see cyber.LifeStore.
func (s Devices) FindOwnDevice(ctx context.Context, id partner.ID, named string) (cyber.Device, error) {
	if strings.HasPrefix(named, "ek_") {
		return s.findDevice(ctx, s.readQuerier(), `partner_id = $1 AND id = $2`, id, named)
	}
	return s.findDevice(ctx, s.readQuerier(), `partner_id = $1 AND key_index = $2`, id, s.activationKeyIndex(named))
}
