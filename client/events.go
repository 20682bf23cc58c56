package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"
)

// EventPage is a piece of the partner's events, in order.
type EventPage struct {
	Events []Event
	// Next is the cursor to go on from. Keep it once the events are handled: coming back with it counts as having them.
	Next string
	// HasMore says that more events are waiting.
	HasMore bool
}

// EventPage reads events by cursor, at most 1,000: the same that are pushed to webhooks. An empty cursor means the
// oldest that is kept. An extension of the contract.
func (c *Client) EventPage(ctx context.Context, after string, limit int, opts ...Option) (EventPage, error) {
	k := newCall(http.MethodGet, "/events", nil, opts)
	if after != "" {
		k.query.Set("after", after)
	}
	k.query.Set("limit", strconv.Itoa(limit))
	var wire struct {
		Events []struct {
			ID   string `json:"id"`
			Body struct {
				Type      string          `json:"type"`
				Timestamp time.Time       `json:"timestamp"`
				Data      json.RawMessage `json:"data"`
			} `json:"body"`
		} `json:"events"`
		Next    string `json:"next"`
		HasMore bool   `json:"hasMore"`
	}
	if err := c.do(ctx, k, &wire); err != nil {
		return EventPage{}, err
	}
	page := EventPage{Next: wire.Next, HasMore: wire.HasMore, Events: make([]Event, len(wire.Events))}
	for i, e := range wire.Events {
		page.Events[i] = Event{ID: e.ID, Type: e.Body.Type, Timestamp: e.Body.Timestamp, Data: e.Body.Data}
	}
	return page, nil
}

// Message is what to send to a person about an event. An extension of the contract.
type Message struct {
	Type     string `json:"type"`
	Channel  string `json:"channel"`
	Language string `json:"lang"`
	// Subject is that of an e-mail and the title of a push; HTML is the text of an e-mail once more.
	Subject string `json:"subject,omitempty"`
	Text    string `json:"text"`
	HTML    string `json:"html,omitempty"`
	// Template is what a WhatsApp message is sent by; nil for other channels.
	Template *MessageTemplate `json:"template,omitempty"`
}

// MessageTemplate is a WhatsApp template as it is registered, and its parameters.
type MessageTemplate struct {
	Name       string   `json:"name"`
	Language   string   `json:"language"`
	Body       string   `json:"body"`
	Parameters []string `json:"parameters"`
}

// Message makes a message of an event: channel is email, sms, whatsapp or push, language pt-BR, es or en. ErrNotFound
// for an event that people are not told of. An extension of the contract.
func (c *Client) Message(ctx context.Context, eventID, channel, language string, opts ...Option) (Message, error) {
	k := newCall(http.MethodGet, "/events/{id}/message", []string{eventID}, opts)
	k.query.Set("channel", channel)
	k.query.Set("lang", language)
	var m Message
	err := c.do(ctx, k, &m)
	return m, err
}

const eventsAtOnce = 500

// EventPages walks from a cursor to the newest event, page by page: handle the events of a page, keep its Next, go on.
// The walk ends when nothing is waiting, or after the first error. An extension of the contract.
func (c *Client) EventPages(ctx context.Context, after string, opts ...Option) iter.Seq2[EventPage, error] {
	return func(yield func(EventPage, error) bool) {
		for {
			p, err := c.EventPage(ctx, after, eventsAtOnce, opts...)
			if !yield(p, err) || err != nil || !p.HasMore {
				return
			}
			after = p.Next
		}
	}
}

// The types of events.
const (
	TypeLeakDetected          = "monitoring.leak_detected"
	TypeStatusChanged         = "monitoring.status_changed"
	TypeFirstLooksChanged     = "monitoring.first_looks_changed"
	TypeStepDue               = "finding.step_due"
	TypeCaseStatusChanged     = "case.status_changed"
	TypeCaseMessageAdded      = "case.message_added"
	TypeCaseBooked            = "case.appointment_changed"
	TypeCaseRated             = "case.rated"
	TypeKeyExpiring           = "epp.key_expiring"
	TypeKeyActivated          = "epp.key_activated"
	TypeKeyEnded              = "epp.key_ended"
	TypeSubscriptionEnded     = "subscription.ended"
	TypeSubscriptionSuspended = "subscription.suspended"
	TypeSubscriptionResumed   = "subscription.resumed"
	TypeTest                  = "webhook.test"
)

// LeakDetected says that values of a person were found in a breach.
type LeakDetected struct {
	UserHash string `json:"userHash"`
	Findings []struct {
		ID        string      `json:"id"`
		AssetID   string      `json:"assetId"`
		AssetType AssetType   `json:"assetType"`
		Status    AssetStatus `json:"status"`
		Breach    string      `json:"breach"`
		Severity  string      `json:"severity"`
		// Exposed, Basis, OwnSite, WatchedSite and LeakedAs are as in Finding.
		Exposed     []string `json:"exposed"`
		Basis       string   `json:"basis"`
		OwnSite     bool     `json:"ownSite,omitempty"`
		WatchedSite bool     `json:"watchedSite,omitempty"`
		LeakedAs    []string `json:"leakedAs,omitempty"`
	} `json:"findings"`
}

