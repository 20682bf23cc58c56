package cyber

import (
	"context"

	"github.com/vigiahq/vigia/internal/partner"
)

// Only returns the same rules for a partner's own people: to them there are no keys but the partner's, and no pools.
func (e *Endpoints) Only(id partner.ID) *Endpoints {
	return &Endpoints{store: ownDevices{of: e.store, id: id}, now: e.now, random: e.random}
}

// ownDevices is a store that knows one partner's keys. Of the embedded interface there is nothing: what stands not below is
// not theirs.
type ownDevices struct {
	DeviceStore
	of DeviceStore
	id partner.ID
}

// DeviceByID returns a device of the one partner.
func (s ownDevices) DeviceByID(ctx context.Context, key KeyID) (Device, error) {
	return s.hideForeignDevice(s.of.DeviceByID(ctx, key))
}

// DeviceByKey finds one by its activation key.
func (s ownDevices) DeviceByKey(ctx context.Context, text string) (Device, error) {
	return s.hideForeignDevice(s.of.DeviceByKey(ctx, text))
}

// hideForeignDevice answers with ErrDeviceUnknown for a device of another partner, as if it did not exist.
func (s ownDevices) hideForeignDevice(d Device, err error) (Device, error) {
	if err == nil && d.Partner != s.id {
		return Device{}, ErrDeviceUnknown
	}
	return d, err
}

// EndOwnKey ends a key of the one partner.
func (s ownDevices) EndOwnKey(ctx context.Context, id partner.ID, key KeyID, reason EndReason) (Device, error) {
	if id != s.id {
		return Device{}, ErrDeviceUnknown
	}
	return s.of.EndOwnKey(ctx, id, key, reason)
}

// MoveDevice moves a key of the one partner to another device.
func (s ownDevices) MoveDevice(ctx context.Context, id partner.ID, key KeyID, r DeviceRequest, next NewKey) (Device, error) {
	if id != s.id {
		return Device{}, ErrDeviceUnknown
	}
	return s.of.MoveDevice(ctx, id, key, r, next)
}
