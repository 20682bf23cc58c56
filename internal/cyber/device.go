package cyber

import (
	"context"
	"crypto/rand"
	"io"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// KeyID names an issued key: "ek_" and a UUIDv7.
type KeyID string

// Device is a device with an activation key.
type Device struct {
	ID      KeyID
	Partner partner.ID
	// User is the user hash as it was sent when the key was asked for.
	User       partner.UserHash
	System     System
	Name       string
	Key        string
	IssuedAt   time.Time
	ValidUntil time.Time
	// ActivatedAt is when the device first reported that the key protects it, SeenAt when it last did; zero for never.
	ActivatedAt, SeenAt time.Time
	// EndedAt is when the key ended; zero while it has not, and for a short time after ValidUntil.
	EndedAt   time.Time
	EndReason EndReason
	// Plan is whose subscription the key ends with; empty when it does not.
	Plan plan.ID
}

// IsLiveAt reports whether the key may protect a device: whether it does, ProtectsAt says.
func (d Device) IsLiveAt(now time.Time) bool { return d.EndedAt.IsZero() && now.Before(d.ValidUntil) }

// Faults of endpoint keys.
var (
	ErrDeviceInvalid = fault.New(fault.Invalid, "device.invalid")
	ErrDeviceLimit   = fault.New(fault.Conflict, "device.limit_reached")
	ErrPoolEmpty     = fault.New(fault.Unavailable, "pool.empty")
	ErrDeviceUnknown = fault.New(fault.NotFound, "device.not_found")
	ErrDeviceEnded   = fault.New(fault.Conflict, "device.ended")
	ErrDeviceTaken   = fault.New(fault.Conflict, "device.exists")
)

// StoredDevices is what callers ask of the store itself: no rule stands between.
type StoredDevices interface {
	// ListDevices returns a person's live devices, newest first; DeviceByID one key, for the operator.
	ListDevices(ctx context.Context, id partner.ID, u partner.UserHash) ([]Device, error)
	DeviceByID(ctx context.Context, key KeyID) (Device, error)
	// IsSamePerson reports whether two user hashes name the same person.
	IsSamePerson(ctx context.Context, id partner.ID, a, b partner.UserHash) (bool, error)
	// EndUnsubscribed ends the keys whose plan ends them with its last subscription.
	EndUnsubscribed(ctx context.Context) (int, error)
	// InstallLinks returns where people install the program of each system from; a system without a link is not there.
	InstallLinks(ctx context.Context) (map[System]string, error)
	// ListSources returns where each system's keys come from, and what is left, in the order of ListSystems;
	// PoolsTurnedLow the pools that became low, or full again, since the last call in any replica.
	ListSources(ctx context.Context) ([]Source, error)
	PoolsTurnedLow(ctx context.Context) ([]Source, error)
	// ListShares returns what was set or used of the pools and calendars, by resource and partner.
	ListShares(ctx context.Context) ([]Share, error)
}

// DeviceStore keeps keys and pools.
type DeviceStore interface {
	// IssueKey returns the live key of the device, or asks decide and keeps what it says, with a key of the system's
	// pool if it has one; ErrPoolEmpty when that has none left. Two calls for one person never run at the same time.
	IssueKey(ctx context.Context, id partner.ID, r DeviceRequest, decide func(Holding) (NewKey, error)) (Device, error)
	// PartnerDevices returns up to limit live devices of a partner, newest first.
	PartnerDevices(ctx context.Context, id partner.ID, limit int) ([]Device, error)
	// DeviceByKey finds a device by its activation key.
	DeviceByKey(ctx context.Context, text string) (Device, error)
	LifeStore
	PoolStore
	ShareStore
	StoredDevices
}

// Endpoints issues activation keys and lists what they protect.
type Endpoints struct {
	StoredDevices
	store  DeviceStore
	now    func() time.Time
	random io.Reader
}

// NewEndpoints joins the rules to a store, a clock and a source of randomness (nil means the system's).
func NewEndpoints(store DeviceStore, now func() time.Time, random io.Reader) *Endpoints {
	if random == nil {
		random = rand.Reader
	}
	return &Endpoints{StoredDevices: store, store: store, now: now, random: random}
}

// MaxListed bounds the devices listed for a partner as a whole.
const MaxListed = 1000

// ListPartnerDevices returns a partner's live devices, newest first, and whether there are more than MaxListed.
func (e *Endpoints) ListPartnerDevices(ctx context.Context, id partner.ID) (list []Device, more bool, err error) {
	list, err = e.store.PartnerDevices(ctx, id, MaxListed+1)
	if len(list) > MaxListed {
		return list[:MaxListed], true, err
	}
	return list, false, err
}

// FindDevice returns the device that an activation key was issued for, for the operator.
func (e *Endpoints) FindDevice(ctx context.Context, text string) (Device, error) {
	return e.store.DeviceByKey(ctx, strings.TrimSpace(text))
}
