// Package alert says what each event is called and what it carries.
//
// An event is a row written in the transaction of what caused it, pushed to the partner's endpoints and kept for
// pulling. Bodies are thin: ids, the user hash, types, statuses, names of breaches, never a personal value. This
// package knows neither HTTP nor SQL.
package alert

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// EventID names an event: "evt_" and a UUIDv7. It is the webhook-id of every attempt to deliver the event.
type EventID string

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
	WebhookTest           Type = "webhook.test"
)

// Types are all of them.
var Types = []Type{
	LeakDetected, StatusChanged, FirstLooksChanged, StepDue, CaseStatusChanged, CaseMessageAdded, CaseBooked, CaseRated, KeyExpiring, KeyActivated,
	KeyEnded, SubscriptionEnded, SubscriptionSuspended, SubscriptionResumed, WebhookTest,
}

// Event is something a partner is told.
type Event struct {
	ID      EventID
	Partner partner.ID
	Type    Type
	// User is the person the event is about; empty when it is about no person. Events of one person are delivered in
	// order. The store replaces it with the spelling that the partner used last, so Data never contains a user hash.
	User partner.UserHash
	At   time.Time
	// Data becomes the member "data" of the body, behind userHash.
	Data any
}

// NewEvent makes an event.
func NewEvent(id partner.ID, t Type, user partner.UserHash, at time.Time, data any) Event {
	return Event{ID: EventID("evt_" + uuid.Must(uuid.NewV7()).String()), Partner: id, Type: t, User: user, At: at, Data: data}
}

// TimeFormat is how times look in bodies.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// MarshalBody returns what is signed and sent: {type, timestamp, data}.
func (e Event) MarshalBody() ([]byte, error) {
	rest, err := json.Marshal(e.Data)
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	type data struct {
		User partner.UserHash `json:"userHash,omitzero"`
		Rest jsontext.Value   `json:",embed"`
	}
	body, err := json.Marshal(struct {
		Type      Type   `json:"type"`
		Timestamp string `json:"timestamp"`
		Data      data   `json:"data"`
	}{e.Type, e.At.UTC().Format(TimeFormat), data{e.User, rest}})
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	return body, nil
}

// SampleUser is the person of every sample. It is the digest of a made-up CPF under a made-up salt, so no partner has
// a person of this name and a receiver can tell a sample from an event.
const SampleUser partner.UserHash = "e3d5a09299b744db42dc2031f023b71bc37742aa00b1a372b694262a92d43e37"

// Ids of samples. They look like those of events and name nothing.
const (
	sampleAsset   cyber.AssetID   = "0198c0de-7a00-7000-8000-000000000001"
	sampleFinding cyber.FindingID = "0198c0de-7a00-7000-8000-0000000000d1"
	sampleCase    cyber.CaseID    = "0198c0de-7a00-7000-8000-0000000000c1"
	sampleService cyber.ServiceID = "sv_ajuda_phishing"
	sampleKey     cyber.KeyID     = "ek_0198c0de-7a00-7000-8000-0000000000b1"
	nextSampleKey cyber.KeyID     = "ek_0198c0de-7a00-7000-8000-0000000000b2"
)

// sampleData returns what an event of a type carries when it happens at a time. Every type of Types has data here.
func sampleData(t Type, at time.Time) any {
	in := func(d time.Duration) string { return at.Add(d).UTC().Format(TimeFormat) }
	const day = 24 * time.Hour
	switch t {
	case LeakDetected:
		return Leak{Findings: []LeakFinding{{
			ID: sampleFinding, Asset: sampleAsset, Kind: "email", Status: cyber.StatusCompromised, Breach: "loja-exemplo", Severity: cyber.SeverityHigh,
			Exposed: []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword}, Basis: cyber.BasisRow,
		}}}
	case StatusChanged:
		return StatusChange{Asset: sampleAsset, Kind: "email", Previous: cyber.StatusCompromised, Status: cyber.StatusMonitored}
	case FirstLooksChanged:
		return LooksChanged{State: LooksStopped}
	case StepDue:
		return DueSteps{Steps: []DueOne{{Finding: sampleFinding, Breach: "loja-exemplo", Step: "change-password", Essential: true, Due: in(day / 2)}}}
	case CaseStatusChanged:
		return CaseChange{Case: sampleCase, Service: sampleService, Previous: cyber.CaseOpen, Status: cyber.CaseInProgress}
	case CaseMessageAdded:
		return CaseMessage{Case: sampleCase, Service: sampleService, From: "support"}
	case CaseBooked:
		return CaseBooking{Case: sampleCase, Service: sampleService, Appointment: in(2 * day)}
	case CaseRated:
		return CaseRating{Case: sampleCase, Service: sampleService, Rating: 5}
	case KeyExpiring:
		return KeyExpiry{Key: sampleKey, System: cyber.Android, ValidUntil: in(30 * day)}
	case KeyActivated:
		return KeyActivation{Key: sampleKey, System: cyber.Android, ActivatedAt: in(0)}
	case KeyEnded:
		return KeyEnd{Key: sampleKey, System: cyber.Android, Reason: cyber.EndMoved, EndedAt: in(0), MovedTo: nextSampleKey}
	case SubscriptionEnded, SubscriptionSuspended, SubscriptionResumed:
		return SubscriptionChange{Subscription: "sub_42", Plan: "protecao-familia", Internal: "contrato-0042"}
	case WebhookTest:
	}
	return struct{}{}
}

// SampleBody returns what an event of a type looks like to its receiver, about a made-up person.
func SampleBody(t Type, at time.Time) ([]byte, error) {
	return Event{ID: "evt_0198c0de-7a00-7000-8000-0000000000e1", At: at}.sampleOf(t).MarshalBody()
}

// sampleOf returns the event that a test of a type pushes: the body of a real one, about SampleUser.
func (e Event) sampleOf(t Type) Event {
	e.Type, e.Data = t, sampleData(t, e.At)
	if t != FirstLooksChanged && t != WebhookTest {
		e.User = SampleUser
	}
	return e
}
