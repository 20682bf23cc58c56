package subject

import (
	"encoding/json"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Held is everything that is held about a person for one partner.
type Held struct {
	Partner       partner.Partner
	Subscriptions []subscription.Subscription
	Assets        []Watched
	Findings      []cyber.Finding
	// Steps are what the person said of the steps of their findings' plans.
	Steps   []cyber.StepMark
	Cases   []Case
	Devices []cyber.Device
	Answers []Answer
	Scores  []cyber.ScoreDay
	Events  []Event
	// Others are user hashes of other people under which this person's CPF is watched. That value is held about the
	// person and is erased with them; the rest under those hashes is another person's.
	Others []partner.UserHash
	// StoredAnswers counts kept answers to the partner's requests that repeat something about the person.
	StoredAnswers int
}

// Empty reports whether nothing is held.
func (h Held) Empty() bool {
	return len(h.Subscriptions)+len(h.Assets)+len(h.Cases)+len(
		h.Devices,
	)+len(h.Answers)+len(h.Scores)+len(h.Events)+h.StoredAnswers == 0
}

// Watched is a watched value and every change of its status.
type Watched struct {
	cyber.Asset
	History []Change
}

// Change is one change of a status.
type Change struct {
	At           time.Time
	Before, Then cyber.Status
}

// Case is a support case and its history.
type Case struct {
	cyber.Case
	Moves []cyber.CaseMove
}

// Answer is a person's answer to a validation question.
type Answer struct {
	Content cyber.ContentID
	Value   string
	At      time.Time
}

// Event is something that the partner was told about the person.
type Event struct {
	ID         string
	Type       string
	At         time.Time
	Body       json.RawMessage
	Deliveries []Delivery
}

// Delivery is where an event went.
type Delivery struct {
	Endpoint string
	State    string
	At       time.Time // when it arrived or was given up; zero before that
}
