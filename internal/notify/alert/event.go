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
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
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

// NewEventID returns an id for a new event: "evt_" and a UUIDv7.
func NewEventID() EventID { return EventID("evt_" + uuid.Must(uuid.NewV7()).String()) }

func NewEvent(id partner.ID, t Type, user partner.UserHash, at time.Time, data any) Event {
	return Event{
		ID:      NewEventID(),
		Partner: id,
		Type:    t,
		User:    user,
		At:      at,
		Data:    data,
	}
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

// Leak is the data of LeakDetected: what was found of one person at one time.
type Leak struct {
	Findings []LeakFinding `json:"findings"`
}

// LeakFinding is one finding in a Leak.
type LeakFinding struct {
	ID       cyber.FindingID `json:"id"`
	Asset    cyber.AssetID   `json:"assetId"`
	Kind     string          `json:"assetType"`
	Status   cyber.Status    `json:"status"`
	Breach   string          `json:"breach"`
	Severity cyber.Severity  `json:"severity"`
	Exposed  []cyber.Exposed `json:"exposed"`
	Basis    cyber.Basis     `json:"basis"`
	OwnSite  bool            `json:"ownSite,omitzero"`
	Watched  bool            `json:"watchedSite,omitzero"`
	// LeakedAs are the spellings of a Gmail mailbox, without its letters.
	LeakedAs []string `json:"leakedAs,omitempty"`
}

// NewLeakEvent tells of everything that was found of one person at one time.
func NewLeakEvent(news cyber.News, at time.Time) Event {
	leak := Leak{Findings: make([]LeakFinding, len(news.Found))}
	for i, f := range news.Found {
		leak.Findings[i] = LeakFinding{
			ID:       f.ID,
			Asset:    f.Asset,
			Kind:     f.Kind.String(),
			Status:   news.Status[f.Asset],
			Breach:   f.Breach.Name,
			Severity: f.Severity,
			Exposed:  f.Breach.Exposes,
			Basis:    f.Basis(),
			OwnSite:  f.OwnSite,
			Watched:  f.WatchedSite,
			LeakedAs: f.LeakedAs(),
		}
	}
	return NewEvent(news.Partner, LeakDetected, news.User, at, leak)
}

// StatusChange is the data of StatusChanged.
type StatusChange struct {
	Asset    cyber.AssetID `json:"assetId"`
	Kind     string        `json:"assetType"`
	Previous cyber.Status  `json:"previousStatus"`
	Status   cyber.Status  `json:"status"`
}

// NewStatusEvent tells that a watched value has another status than before.
func NewStatusEvent(a cyber.Asset, before cyber.Status, at time.Time) Event {
	return NewEvent(
		a.Partner,
		StatusChanged,
		a.User,
		at,
		StatusChange{Asset: a.ID, Kind: a.Kind.String(), Previous: before, Status: a.Status},
	)
}

// DueSteps is the data of StepDue: what one person is to be reminded of at one time.
type DueSteps struct {
	Steps []DueOne `json:"steps"`
}

// DueOne is one step in a DueSteps.
type DueOne struct {
	Finding   cyber.FindingID `json:"findingId"`
	Breach    string          `json:"breach"`
	Step      cyber.StepID    `json:"step"`
	Essential bool            `json:"essential"`
	Due       string          `json:"dueAt"`
}

// NewStepsDueEvent tells of the steps of a person's plans whose deadline nears; plans hold no others.
func NewStepsDueEvent(id partner.ID, user partner.UserHash, plans []cyber.Plan, at time.Time) Event {
	var due DueSteps
	for _, p := range plans {
		for _, s := range p.Steps {
			due.Steps = append(due.Steps, DueOne{
				Finding:   p.Finding.ID,
				Breach:    p.Finding.Breach.Name,
				Step:      s.ID,
				Essential: s.Essential,
				Due:       s.Due.UTC().Format(TimeFormat),
			})
		}
	}
	return NewEvent(id, StepDue, user, at, due)
}

// LooksChanged is the data of FirstLooksChanged.
type LooksChanged struct {
	State   cyber.LookState  `json:"state"`
	Reason  cyber.LookReason `json:"reason"`
	Waiting int64            `json:"waiting"`
	PerHour int64            `json:"perHour"`
}

// LooksChange tells a partner that the first looks of its new values wait, were stopped, or go on.
func LooksChange(id partner.ID, change cyber.LookChange, at time.Time) Event {
	return NewEvent(id, FirstLooksChanged, "", at, LooksChanged(change))
}

// CaseChange is the data of CaseStatusChanged.
type CaseChange struct {
	Case     cyber.CaseID     `json:"caseId"`
	Service  cyber.ServiceID  `json:"serviceId"`
	Previous cyber.CaseStatus `json:"previousStatus"`
	Status   cyber.CaseStatus `json:"status"`
}

// CaseMessage is the data of CaseMessageAdded: who wrote, never what.
type CaseMessage struct {
	Case    cyber.CaseID    `json:"caseId"`
	Service cyber.ServiceID `json:"serviceId"`
	From    string          `json:"from"` // "support" or "person"
}

// CaseBooking is the data of CaseBooked.
type CaseBooking struct {
	Case        cyber.CaseID    `json:"caseId"`
	Service     cyber.ServiceID `json:"serviceId"`
	Appointment string          `json:"appointment"` // in TimeFormat
}

// CaseRating is the data of CaseRated.
type CaseRating struct {
	Case    cyber.CaseID    `json:"caseId"`
	Service cyber.ServiceID `json:"serviceId"`
	Rating  int             `json:"rating"`
}

// CaseEvents returns the events of new lines of a case's history. Notes are internal and cause none, and an attachment
// is part of the event of its message.
func CaseEvents(c cyber.Case, lines []cyber.CaseMove) (events []Event) {
	for _, m := range lines {
		var kind Type
		var data any
		switch m.Kind {
		case cyber.MoveStatus:
			kind, data = CaseStatusChanged, CaseChange{Case: c.ID, Service: c.Service, Previous: m.From, Status: m.To}
		case cyber.MoveReply:
			kind, data = CaseMessageAdded, CaseMessage{c.ID, c.Service, "support"}
		case cyber.MoveMessage:
			kind, data = CaseMessageAdded, CaseMessage{c.ID, c.Service, "person"}
		case cyber.MoveBooking:
			kind, data = CaseBooked, CaseBooking{c.ID, c.Service, c.Booked.UTC().Format(TimeFormat)}
		case cyber.MoveRating:
			kind, data = CaseRated, CaseRating{c.ID, c.Service, c.Rating}
		case cyber.MoveNote, cyber.MoveAttachment:
			continue
		}
		events = append(events, NewEvent(c.Partner, kind, c.User, m.At, data))
	}
	return events
}

// KeyExpiry is the data of KeyExpiring. It never holds the key.
type KeyExpiry struct {
	Key        cyber.KeyID  `json:"keyId"`
	System     cyber.System `json:"operatingSystem"`
	ValidUntil string       `json:"validUntil"` // in TimeFormat
}

// KeyExpires tells that a device's key ends soon.
func KeyExpires(d cyber.Device, at time.Time) Event {
	return NewEvent(
		d.Partner,
		KeyExpiring,
		d.User,
		at,
		KeyExpiry{Key: d.ID, System: d.System, ValidUntil: d.ValidUntil.UTC().Format(TimeFormat)},
	)
}

// KeyActivation is the data of KeyActivated.
type KeyActivation struct {
	Key         cyber.KeyID  `json:"keyId"`
	System      cyber.System `json:"operatingSystem"`
	ActivatedAt string       `json:"activatedAt"` // in TimeFormat
}

// KeyActivates tells that a device is protected from now on.
func KeyActivates(d cyber.Device) Event {
	return NewEvent(
		d.Partner,
		KeyActivated,
		d.User,
		d.ActivatedAt,
		KeyActivation{d.ID, d.System, d.ActivatedAt.UTC().Format(TimeFormat)},
	)
}

// KeyEnd is the data of KeyEnded.
type KeyEnd struct {
	Key     cyber.KeyID     `json:"keyId"`
	System  cyber.System    `json:"operatingSystem"`
	Reason  cyber.EndReason `json:"reason"`
	EndedAt string          `json:"endedAt"` // in TimeFormat
	// MovedTo is the key of the device that took the place of this one.
	MovedTo cyber.KeyID `json:"movedTo,omitempty"`
}

// NewKeyEndEvent returns the event of a key that ended, for whatever reason. If the person was erased the event names
// no person.
func NewKeyEndEvent(d cyber.Device, at time.Time, movedTo cyber.KeyID) Event {
	user := d.User
	if d.EndReason == cyber.EndErased {
		user = ""
	}
	return NewEvent(
		d.Partner,
		KeyEnded,
		user,
		at,
		KeyEnd{d.ID, d.System, d.EndReason, d.EndedAt.UTC().Format(TimeFormat), movedTo},
	)
}

// SubscriptionChange is the data of SubscriptionEnded, SubscriptionSuspended and SubscriptionResumed. It says whose
// subscription it is by the user hash, never by a CPF.
type SubscriptionChange struct {
	// Subscription is the same in every event of one subscription: a person may subscribe to a plan again after an end.
	Subscription subscription.ID `json:"subscriptionId"`
	Plan         plan.ID         `json:"planId"`
	// Internal is the partner's own reference.
	Internal string `json:"partnerInternalId,omitempty"`
}

// SubscriptionMoved tells of a step in a subscription's life.
func SubscriptionMoved(
	id partner.ID,
	sub subscription.Subscription,
	move subscription.Move,
	user partner.UserHash,
	at time.Time,
) Event {
	types := map[subscription.Move]Type{
		subscription.End:     SubscriptionEnded,
		subscription.Suspend: SubscriptionSuspended,
		subscription.Resume:  SubscriptionResumed,
	}
	return NewEvent(
		id,
		types[move],
		user,
		at,
		SubscriptionChange{Subscription: sub.ID(), Plan: sub.Plan, Internal: sub.InternalID},
	)
}

// ErasureRequest is the data of ErasureRequested.
type ErasureRequest struct {
	Erasure string `json:"erasureId"`
	Due     string `json:"dueAt"` // in TimeFormat
}

// NewErasureRequest tells that the erasure of a person was asked for, and until when it can be cancelled.
func NewErasureRequest(id partner.ID, user partner.UserHash, erasure string, at, due time.Time) Event {
	data := ErasureRequest{Erasure: erasure, Due: due.UTC().Format(TimeFormat)}
	return NewEvent(id, ErasureRequested, user, at, data)
}

// ErasureCancellation is the data of ErasureCancelled.
type ErasureCancellation struct {
	Erasure string `json:"erasureId"`
}

// NewErasureCancellation tells that a person is not erased after all.
func NewErasureCancellation(id partner.ID, user partner.UserHash, erasure string, at time.Time) Event {
	return NewEvent(id, ErasureCancelled, user, at, ErasureCancellation{Erasure: erasure})
}

// ErasureCompletion is the data of ErasureCompleted.
type ErasureCompletion struct {
	Erasure string `json:"erasureId"`
	Removed int64  `json:"removed"`
}

// NewErasureCompletion tells that an erasure is over. The event names no person: it outlives them.
func NewErasureCompletion(id partner.ID, erasure string, removed int64, at time.Time) Event {
	return NewEvent(id, ErasureCompleted, "", at, ErasureCompletion{Erasure: erasure, Removed: removed})
}

// DeliveryFilter picks deliveries in a state for the operator, latest first; those that are not over from the oldest.
// The zero value of any other field does not restrict.
type DeliveryFilter struct {
	State   DeliveryState
	Partner partner.ID
	// LiveOnly leaves out deliveries of sandboxes.
	LiveOnly bool
	// User is a person of the partner.
	User partner.UserHash
	Type Type
	// Endpoint is one destination of the partner's.
	Endpoint EndpointID
	// From and To are a period of the end, To exclusive.
	From, To time.Time
	// Before is where to go on.
	Before DeliveryMark
	Limit  int
}

// DeliveryMark is where a list of deliveries goes on; zero means at its beginning.
type DeliveryMark struct {
	At       time.Time
	Partner  partner.ID
	Endpoint EndpointID
	Seq      int64
}

// EventFilter picks events of a partner for the operator.
type EventFilter struct {
	User        partner.UserHash
	Type        Type
	From, To    time.Time
	OldestFirst bool
	// After is the number to go on from, exclusive; 0 means at the beginning.
	After int64
	Limit int
}

// Listed is a delivery in a list.
type Listed struct {
	DeliveryStatus
	Partner   partner.ID
	Type      Type
	CreatedAt time.Time
}