// StatusChanged says that the status of a watched value changed.
type StatusChanged struct {
	UserHash       string      `json:"userHash"`
	AssetID        string      `json:"assetId"`
	AssetType      AssetType   `json:"assetType"`
	PreviousStatus AssetStatus `json:"previousStatus"`
	Status         AssetStatus `json:"status"`
}

// FirstLooksChanged says that first looks of new values were stopped, or go on.
type FirstLooksChanged struct {
	State string `json:"state"` // "stopped" or "running"
}

// StepDue says that steps of a person's plans are due soon.
type StepDue struct {
	UserHash string `json:"userHash"`
	Steps    []struct {
		FindingID string    `json:"findingId"`
		Breach    string    `json:"breach"`
		Step      string    `json:"step"`
		Essential bool      `json:"essential"`
		DueAt     time.Time `json:"dueAt"`
	} `json:"steps"`
}

// CaseStatusChanged says that a support case moved.
type CaseStatusChanged struct {
	UserHash       string `json:"userHash"`
	CaseID         string `json:"caseId"`
	ServiceID      string `json:"serviceId"`
	PreviousStatus string `json:"previousStatus"`
	Status         string `json:"status"`
}

// CaseMessageAdded says that a message was added to a case. The text is not in the event; read the case for it.
type CaseMessageAdded struct {
	UserHash  string `json:"userHash"`
	CaseID    string `json:"caseId"`
	ServiceID string `json:"serviceId"`
	From      string `json:"from"` // support or person
}

// CaseBooked says that a case has another appointment.
type CaseBooked struct {
	UserHash    string    `json:"userHash"`
	CaseID      string    `json:"caseId"`
	ServiceID   string    `json:"serviceId"`
	Appointment time.Time `json:"appointment"`
}

// CaseRated says what a person thought of a case, 1 to 5.
type CaseRated struct {
	UserHash  string `json:"userHash"`
	CaseID    string `json:"caseId"`
	ServiceID string `json:"serviceId"`
	Rating    int    `json:"rating"`
}

// KeyActivated says that a device is protected.
type KeyActivated struct {
	UserHash    string          `json:"userHash"`
	KeyID       string          `json:"keyId"`
	System      OperatingSystem `json:"operatingSystem"`
	ActivatedAt time.Time       `json:"activatedAt"`
}

// KeyHasEnded says that an antivirus key ended. UserHash is empty when its person was erased.
type KeyHasEnded struct {
	UserHash string          `json:"userHash,omitempty"`
	KeyID    string          `json:"keyId"`
	System   OperatingSystem `json:"operatingSystem"`
	Reason   string          `json:"reason"` // expired, revoked, moved, subscription or erased
	EndedAt  time.Time       `json:"endedAt"`
	MovedTo  string          `json:"movedTo,omitempty"`
}

// KeyExpiring says that an antivirus key ends soon.
type KeyExpiring struct {
	UserHash   string          `json:"userHash"`
	KeyID      string          `json:"keyId"`
	System     OperatingSystem `json:"operatingSystem"`
	ValidUntil time.Time       `json:"validUntil"`
}

// SubscriptionChanged says that a subscription ended, was suspended or was resumed.
type SubscriptionChanged struct {
	UserHash string `json:"userHash"`
	// SubscriptionID is the same in every event of one subscription.
	SubscriptionID string `json:"subscriptionId"`
	PlanID         string `json:"planId"`
	// PartnerInternalID is your own reference from the enrolment; empty where none was given.
	PartnerInternalID string `json:"partnerInternalId,omitempty"`
}

// Payload returns the event's data by its type: a *LeakDetected, *StatusChanged, *FirstLooksChanged, *StepDue,
// *CaseStatusChanged, *CaseMessageAdded, *CaseBooked, *CaseRated, *KeyExpiring, *KeyActivated, *KeyHasEnded or
// *SubscriptionChanged. A type that this package does not know, and a test, give the data as it came.
func (e Event) Payload() (any, error) {
	var to any
	switch e.Type {
	case TypeLeakDetected:
		to = &LeakDetected{}
	case TypeStatusChanged:
		to = &StatusChanged{}
	case TypeFirstLooksChanged:
		to = &FirstLooksChanged{}
	case TypeStepDue:
		to = &StepDue{}
	case TypeCaseStatusChanged:
		to = &CaseStatusChanged{}
	case TypeCaseMessageAdded:
		to = &CaseMessageAdded{}
	case TypeCaseBooked:
		to = &CaseBooked{}
	case TypeCaseRated:
		to = &CaseRated{}
	case TypeKeyExpiring:
		to = &KeyExpiring{}
	case TypeKeyActivated:
		to = &KeyActivated{}
	case TypeKeyEnded:
		to = &KeyHasEnded{}
	case TypeSubscriptionEnded, TypeSubscriptionSuspended, TypeSubscriptionResumed:
		to = &SubscriptionChanged{}
	default:
		return e.Data, nil
	}
	if err := json.Unmarshal(e.Data, to); err != nil {
		return nil, fmt.Errorf("%w: data of %s: %w", ErrBody, e.Type, err)
	}
	return to, nil
}
