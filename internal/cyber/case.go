package cyber

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// CaseID names a support case: "cs_" and a UUIDv7.
type CaseID string

// Case is somebody's request for help.
type Case struct {
	ID      CaseID
	Partner partner.ID
	// User is the user hash as it was sent.
	User     partner.UserHash
	Service  ServiceID
	Status   CaseStatus
	Assignee string
	Clock    Clock
	// Appointments and Answers are the elements that the partner sent, each a JSON object, as they were sent.
	Appointments []string
	Answers      []string
	// Booked is the slot of the service's calendar that the case holds; zero when it holds none.
	Booked    time.Time
	CreatedAt time.Time
	ChangedAt time.Time
}

// CaseMove is one line of a case's history.
type CaseMove struct {
	Number int64
	// From is empty for the opening, and the same as To for a note.
	From, To CaseStatus
	Actor    string
	Note     string
	At       time.Time
}

// Faults of cases.
var (
	ErrCaseInvalid      = fault.New(fault.Invalid, "case.invalid")
	ErrCaseNotFound     = fault.New(fault.NotFound, "case.not_found")
	ErrCaseMove         = fault.New(fault.Conflict, "case.move_refused")
	ErrAppointmentTaken = fault.New(fault.Conflict, "appointment.unavailable")
	ErrQuestionNotFound = fault.New(fault.NotFound, "question.not_found")
	ErrSlotNotFound     = fault.New(fault.NotFound, "slot.not_found")
	ErrSlotBooked       = fault.New(fault.Conflict, "slot.booked")
)

// CaseRequest is what a partner sends to open a case.
type CaseRequest struct {
	Service ServiceID
	User    partner.UserHash
	// Mode is the partner's; empty for an operator's doing, which no share bounds.
	Mode partner.Mode
	// Appointments are the preferred times, best first.
	Appointments []Appointment
	Answers      []TriageAnswer
}

// Appointment is one preferred time.
type Appointment struct {
	// At is the member "appointment", if the element has one.
	At time.Time
	// JSON is the element as it was sent.
	JSON string
}

// TriageAnswer is one element of the request's questions.
type TriageAnswer struct {
	// Question is what the element names: a question's id or its text. Answer is what it says.
	Question, Answer string
	// JSON is the element as it was sent.
	JSON string
}

// Triage is what the operator asks for a service, and how its cases are timed.
type Triage struct {
	Questions []Question
	// Target is the working time within which a case should be resolved; 0 means no target.
	Target time.Duration
}

// Wishes are the times that a person would like, best first.
type Wishes struct {
	Times []time.Time
	Mode  partner.Mode
}

// CaseStore keeps cases and what services ask.
type CaseStore interface {
	// Triage returns what a service asks; ErrServiceNotFound when it is not offered.
	Triage(ctx context.Context, service ServiceID) (Triage, error)
	// InsertCase keeps a new case. When its service has a calendar, the first of the wished times that is free is
	// booked; ErrAppointmentTaken when there are wishes and none is. A live partner's person has to be covered for that,
	// and the partner within its share.
	InsertCase(ctx context.Context, id partner.ID, c Case, wishes Wishes) (Case, error)
	// Cases returns the newest cases that fit; CaseByID one with its history.
	Cases(ctx context.Context, f CaseFilter) ([]Case, error)
	CaseByID(ctx context.Context, id CaseID) (Case, []CaseMove, error)
	// Lane returns the cases of one status that fit, the most urgent first; DeskCounts how many wait.
	Lane(ctx context.Context, f LaneFilter) (Lane, error)
	DeskCounts(ctx context.Context, assignee string, now, dayEnd time.Time) (DeskCounts, error)
	// UpdateCase changes a case under the lock of its row. Where change returns a move, which has a To then, its
	// number, its event and the release of a slot are part of it.
	UpdateCase(ctx context.Context, id CaseID, change func(*Case) (CaseMove, error)) (Case, error)
	TriageStore
}

// CaseFilter picks cases for the operator; the zero value of a field does not restrict.
type CaseFilter struct {
	Partner  partner.ID
	Service  ServiceID
	Status   CaseStatus
	Assignee string
	// OpenOnly leaves out what is resolved, closed or cancelled.
	OpenOnly bool
	Limit    int
}

// Cases opens support cases for partners and moves them for the operator.
type Cases struct {
	store CaseStore
	now   func() time.Time
}

// NewCases joins the rules to a store and a clock.
func NewCases(store CaseStore, now func() time.Time) *Cases { return &Cases{store: store, now: now} }

