package alert

import (
	"slices"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Areas are the parts of the contract whose events a caller may read.
type Areas struct{ Cyber, Subscriptions bool }

// Everything is what the operator sees, and a key with both scopes.
var Everything = Areas{Cyber: true, Subscriptions: true}

// ofSubscriptions reports whether an event is about a subscription; all others, tests aside, are the cyber area's.
func (t Type) ofSubscriptions() bool {
	return t == SubscriptionEnded || t == SubscriptionSuspended || t == SubscriptionResumed
}

// ListTypes returns the types that may be read. Tests are about nothing but the endpoint, so every caller may read
// them.
func (a Areas) ListTypes() []Type {
	return slices.DeleteFunc(slices.Clone(Types), func(t Type) bool {
		return t != WebhookTest && (t.ofSubscriptions() && !a.Subscriptions || !t.ofSubscriptions() && !a.Cyber)
	})
}

// CheckTypes refuses types whose events may not be read: an endpoint must not be told what its maker could not have
// read. No types means all of them.
func (a Areas) CheckTypes(names []string) error {
	wanted, err := ParseTypes(names)
	if err != nil {
		return err
	}
	if len(wanted) == 0 {
		wanted = Types
	}
	readable := a.ListTypes()
	if slices.ContainsFunc(wanted, func(t Type) bool { return !slices.Contains(readable, t) }) {
		return ErrTypes.With("types", fault.EventsOfKey, readable)
	}
	return nil
}

// CanRead reports whether events of a type may be read.
func (a Areas) CanRead(t Type) bool { return slices.Contains(a.ListTypes(), t) }
