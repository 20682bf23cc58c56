package cyber

import (
	"context"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// EndReason is why a key ended.
type EndReason string

// The reasons.
const (
	EndExpired      EndReason = "expired"
	EndRevoked      EndReason = "revoked"
	EndMoved        EndReason = "moved"
	EndSubscription EndReason = "subscription"
	// EndErased is only ever told: of a person who was erased no key is kept.
	EndErased EndReason = "erased"
)

// IsKnown reports whether it is one of the reasons, or empty of a key that has not ended: see sqldb.Enumerated.
func (r EndReason) IsKnown() bool {
	switch r {
	case "", EndExpired, EndRevoked, EndMoved, EndSubscription, EndErased:
		return true
	}
	return false
}

// KeyState is where a key stands.
type KeyState string

// The states. A key that was issued protects nothing until the device reports that it is installed.
const (
	KeyIssued KeyState = "issued"
	KeyActive KeyState = "active"
	KeyEnded  KeyState = "ended"
)

// KeyStateAt returns where the key stands.
func (d Device) KeyStateAt(now time.Time) KeyState {
	switch {
	case !d.IsLiveAt(now):
		return KeyEnded
	case d.ActivatedAt.IsZero():
		return KeyIssued
	}
	return KeyActive
}

// ProtectsAt reports whether the device is protected: its key is live and was activated on it.
func (d Device) ProtectsAt(now time.Time) bool { return d.KeyStateAt(now) == KeyActive }

// LifeStore keeps what becomes of keys. Each change and the event that tells of it are one transaction.
type LifeStore interface {
	// FindOwnDevice finds a partner's key by its id or by the activation key, ended ones too.
	FindOwnDevice(ctx context.Context, id partner.ID, named string) (Device, error)
	// NoteReport asks decide about a live key and keeps the times that it says; ErrDeviceEnded for one that is over.
	NoteReport(
		ctx context.Context, id partner.ID, key KeyID, decide func(d Device, now time.Time) (Device, bool),
	) (Device, error)
	EndOwnKey(ctx context.Context, id partner.ID, key KeyID, reason EndReason) (Device, error)
	// MoveDevice ends a live key and issues one for another device of the same person, valid until the same time. With
	// a mode in the request the key counts against the partner's share of a pool.
	MoveDevice(ctx context.Context, id partner.ID, key KeyID, r DeviceRequest, next NewKey) (Device, error)
	// GiveNotices asks about each key whose notice is due, writes the events and returns how many.
	GiveNotices(ctx context.Context, decide func(d Device, now time.Time) Notice) (int, error)
	// SetInstallLink changes where the program of a system is installed from, empty for none.
	SetInstallLink(ctx context.Context, system System, link string) error
}

// FindOwnDevice returns a partner's key by its id or by the activation key itself, ended ones too.
func (e *Endpoints) FindOwnDevice(ctx context.Context, id partner.ID, named string) (Device, error) {
	return e.store.FindOwnDevice(ctx, id, strings.TrimSpace(named))
}

// seenStep is how exact the time of the last report is: devices report often, and each change is a write.
const seenStep = 10 * time.Minute

// ReportProtected notes that the device of a key is protected by it.
func (e *Endpoints) ReportProtected(ctx context.Context, id partner.ID, named string) (Device, error) {
	d, err := e.FindOwnDevice(ctx, id, named)
	if err != nil {
		return d, err
	}
	if d.ProtectsAt(e.now()) {
		if _, changed := ApplyReport(d, e.now()); !changed {
			return d, nil // most reports change nothing and need no write
		}
	}
	return e.store.NoteReport(ctx, id, d.ID, ApplyReport)
}

// ApplyReport returns what becomes of a key whose device reports. A report of any kind activates a key that was not:
// that of the activation may have been lost, and what runs protects. It is false when nothing changes.
func ApplyReport(d Device, now time.Time) (Device, bool) {
	if !d.ActivatedAt.IsZero() && now.Sub(d.SeenAt) < seenStep {
		return d, false
	}
	if d.ActivatedAt.IsZero() {
		d.ActivatedAt = now
	}
	d.SeenAt = now
	return d, true
}

// RevokeOwnDevice ends a key of the partner.
func (e *Endpoints) RevokeOwnDevice(ctx context.Context, id partner.ID, named string) (Device, error) {
	d, err := e.FindOwnDevice(ctx, id, named)
	if err != nil || d.EndReason == EndRevoked {
		return d, err // revoked twice is revoked
	}
	return e.store.EndOwnKey(ctx, id, d.ID, EndRevoked)
}

// MoveOwnDevice gives a person of the partner a key for another device in place of one that ends: see ReplaceDevice.
func (e *Endpoints) MoveOwnDevice(ctx context.Context, id partner.ID, named string, r DeviceRequest) (Device, error) {
	if err := r.checkRequest(); err != nil {
		return Device{}, err
	}
	d, err := e.FindOwnDevice(ctx, id, named)
	if err != nil {
		return d, err
	}
	return e.moveDevice(ctx, d, r)
}

// RevokeDevice ends a key, for the operator.
func (e *Endpoints) RevokeDevice(ctx context.Context, key KeyID) (Device, error) {
	d, err := e.DeviceByID(ctx, key)
	if err != nil {
		return d, err
	}
	return e.store.EndOwnKey(ctx, d.Partner, d.ID, EndRevoked)
}

// ReplaceDevice moves a person's protection to another device, for the operator: the old key ends, the new device has a
// key of its own until the old one would have ended. The plan's limit is not asked, as the number of devices stays the
// same.
func (e *Endpoints) ReplaceDevice(ctx context.Context, key KeyID, system System, name string) (Device, error) {
	r := DeviceRequest{System: system, Name: name}
	if err := r.checkRequest(); err != nil {
		return Device{}, err
	}
	d, err := e.DeviceByID(ctx, key)
	if err != nil {
		return d, err
	}
	return e.moveDevice(ctx, d, r)
}

// moveDevice gives the place of d to another device, which gets a new key.
func (e *Endpoints) moveDevice(ctx context.Context, d Device, r DeviceRequest) (Device, error) {
	next, err := e.generateKey()
	if err != nil {
		return Device{}, err
	}
	return e.store.MoveDevice(ctx, d.Partner, d.ID, r, next)
}
