package cyber

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// System is what a device runs.
type System string

// The systems, to the letter of the contract.
const (
	Android System = "android"
	IOS     System = "ios"
	Windows System = "windows"
	MacOS   System = "macos"
)

// ListSystems lists every system.
func ListSystems() []System { return []System{Android, IOS, Windows, MacOS} }

// ParseSystem reads the contract's word for a system.
func ParseSystem(s string) (System, error) {
	for _, known := range ListSystems() {
		if s == string(known) {
			return known, nil
		}
	}
	return "", ErrDeviceInvalid.With("operatingSystem", fault.OneOf, "android, ios, windows, macos")
}

// IsMobile tells phones from computers.
func (s System) IsMobile() bool { return s == Android || s == IOS }

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

// DeviceRequest is what a partner asks a key for.
type DeviceRequest struct {
	User   partner.UserHash
	System System
	Name   string
	// Mode is the partner's; empty for an operator's doing, which no share bounds.
	Mode partner.Mode
}

const maxDeviceName = 100

// checkRequest refuses a request without a name or a known system.
func (r *DeviceRequest) checkRequest() error {
	// The same name typed on two keyboards may be composed differently.
	r.Name = norm.NFC.String(strings.Trim(r.Name, " "))
	if !partner.IsPrintable(r.Name, maxDeviceName) {
		return ErrDeviceInvalid.With("deviceName", fault.PrintableLength, maxDeviceName)
	}
	return nil
}

// Holding is what a decision about a new key rests on, read under the lock of its holder.
type Holding struct {
	// Live is how many live keys the person has.
	Live int
	// Plan is the plan in force for the person; its zero value bounds nothing. Subscribed tells a plan of theirs from
	// the partner's default.
	Plan       plan.Plan
	Subscribed bool
	// Excluded means that a plan is in force, and none that includes keys; Pooled that the key would come from what a
	// vendor delivered for all partners.
	Excluded, Pooled bool
}

// NewHolding returns what a person with so many live keys and these plans holds. A subscription whose plan includes no
// keys decides nothing where another one's does.
func NewHolding(live int, e Entitled, pooled bool) Holding {
	h := Holding{Live: live, Pooled: pooled}
	with := slices.DeleteFunc(slices.Clone(e.Subscribed), func(t Entitlement) bool { return t.MaxDevices == plan.NoDevices })
	none := len(with) == 0 && len(e.Subscribed) > 0
	e.Subscribed = with
	h.Plan, h.Subscribed, _ = e.BestPlan()
	h.Excluded = none || h.Plan.MaxDevices == plan.NoDevices
	return h
}

// NewKey is a decision to issue.
type NewKey struct {
	ID KeyID
	// Generated is the key to issue unless the system has a pool.
	Generated  string
	IssuedAt   time.Time
	ValidUntil time.Time
	Plan       plan.ID
}

// DeviceStore keeps keys and pools.
type DeviceStore interface {
	// IssueKey returns the live key of the device, or asks decide and keeps what it says, with a key of the system's
	// pool if it has one; ErrPoolEmpty when that has none left. Two calls for one person never run at the same time.
	IssueKey(ctx context.Context, id partner.ID, r DeviceRequest, decide func(Holding) (NewKey, error)) (Device, error)
	// ListDevices returns a person's live devices, newest first.
	ListDevices(ctx context.Context, id partner.ID, u partner.UserHash) ([]Device, error)
	// SamePerson tells whether two user hashes name one person.
	SamePerson(ctx context.Context, id partner.ID, a, b partner.UserHash) (bool, error)
	// PartnerDevices returns up to limit live devices of a partner, newest first.
	PartnerDevices(ctx context.Context, id partner.ID, limit int) ([]Device, error)
	DeviceByID(ctx context.Context, key KeyID) (Device, error)
	// DeviceByKey finds a device by its activation key.
	DeviceByKey(ctx context.Context, text string) (Device, error)
	LifeStore
	PoolStore
	ShareStore
}

// Endpoints issues activation keys and lists what they protect.
type Endpoints struct {
	store  DeviceStore
	now    func() time.Time
	random io.Reader
}

// NewEndpoints joins the rules to a store, a clock and a source of randomness (nil means the system's).
func NewEndpoints(store DeviceStore, now func() time.Time, random io.Reader) *Endpoints {
	if random == nil {
		random = rand.Reader
	}
	return &Endpoints{store: store, now: now, random: random}
}

// IssueKey returns the key of a device: the live one it has, or a new one.
func (e *Endpoints) IssueKey(ctx context.Context, id partner.ID, r DeviceRequest) (Device, error) {
	if err := r.checkRequest(); err != nil {
		return Device{}, err
	}
	// Drawn before the store's lock is taken; thrown away when the device has a key or the system a pool.
	next, err := e.generateKey()
	if err != nil {
		return Device{}, err
	}
	return e.store.IssueKey(ctx, id, r, func(h Holding) (NewKey, error) {
		most := h.Plan.MaxDevices
		switch {
		case h.Excluded, h.Pooled && r.Mode != "" && !h.Subscribed:
			return NewKey{}, ErrNotCovered.With("userHash", fault.NoProtectionPlan)
		case h.Pooled && r.Mode != "" && most == 0:
			most = mostPooled
		}
		if most > 0 && h.Live >= most {
			return NewKey{}, ErrDeviceLimit.With("deviceName", fault.PlanDevices, most)
		}
		next.ValidUntil = next.IssuedAt.Add(h.Plan.KeyValidity())
		if h.Subscribed && h.Plan.KeysEndWithSubscription {
			next.Plan = h.Plan.ID
		}
		return next, nil
	})
}

// generateKey draws a key that is not in use.
func (e *Endpoints) generateKey() (NewKey, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return NewKey{}, fmt.Errorf("make key id: %w", err)
	}
	text, err := generateKey(e.random)
	if err != nil {
		return NewKey{}, err
	}
	return NewKey{ID: KeyID("ek_" + id.String()), Generated: text, IssuedAt: e.now()}, nil
}

// MaxListed bounds the devices listed for a partner as a whole.
const MaxListed = 1000

// ListDevices returns a person's live devices, newest first.
func (e *Endpoints) ListDevices(ctx context.Context, id partner.ID, u partner.UserHash) ([]Device, error) {
	return e.store.ListDevices(ctx, id, u)
}

// IsSamePerson reports whether two user hashes name the same person.
func (e *Endpoints) IsSamePerson(ctx context.Context, id partner.ID, a, b partner.UserHash) (bool, error) {
	return e.store.SamePerson(ctx, id, a, b)
}

// ListPartnerDevices returns a partner's live devices, newest first, and whether there are more than MaxListed.
func (e *Endpoints) ListPartnerDevices(ctx context.Context, id partner.ID) (list []Device, more bool, err error) {
	list, err = e.store.PartnerDevices(ctx, id, MaxListed+1)
	if len(list) > MaxListed {
		return list[:MaxListed], true, err
	}
	return list, false, err
}

// GetDevice returns one key, for the operator.
func (e *Endpoints) GetDevice(ctx context.Context, key KeyID) (Device, error) {
	return e.store.DeviceByID(ctx, key)
}

// FindDevice returns the device that an activation key was issued for, for the operator.
func (e *Endpoints) FindDevice(ctx context.Context, text string) (Device, error) {
	return e.store.DeviceByKey(ctx, strings.TrimSpace(text))
}
