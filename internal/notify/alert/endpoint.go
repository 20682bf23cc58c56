package alert

import (
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// EndpointID names an endpoint: "whe_" and a UUIDv7.
type EndpointID string

// EndpointState tells whether events are pushed to an endpoint.
type EndpointState string

// The states. Events of a disabled endpoint are held and pushed when it is enabled again.
const (
	Enabled  EndpointState = "enabled"
	Disabled EndpointState = "disabled"
)

// Reason is why an endpoint is disabled.
type Reason string

// The reasons; empty while it is enabled.
const (
	ByOperator Reason = "operator"
	Gone       Reason = "gone"    // the receiver answered 410
	Failing    Reason = "failing" // nothing but failures for DeadAfter
)

// DeadAfter is how long an endpoint may do nothing but fail before it is disabled. It is longer than the 75 hours over
// which one event is tried, so that a weekend's outage never disables anything.
const DeadAfter = 5 * 24 * time.Hour

// MaxEndpoints bounds how many rows one event can become.
const MaxEndpoints = 50

// Endpoint is an address that a partner wants its events pushed to.
type Endpoint struct {
	ID      EndpointID
	Partner partner.ID
	URL     string
	// Types are those it wants; empty means all.
	Types []Type
	Keys  webhook.Keyring
	State EndpointState
	// Reason is why it is disabled.
	Reason Reason
	// FailingSince is the first failure after the last success; zero when the last attempt succeeded or there was none.
	FailingSince time.Time
	// ChangedAt moves with state and keys, so that other processes notice.
	ChangedAt time.Time
	CreatedAt time.Time
}

// IsFailing reports whether the endpoint gets nothing at present: its last try failed, or failures switched it off.
func (e Endpoint) IsFailing() bool {
	if e.State == Disabled {
		return e.Reason == Failing || e.Reason == Gone
	}
	return !e.FailingSince.IsZero()
}

// WantsType reports whether events of a type go to the endpoint.
func (e Endpoint) WantsType(t Type) bool { return len(e.Types) == 0 || slices.Contains(e.Types, t) }

// InitialDeliveryState returns the state in which a delivery to the endpoint begins, and begins anew.
func (e Endpoint) InitialDeliveryState() DeliveryState {
	if e.State == Disabled {
		return Held
	}
	return Pending
}

// Address returns where the endpoint is, without the query: receivers keep tokens there.
func (e Endpoint) Address() string {
	address, _, _ := strings.Cut(e.URL, "?")
	return address
}

// IsFailingTooLong reports whether a failure now is one too many.
func (e Endpoint) IsFailingTooLong(now time.Time) bool {
	return !e.FailingSince.IsZero() && now.Sub(e.FailingSince) >= DeadAfter
}

// Secret returns the current shared secret, in the form that a partner keeps.
func (e Endpoint) Secret() string {
	for _, k := range e.Keys {
		if s, ok := k.Key.(webhook.Secret); ok && k.Until.IsZero() {
			return s.Reveal()
		}
	}
	return ""
}

// PublicKeys returns the keys that verify v1a signatures made at now, newest first.
func (e Endpoint) PublicKeys(now time.Time) []string {
	var list []string
	for _, k := range e.Keys.LiveKeys(now) {
		if s, ok := k.(webhook.SigningKey); ok {
			list = append(list, s.PublicText())
		}
	}
	return list
}

// Faults of endpoints.
var (
	ErrEndpointNotFound = fault.New(fault.NotFound, "webhook.not_found")
	ErrTypes            = fault.New(fault.Invalid, "webhook.types_invalid")
	ErrTooManyEndpoints = fault.New(fault.Conflict, "webhook.too_many")
)
