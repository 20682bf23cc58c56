package alert

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// SampleUser is the person of every sample. It is the digest of a made-up CPF under a made-up salt, so no partner has
// a person of this name and a receiver can tell a sample from an event.
const SampleUser partner.UserHash = "e3d5a09299b744db42dc2031f023b71bc37742aa00b1a372b694262a92d43e37"

// Ids of samples. They look like those of events and name nothing.
const (
	sampleAsset   cyber.AssetID   = "as_0198c0de-7a00-7000-8000-000000000001"
	sampleFinding cyber.FindingID = "fd_0198c0de-7a00-7000-8000-0000000000d1"
	sampleCase    cyber.CaseID    = "cs_0198c0de-7a00-7000-8000-0000000000c1"
	sampleService cyber.ServiceID = "sv_ajuda_phishing"
	sampleKey     cyber.KeyID     = "ek_0198c0de-7a00-7000-8000-0000000000b1"
	nextSampleKey cyber.KeyID     = "ek_0198c0de-7a00-7000-8000-0000000000b2"
	sampleErasure                 = "er_0198c0de-7a00-7000-8000-0000000000f7"
)

// sampleData returns what an event of a type carries when it happens at a time. Every type of Types has data here.
func sampleData(t Type, at time.Time) any {
	in := func(d time.Duration) string { return at.Add(d).UTC().Format(TimeFormat) }
	const day = 24 * time.Hour
	switch t {
	case LeakDetected:
		return Leak{Findings: []LeakFinding{
			{
				ID:       sampleFinding,
				Asset:    sampleAsset,
				Kind:     "email",
				Status:   cyber.StatusCompromised,
				Breach:   "loja-exemplo",
				Severity: cyber.SeverityHigh,
				Exposed:  []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword},
				Basis:    cyber.BasisRow,
			},
		}}
	case StatusChanged:
		return StatusChange{
			Asset:    sampleAsset,
			Kind:     "email",
			Previous: cyber.StatusCompromised,
			Status:   cyber.StatusMonitored,
		}
	case FirstLooksChanged:
		return LooksChanged{State: cyber.LooksOverdue, Reason: cyber.LooksNoTokens, Waiting: 1200, PerHour: 200}
	case StepDue:
		return DueSteps{
			Steps: []DueOne{
				{
					Finding:   sampleFinding,
					Breach:    "loja-exemplo",
					Step:      "change-password",
					Essential: true,
					Due:       in(day / 2),
				},
			},
		}
	case CaseStatusChanged:
		return CaseChange{
			Case:     sampleCase,
			Service:  sampleService,
			Previous: cyber.CaseOpen,
			Status:   cyber.CaseInProgress,
		}
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
		return KeyEnd{
			Key:     sampleKey,
			System:  cyber.Android,
			Reason:  cyber.EndMoved,
			EndedAt: in(0),
			MovedTo: nextSampleKey,
		}
	case SubscriptionEnded, SubscriptionSuspended, SubscriptionResumed:
		return SubscriptionChange{Subscription: "sub_42", Plan: "protecao-familia", Internal: "contrato-0042"}
	case ErasureRequested:
		return ErasureRequest{Erasure: sampleErasure, Due: in(day)}
	case ErasureCancelled:
		return ErasureCancellation{Erasure: sampleErasure}
	case ErasureCompleted:
		return ErasureCompletion{Erasure: sampleErasure, Removed: 12}
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
	switch t {
	case FirstLooksChanged, ErasureCompleted, WebhookTest: // about no person
	default:
		e.User = SampleUser
	}
	return e
}

// Test is the data of WebhookTest as it is kept: a test of another type is pushed as a sample of it and kept as a test,
// so that nobody who reads events takes it for real.
type Test struct {
	SampleOf Type `json:"sampleOf,omitzero"`
}

// SentBody returns what was pushed for a kept event: its own body, or the sample for which a test stands.
func SentBody(e Kept) ([]byte, error) {
	if e.Type != WebhookTest {
		return e.Body, nil
	}
	var kept struct {
		Data Test `json:"data"`
	}
	if err := json.Unmarshal(e.Body, &kept); err != nil {
		return nil, fmt.Errorf("read test event: %w", err)
	}
	if kept.Data.SampleOf == "" {
		return e.Body, nil
	}
	return SampleBody(kept.Data.SampleOf, e.At)
}
