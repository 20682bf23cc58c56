// Package subject holds what the law gives a person: to be told everything that is held about them, to have it erased,
// and to know who looked at it; and what it asks of the operator after an incident.
//
// It knows neither SQL nor which screen or command asks. The invariant it keeps: a person is named by a CPF, or by a
// user hash together with its partner; what outlives an erasure identifies no person without the service's keys; and
// every answer is recorded in the audit trail before it is given.
package subject

import (
	"context"
	"encoding/json"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Faults of this package.
var (
	ErrInvalid  = fault.New(fault.Invalid, "subject.invalid")
	ErrLogLine  = fault.New(fault.Invalid, "subject.log")
	ErrForeign  = fault.New(fault.Conflict, "subject.foreign_log")
	ErrNobody   = fault.New(fault.NotFound, "subject.nobody")
	ErrNoReason = fault.New(fault.Invalid, "subject.reason")
)

// Person is who is asked about: by CPF, or by a user hash of one partner.
type Person struct {
	// CPF is eleven digits; empty when User names the person.
	CPF  string
	User partner.UserHash
	// Partner narrows the question to one partner; empty means all. A user hash needs it.
	Partner partner.ID
}

// ParsePerson reads who is meant. Check digits are not asked for: people of sandbox partners have none.
func ParsePerson(cpf, user, id string) (Person, error) {
	p := Person{Partner: partner.ID(id)}
	switch {
	case (cpf == "") == (user == ""):
		return p, ErrInvalid.With("", fault.NeedsPerson)
	case user != "" && id == "":
		return p, ErrInvalid.With("user-hash", fault.UserHashNeedsPartner)
	case user != "":
		var err error
		p.User, err = partner.ParseUserHash("user-hash", user)
		return p, err
	}
	var err error
	if p.CPF, err = identifier.ParseCPF(cpf, identifier.Waived); err != nil {
		return p, ErrInvalid.With("cpf", fault.CPFFormat)
	}
	return p, nil
}

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
	return len(h.Subscriptions)+len(h.Assets)+len(h.Cases)+len(h.Devices)+len(h.Answers)+len(h.Scores)+len(h.Events)+h.StoredAnswers == 0
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

// Erased counts what an erasure took away, by what it was.
type Erased struct {
	Partner partner.ID
	Counts  map[string]int64
}

// Total returns how many rows were taken away or rewritten.
func (e Erased) Total() (n int64) {
	for _, c := range e.Counts {
		n += c
	}
	return n
}

// Tombstone is what stays of an erasure: keyed indexes, by which a restored backup is cleaned again. It is safe to keep
// anywhere.
type Tombstone struct {
	ID       string     `json:"id"`
	Partner  partner.ID `json:"partner_id"`
	Person   string     `json:"person"` // the audit trail's name
	CPF      []byte     `json:"cpf"`
	User256  []byte     `json:"user_256"`
	User512  []byte     `json:"user_512"`
	Watched  []byte     `json:"watched"`   // the CPF as a value that others watch
	ErasedAt int64      `json:"erased_at"` // microseconds
	// MAC shows that this service wrote the line.
	MAC []byte `json:"mac"`
}

// Access is one entry of the audit trail: an operator read or changed data of a person.
type Access struct {
	operator.Entry
}

// Partners tells whose people there are.
type Partners interface {
	ListPartners(ctx context.Context) ([]partner.Partner, error)
	PartnerByID(ctx context.Context, id partner.ID) (partner.Partner, error)
}

// Store keeps what the rules of this package ask for.
type Store interface {
	// PersonReference is the audit trail's name for a person: the same for all partners when a CPF is known, and telling
	// nothing.
	PersonReference(p Person) string
	// Held reads everything about a person for one partner.
	Held(ctx context.Context, who partner.Partner, p Person) (Held, error)
	// ReadHeldRows is Held without counting kept answers, and with the newest events only: for a page.
	ReadHeldRows(ctx context.Context, who partner.Partner, p Person) (Held, error)
	// FindUserByReference is the user hash of a person by reference; ErrNobody when there is none.
	FindUserByReference(ctx context.Context, id partner.ID, ref string) (partner.UserHash, error)
	// EraseRows deletes all rows about a person that are in held or belong to the same person, and keeps a tombstone
	// and the lines that record adds to the trail. A person with few rows is erased in one transaction. An erasure of
	// many rows is finished once it has begun: from the start Held returns nothing of the person, and what a killed
	// process leaves is for the next call or ResumeErasures. The tombstone and the line are written at the end.
	EraseRows(ctx context.Context, held Held, p Person, reason string,
		record func(operator.Ledger, Erased, Tombstone) error) (Erased, Tombstone, error)
	// ResumeErasures ends erasures that were left half way some time ago, and returns their tombstones. record is also
	// told the trail's name for the person.
	ResumeErasures(ctx context.Context, record func(in operator.Ledger, person string, erased Erased, stone Tombstone) error) ([]Tombstone, error)
	// RedactAnswers takes the person out of the partner's kept answers, and returns how many it rewrote.
	RedactAnswers(ctx context.Context, held Held, p Person) (int64, error)
	// ScrubErased takes what was deleted out of the database's files.
	ScrubErased(ctx context.Context) error
	// Tombstones returns all, oldest first.
	Tombstones(ctx context.Context) ([]Tombstone, error)
	// ReplayErasure erases again what a tombstone stands for and keeps the tombstone; ErrForeign when this service did not
	// write it.
	ReplayErasure(ctx context.Context, t Tombstone) (Erased, error)
	// AccessesOf returns the lines of the audit trail about a person, newest first.
	AccessesOf(ctx context.Context, held []Held, p Person) ([]Access, error)
	// Affected calls found for each person with findings of an incident, in the order of partners.
	Affected(ctx context.Context, of Incident, found func(Affected) error) error
	// Showings counts the lines of the audit trail in a window that show or change personal data, by who and what.
	Showings(ctx context.Context, from, to time.Time) ([]Showing, error)
}
