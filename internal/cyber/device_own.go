package cyber

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// Only returns the same rules for a partner's own people: to them there are no keys but the partner's, and no pools.
func (e *Endpoints) Only(id partner.ID) *Endpoints {
	return NewEndpoints(ownDevices{inner: e.store, id: id}, e.now, e.random)
}

// ownDevices is a store that knows one partner's keys. Every method is written out, so that one that is added to the
// interface is decided on before it compiles.
type ownDevices struct {
	inner DeviceStore
	id    partner.ID
}

var _ DeviceStore = ownDevices{}

// DeviceByID returns a device of the one partner.
func (s ownDevices) DeviceByID(ctx context.Context, key KeyID) (Device, error) {
	return s.hideForeignDevice(s.inner.DeviceByID(ctx, key))
}

// DeviceByKey finds one by its activation key.
func (s ownDevices) DeviceByKey(ctx context.Context, text string) (Device, error) {
	return s.hideForeignDevice(s.inner.DeviceByKey(ctx, text))
}

// hideForeignDevice answers with ErrDeviceUnknown for a device of another partner, as if it did not exist.
func (s ownDevices) hideForeignDevice(d Device, err error) (Device, error) {
	if err == nil && d.Partner != s.id {
		return Device{}, ErrDeviceUnknown
	}
	return d, err
}

func (s ownDevices) EndOwnKey(ctx context.Context, id partner.ID, key KeyID, reason EndReason) (Device, error) {
	if id != s.id {
		return Device{}, ErrDeviceUnknown
	}
	return s.inner.EndOwnKey(ctx, id, key, reason)
}

// MoveDevice moves a key of the one partner to another device.
func (s ownDevices) MoveDevice(
	ctx context.Context, id partner.ID, key KeyID, r DeviceRequest, next NewKey,
) (Device, error) {
	if id != s.id {
		return Device{}, ErrDeviceUnknown
	}
	return s.inner.MoveDevice(ctx, id, key, r, next)
}

// ListDevices returns those of the one partner's people.
func (s ownDevices) ListDevices(ctx context.Context, id partner.ID, u partner.UserHash) ([]Device, error) {
	if id != s.id {
		return nil, ErrDeviceUnknown
	}
	return s.inner.ListDevices(ctx, id, u)
}

// PartnerDevices returns those of the one partner.
func (s ownDevices) PartnerDevices(ctx context.Context, id partner.ID, limit int) ([]Device, error) {
	if id != s.id {
		return nil, ErrDeviceUnknown
	}
	return s.inner.PartnerDevices(ctx, id, limit)
}

// FindOwnDevice finds one of the one partner.
func (s ownDevices) FindOwnDevice(ctx context.Context, id partner.ID, named string) (Device, error) {
	if id != s.id {
		return Device{}, ErrDeviceUnknown
	}
	return s.inner.FindOwnDevice(ctx, id, named)
}

// IsSamePerson compares two of the one partner's people.
func (s ownDevices) IsSamePerson(ctx context.Context, id partner.ID, a, b partner.UserHash) (bool, error) {
	if id != s.id {
		return false, ErrDeviceUnknown
	}
	return s.inner.IsSamePerson(ctx, id, a, b)
}

// InstallLinks returns where programs are fetched from; it is one place for all.
func (s ownDevices) InstallLinks(ctx context.Context) (map[System]string, error) {
	return s.inner.InstallLinks(ctx)
}

// What is below is the operator's, the API's or a chore's: pools serve all partners, and people of a partner issue no
// keys.

// IssueKey issues nothing.
func (ownDevices) IssueKey(context.Context, partner.ID, DeviceRequest, func(Holding) (NewKey, error)) (Device, error) {
	return Device{}, ErrDeviceUnknown
}

// NoteReport notes nothing.
func (ownDevices) NoteReport(
	context.Context, partner.ID, KeyID, func(d Device, now time.Time) (Device, bool),
) (Device, error) {
	return Device{}, ErrDeviceUnknown
}

// GiveNotices gives none.
func (ownDevices) GiveNotices(context.Context, func(d Device, now time.Time) Notice) (int, error) {
	return 0, ErrDeviceUnknown
}

// SetInstallLink changes nothing.
func (ownDevices) SetInstallLink(context.Context, System, string) error { return ErrDeviceUnknown }

// EndUnsubscribed ends nothing.
func (ownDevices) EndUnsubscribed(context.Context) (int, error) { return 0, ErrDeviceUnknown }

// ListSources returns nothing.
func (ownDevices) ListSources(context.Context) ([]Source, error) { return nil, ErrDeviceUnknown }

// PoolsTurnedLow returns nothing.
func (ownDevices) PoolsTurnedLow(context.Context) ([]Source, error) { return nil, ErrDeviceUnknown }

// ListShares returns nothing.
func (ownDevices) ListShares(context.Context) ([]Share, error) { return nil, ErrDeviceUnknown }

// LoadKeyPool loads nothing.
func (ownDevices) LoadKeyPool(context.Context, System, []VendorKey) (int, error) {
	return 0, ErrDeviceUnknown
}

// UpdateSource changes nothing.
func (ownDevices) UpdateSource(context.Context, System, SourceChange) error { return ErrDeviceUnknown }

// UpdateShare changes nothing.
func (ownDevices) UpdateShare(context.Context, partner.ID, Resource, *int64, *int64) error {
	return ErrDeviceUnknown
}