// Open opens a case.
func (c *Cases) Open(ctx context.Context, id partner.ID, r CaseRequest) (Case, error) {
	triage, err := c.store.Triage(ctx, r.Service)
	if err != nil {
		return Case{}, err
	}
	if err := triage.check(r.Answers); err != nil {
		return Case{}, err
	}
	return c.open(ctx, id, r, triage)
}

// OpenFor opens a case for somebody who called the operator, who asks the questions by word of mouth.
func (c *Cases) OpenFor(ctx context.Context, id partner.ID, r CaseRequest) (Case, error) {
	triage, err := c.store.Triage(ctx, r.Service)
	if err != nil {
		return Case{}, err
	}
	return c.open(ctx, id, r, triage)
}

func (c *Cases) open(ctx context.Context, id partner.ID, r CaseRequest, triage Triage) (Case, error) {
	made, err := uuid.NewV7()
	if err != nil {
		return Case{}, fmt.Errorf("make case id: %w", err)
	}
	now := c.now()
	opened := Case{
		ID: CaseID("cs_" + made.String()), Partner: id, User: r.User, Service: r.Service, Status: CaseOpen,
		Clock: Clock{Target: triage.Target, Since: now}, CreatedAt: now, ChangedAt: now,
	}
	wishes := Wishes{Mode: r.Mode}
	for _, a := range r.Appointments {
		opened.Appointments = append(opened.Appointments, a.JSON)
		if !a.At.IsZero() {
			wishes.Times = append(wishes.Times, a.At)
		}
	}
	for _, a := range r.Answers {
		opened.Answers = append(opened.Answers, a.JSON)
	}
	return c.store.InsertCase(ctx, id, opened, wishes)
}

// List returns the newest cases that fit.
func (c *Cases) List(ctx context.Context, f CaseFilter) ([]Case, error) { return c.store.Cases(ctx, f) }

// Show returns a case and its history.
func (c *Cases) Show(ctx context.Context, id CaseID) (Case, []CaseMove, error) {
	return c.store.CaseByID(ctx, id)
}

const (
	maxActor = 100
	maxNote  = 2000
)

// Move takes a case to another status, if the table of moves has it.
func (c *Cases) Move(ctx context.Context, id CaseID, to CaseStatus, actor, note string) (Case, error) {
	actor, note = strings.TrimSpace(actor), strings.TrimSpace(note)
	if !partner.Printable(actor, maxActor) {
		return Case{}, ErrCaseInvalid.With("actor: 1 to %d printable characters", maxActor)
	}
	if !partner.Paragraphs(note, 0, maxNote) {
		return Case{}, ErrCaseInvalid.With("note: at most %d characters, no control characters but line breaks", maxNote)
	}
	return c.store.UpdateCase(ctx, id, func(cs *Case) (CaseMove, error) {
		if !cs.Status.MayMoveTo(to) {
			return CaseMove{}, ErrCaseMove.With("status: no such move from here")
		}
		move := CaseMove{From: cs.Status, To: to, Actor: actor, Note: note, At: c.now()}
		cs.Clock.move(move.At, to.runsClock())
		cs.Status, cs.ChangedAt = to, move.At
		return move, nil
	})
}

// Note writes something into a case's history that moves nothing and tells nobody outside.
func (c *Cases) Note(ctx context.Context, id CaseID, actor, note string) (Case, error) {
	actor, note = strings.TrimSpace(actor), strings.TrimSpace(note)
	if !partner.Printable(actor, maxActor) {
		return Case{}, ErrCaseInvalid.With("actor: 1 to %d printable characters", maxActor)
	}
	if !partner.Paragraphs(note, 1, maxNote) {
		return Case{}, ErrCaseInvalid.With("note: 1 to %d characters, no control characters but line breaks", maxNote)
	}
	return c.store.UpdateCase(ctx, id, func(cs *Case) (CaseMove, error) {
		cs.ChangedAt = c.now()
		return CaseMove{From: cs.Status, To: cs.Status, Actor: actor, Note: note, At: cs.ChangedAt}, nil
	})
}

// Assign says who works on a case; an empty name, nobody.
func (c *Cases) Assign(ctx context.Context, id CaseID, to string) (Case, error) {
	to = strings.TrimSpace(to)
	if to != "" && !partner.Printable(to, maxActor) {
		return Case{}, ErrCaseInvalid.With("assignee: at most %d printable characters", maxActor)
	}
	return c.store.UpdateCase(ctx, id, func(cs *Case) (CaseMove, error) {
		cs.Assignee, cs.ChangedAt = to, c.now()
		return CaseMove{}, nil
	})
}
