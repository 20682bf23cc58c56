package cyber

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// DeviceRequest is what a partner asks a key for.
type DeviceRequest struct {
	User   partner.UserHash
	System System
	Name   string
	// Mode is the partner's; empty for an operator's doing, which no share bounds.
	Mode partner.Mode
}

// maxDeviceName is in characters.
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
	with := slices.DeleteFunc(
		slices.Clone(e.Subscribed),
		func(t Entitlement) bool { return t.MaxDevices == plan.NoDevices },
	)
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
	text, err := generateKey(e.random)
	if err != nil {
		return NewKey{}, err
	}
	return NewKey{ID: KeyID("ek_" + uuid.Must(uuid.NewV7()).String()), Generated: text, IssuedAt: e.now()}, nil
}
