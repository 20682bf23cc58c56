package cyber

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// CaseID names a support case: "cs_" and a UUIDv7.
type CaseID string

// Case is a person's request for help.
type Case struct {
	ID CaseID
	// Short is the number that operators call it by.
	Short   int64
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
	Booked time.Time
	// Rating is what the person thought of it, 1 to 5; 0 while they have not said.
	Rating int
	// Spoke is the operator who wrote last, at SpokeAt; empty when it was the person.
	Spoke   string
	SpokeAt time.Time
	// Writer was last seen writing an answer, at WritingAt.
	Writer    string
	WritingAt time.Time
	Ending    Ending
	CreatedAt time.Time
	ChangedAt time.Time
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

// TriageAnswer is one element of the request's questions.
type TriageAnswer struct {
	// Question is what the element names: a question's id or its text. Answer is what it says.
	Question, Answer string
	// JSON is the element as it was sent.
	JSON string
}

// StoredCases is what callers ask of the store itself: no rule stands between.
type StoredCases interface {
	// ListCases returns the newest cases that fit; GetCase one with its history.
	ListCases(ctx context.Context, f CaseFilter) ([]Case, error)
	GetCase(ctx context.Context, id CaseID) (Case, []CaseMove, error)
	// ListQuestions returns what a service asks, in order. After DeleteQuestion it asks it no more; answers given stay
	// with their cases.
	ListQuestions(ctx context.Context, service ServiceID) ([]Question, error)
	DeleteQuestion(ctx context.Context, id QuestionID) error
	// ReadyAnswers returns the answers that are kept ready, by title.
	ReadyAnswers(ctx context.Context) ([]ReadyAnswer, error)
	DeleteReadyAnswer(ctx context.Context, title string) error
	// DeleteSlot takes a free slot out of the calendar; ErrSlotBooked when it is not free.
	DeleteSlot(ctx context.Context, id SlotID) error
}

// CaseStore keeps cases and what services ask.
type CaseStore interface {
	// ServiceTriage returns what a service asks; ErrServiceNotFound when it is not offered.
	ServiceTriage(ctx context.Context, service ServiceID) (Triage, error)
	// InsertCase keeps a new case. When its service has a calendar, the first of the wished times that is free is
	// booked; ErrAppointmentTaken when there are wishes and none is. A live partner's person has to be covered for
	// that, and the partner within its share.
	InsertCase(ctx context.Context, id partner.ID, c Case, wishes Wishes) (Case, error)
	// ListLane returns the cases of one status that fit, the most urgent first; WaitingCases how many wait.
	ListLane(ctx context.Context, f LaneFilter) (Lane, error)
	WaitingCases(ctx context.Context, f LaneFilter, assignee string, now, dayEnd time.Time) (WaitingCases, error)
	// EndingCases returns cases whose final move can no longer be undone.
	EndingCases(ctx context.Context, now time.Time, limit int) ([]CaseID, error)
	// SetWriter notes who is writing an answer to a case.
	SetWriter(ctx context.Context, key CaseKey, writer string, now time.Time) error
	// ListPersonCases returns a person's newest cases; PersonCase one of them with its history, ErrCaseNotFound when it
	// is not theirs.
	ListPersonCases(ctx context.Context, id partner.ID, user partner.UserHash, limit int) ([]Case, error)
	PersonCase(ctx context.Context, key CaseKey) (Case, []CaseMove, error)
	// UpdateCase changes a case under the lock of its row. The numbers of the lines that change returns, their events,
	// the booking and the release of a slot are part of it.
	UpdateCase(ctx context.Context, key CaseKey, change func(*Case) (CaseChange, error)) (Case, error)
	TriageStore
	StoredCases
}

// CaseKey names a case: for the operator by its id alone, for a partner by the person that it is of as well.
type CaseKey struct {
	ID      CaseID
	Partner partner.ID
	User    partner.UserHash
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
	StoredCases
	store CaseStore
	now   func() time.Time
}

// NewCases joins the rules to a store and a clock.
func NewCases(store CaseStore, now func() time.Time) *Cases {
	return &Cases{StoredCases: store, store: store, now: now}
}

func (c *Cases) OpenCase(ctx context.Context, id partner.ID, r CaseRequest) (Case, error) {
	triage, err := c.store.ServiceTriage(ctx, r.Service)
	if err != nil {
		return Case{}, err
	}
	if err := triage.checkAnswers(r.Answers); err != nil {
		return Case{}, err
	}
	return c.insertCase(ctx, id, r, triage)
}

// OpenCaseByPhone opens a case for a person who called the operator; the operator asked the questions on the phone.
func (c *Cases) OpenCaseByPhone(ctx context.Context, id partner.ID, r CaseRequest) (Case, error) {
	triage, err := c.store.ServiceTriage(ctx, r.Service)
	if err != nil {
		return Case{}, err
	}
	return c.insertCase(ctx, id, r, triage)
}

// insertCase checks a request and writes the case.
func (c *Cases) insertCase(ctx context.Context, id partner.ID, r CaseRequest, triage Triage) (Case, error) {
	now := c.now()
	opened := Case{
		ID:        CaseID("cs_" + uuid.Must(uuid.NewV7()).String()),
		Partner:   id,
		User:      r.User,
		Service:   r.Service,
		Status:    CaseOpen,
		Clock:     Clock{Target: triage.Target, Since: now},
		SpokeAt:   now,
		CreatedAt: now,
		ChangedAt: now,
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
