package alert

import (
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

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
			ID: f.ID, Asset: f.Asset, Kind: f.Kind.String(), Status: news.Status[f.Asset], Breach: f.Breach.Name, Severity: f.Severity,
			Exposed: f.Breach.Exposes, Basis: f.Basis(), OwnSite: f.OwnSite, Watched: f.WatchedSite, LeakedAs: f.LeakedAs(),
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
	return NewEvent(a.Partner, StatusChanged, a.User, at, StatusChange{Asset: a.ID, Kind: a.Kind.String(), Previous: before, Status: a.Status})
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
				Finding: p.Finding.ID, Breach: p.Finding.Breach.Name, Step: s.ID, Essential: s.Essential, Due: s.Due.UTC().Format(TimeFormat),
			})
		}
	}
	return NewEvent(id, StepDue, user, at, due)
}

// LookState says whether first looks of new values are made.
type LookState string

// The states.
const (
	LooksStopped LookState = "stopped"
	LooksRunning LookState = "running"
)

// LooksChanged is the data of FirstLooksChanged. It does not tell why they were stopped: a hostile partner would learn
// how far it may go.
type LooksChanged struct {
	State LookState `json:"state"`
}

// LooksChange tells a partner that the first looks of its new values were stopped, or go on.
func LooksChange(id partner.ID, state LookState, at time.Time) Event {
	return NewEvent(id, FirstLooksChanged, "", at, LooksChanged{State: state})
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
	return NewEvent(d.Partner, KeyExpiring, d.User, at, KeyExpiry{Key: d.ID, System: d.System, ValidUntil: d.ValidUntil.UTC().Format(TimeFormat)})
}

// KeyActivation is the data of KeyActivated.
type KeyActivation struct {
	Key         cyber.KeyID  `json:"keyId"`
	System      cyber.System `json:"operatingSystem"`
	ActivatedAt string       `json:"activatedAt"` // in TimeFormat
}

// KeyActivates tells that a device is protected from now on.
func KeyActivates(d cyber.Device) Event {
	return NewEvent(d.Partner, KeyActivated, d.User, d.ActivatedAt, KeyActivation{d.ID, d.System, d.ActivatedAt.UTC().Format(TimeFormat)})
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
	return NewEvent(d.Partner, KeyEnded, user, at, KeyEnd{d.ID, d.System, d.EndReason, d.EndedAt.UTC().Format(TimeFormat), movedTo})
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
func SubscriptionMoved(id partner.ID, sub subscription.Subscription, move subscription.Move, user partner.UserHash, at time.Time) Event {
	types := map[subscription.Move]Type{
		subscription.End: SubscriptionEnded, subscription.Suspend: SubscriptionSuspended, subscription.Resume: SubscriptionResumed,
	}
	return NewEvent(id, types[move], user, at, SubscriptionChange{Subscription: sub.ID(), Plan: sub.Plan, Internal: sub.InternalID})
}

// DeliveryFilter picks deliveries in a state for the operator, latest first; those that are not over from the oldest. The zero
// value of any other field does not restrict.
type DeliveryFilter struct {
	State   DeliveryState
	Partner partner.ID
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
