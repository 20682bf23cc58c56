package alert

import (
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Type is what an event is called.
type Type string

// The types.
const (
	LeakDetected          Type = "monitoring.leak_detected"
	StatusChanged         Type = "monitoring.status_changed"
	FirstLooksChanged     Type = "monitoring.first_looks_changed"
	StepDue               Type = "finding.step_due"
	CaseStatusChanged     Type = "case.status_changed"
	CaseMessageAdded      Type = "case.message_added"
	CaseBooked            Type = "case.appointment_changed"
	CaseRated             Type = "case.rated"
	KeyExpiring           Type = "epp.key_expiring"
	KeyActivated          Type = "epp.key_activated"
	KeyEnded              Type = "epp.key_ended"
	SubscriptionEnded     Type = "subscription.ended"
	SubscriptionSuspended Type = "subscription.suspended"
	SubscriptionResumed   Type = "subscription.resumed"
	ErasureRequested      Type = "erasure.requested"
	ErasureCancelled      Type = "erasure.cancelled"
	ErasureCompleted      Type = "erasure.completed"
	WebhookTest           Type = "webhook.test"
)

// Types are all of them.
var Types = []Type{
	LeakDetected,
	StatusChanged,
	FirstLooksChanged,
	StepDue,
	CaseStatusChanged,
	CaseMessageAdded,
	CaseBooked,
	CaseRated,
	KeyExpiring,
	KeyActivated,
	KeyEnded,
	SubscriptionEnded,
	SubscriptionSuspended,
	SubscriptionResumed,
	ErasureRequested,
	ErasureCancelled,
	ErasureCompleted,
	WebhookTest,
}

// TypeNames returns the types of events as a sentence lists them.
func TypeNames() string {
	names := make([]string, len(Types))
	for i, t := range Types {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

// CheckType refuses a name that is no type of event.
func CheckType(t Type) error {
	if !slices.Contains(Types, t) {
		return ErrTypes.With("type", fault.OneOf, TypeNames())
	}
	return nil
}

// ParseTypes reads names of event types; none means all.
func ParseTypes(names []string) ([]Type, error) {
	var list []Type
	for _, n := range names {
		t := Type(n)
		if !slices.Contains(Types, t) {
			return nil, ErrTypes.With("types", fault.EachOneOf, TypeNames())
		}
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list, nil
}
