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

	"github.com/vigiahq/vigia/internal/partner"
)

// EventID names an event: "evt_" and a UUIDv7. It is the webhook-id of every attempt to deliver the event.
type EventID string

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
