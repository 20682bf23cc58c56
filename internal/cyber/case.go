package cyber

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
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

// Ending is a final move that can still be undone. It is made, and the partner told of it, when At has come; its zero
// value is none.
type Ending struct {
	To    CaseStatus
	Actor string
	At    time.Time
}

// UndoTime is how long a final move can be undone.
const UndoTime = 10 * time.Second

// CaseMove is one line of a case's history.
type CaseMove struct {
	Number int64
	Kind   MoveKind
	// From is empty for the opening, and the same as To for a line that moves nothing.
	From, To CaseStatus
	// Actor is the operator whose line it is; empty for the person's own.
	Actor string
	Note  string
	At    time.Time
}

// MoveKind is what a line of a case's history tells.
type MoveKind string

// The kinds. Notes are the operator's own: neither partner nor person sees them, nor what was noted with a move.
const (
	MoveStatus     MoveKind = ""
	MoveNote       MoveKind = "note"
	MoveReply      MoveKind = "reply"
	MoveMessage    MoveKind = "message"
	MoveAttachment MoveKind = "attachment"
	MoveBooking    MoveKind = "booking"
	MoveRating     MoveKind = "rating"
)

// IsKnown reports whether it is one of the kinds: see sqldb.Enumerated.
func (k MoveKind) IsKnown() bool {
	switch k {
	case MoveStatus, MoveNote, MoveReply, MoveMessage, MoveAttachment, MoveBooking, MoveRating:
		return true
	}
	return false
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
	// ListPersonCases returns a person's newest cases; CaseOf one of them with its history, ErrCaseNotFound when it is
	// not theirs.
	ListPersonCases(ctx context.Context, id partner.ID, user partner.UserHash, limit int) ([]Case, error)
	PersonCase(ctx context.Context, key CaseKey) (Case, []CaseMove, error)
	// UpdateCase changes a case under the lock of its row. The numbers of the lines that change returns, their events,
	// the booking and the release of a slot are part of it.
	UpdateCase(ctx context.Context, key CaseKey, change func(*Case) (CaseChange, error)) (Case, error)
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
	TriageStore
}

// CaseKey names a case: for the operator by its id alone, for a partner by the person that it is of as well.
type CaseKey struct {
	ID      CaseID
	Partner partner.ID
	User    partner.UserHash
}

// CaseChange is what a change of a case adds to it.
type CaseChange struct {
	Lines []CaseMove
	// Book are the times of which the case takes one, in place of the one it holds.
	Book *Wishes
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
func NewCases(store CaseStore, now func() time.Time) *Cases {
	return &Cases{store: store, now: now}
}

// ListCases returns the newest cases that fit the filter.
func (c *Cases) ListCases(ctx context.Context, f CaseFilter) ([]Case, error) {
	return c.store.ListCases(ctx, f)
}

// GetCase returns one case with its history.
func (c *Cases) GetCase(ctx context.Context, id CaseID) (Case, []CaseMove, error) {
	return c.store.GetCase(ctx, id)
}

// ListQuestions returns what a service asks, in order.
func (c *Cases) ListQuestions(ctx context.Context, service ServiceID) ([]Question, error) {
	return c.store.ListQuestions(ctx, service)
}

// DeleteQuestion removes a question; answers that were given stay with their cases.
func (c *Cases) DeleteQuestion(ctx context.Context, id QuestionID) error {
	return c.store.DeleteQuestion(ctx, id)
}

// ReadyAnswers returns the answers that are kept ready, by title.
func (c *Cases) ReadyAnswers(ctx context.Context) ([]ReadyAnswer, error) {
	return c.store.ReadyAnswers(ctx)
}

// DeleteReadyAnswer removes an answer that is kept ready.
func (c *Cases) DeleteReadyAnswer(ctx context.Context, title string) error {
	return c.store.DeleteReadyAnswer(ctx, title)
}

// DeleteSlot takes a free slot out of the calendar; ErrSlotBooked when it is not free.
func (c *Cases) DeleteSlot(ctx context.Context, id SlotID) error {
	return c.store.DeleteSlot(ctx, id)
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

// Bounds of what an attendant writes, in characters.
const (
	maxActor = 100
	maxNote  = 2000
)

// updateCaseBy changes a case in the name of an operator, unless something in the request is wrong.
func (c *Cases) updateCaseBy(
	ctx context.Context,
	id CaseID,
	actor string,
	wrong error,
	change func(*Case) (CaseChange, error),
) (Case, error) {
	if !partner.IsPrintable(actor, maxActor) {
		wrong = ErrCaseInvalid.With("actor", fault.PrintableLength, maxActor)
	}
	if wrong != nil {
		return Case{}, wrong
	}
	return c.store.UpdateCase(ctx, CaseKey{ID: id}, change)
}

// MoveCase takes a case to another status, if the table of moves has it.
func (c *Cases) MoveCase(ctx context.Context, id CaseID, to CaseStatus, actor, note string) (Case, error) {
	actor, note = strings.TrimSpace(actor), strings.TrimSpace(note)
	wrong := fault.When(!partner.Paragraphs(note, 0, maxNote), ErrCaseInvalid.With("note", fault.TextAtMost, maxNote))
	return c.updateCaseBy(ctx, id, actor, wrong, func(cs *Case) (CaseChange, error) {
		move, err := cs.moveToStatus(to, actor, note, c.now())
		return CaseChange{Lines: []CaseMove{move}}, err
	})
}

// moveToStatus takes the case to another status and returns the line that tells of it.
func (c *Case) moveToStatus(to CaseStatus, actor, note string, now time.Time) (CaseMove, error) {
	if !c.Status.CanMoveTo(to) {
		return CaseMove{}, ErrCaseMove.With("status", fault.NoSuchMove)
	}
	m := CaseMove{From: c.Status, To: to, Actor: actor, Note: note, At: now}
	c.Clock.advanceTo(now, to.runsClock())
	c.Status, c.ChangedAt, c.Ending = to, now, Ending{}
	return m, nil
}

// historyLine is one that leaves the case where it is.
func (c *Case) historyLine(kind MoveKind, actor, note string, now time.Time) CaseMove {
	c.ChangedAt = now
	if kind == MoveReply || kind == MoveMessage {
		c.Spoke, c.SpokeAt, c.WritingAt = actor, now, time.Time{}
	}
	if actor == "" { // a case does not end over what the person has just said
		c.Ending = Ending{}
	}
	return CaseMove{Kind: kind, From: c.Status, To: c.Status, Actor: actor, Note: note, At: now}
}

// AddInternalNote adds an internal note to a case's history. It does not change the status, and no event is sent.
func (c *Cases) AddInternalNote(ctx context.Context, id CaseID, actor, note string) (Case, error) {
	return c.addHistoryLine(ctx, id, MoveNote, actor, "note", note)
}

// AddReply tells the person something: the partner reads it with the case, and hears of it.
func (c *Cases) AddReply(ctx context.Context, id CaseID, actor, text string) (Case, error) {
	return c.addHistoryLine(ctx, id, MoveReply, actor, "text", text)
}

// addHistoryLine adds a text of an operator to a case's history.
func (c *Cases) addHistoryLine(ctx context.Context, id CaseID, kind MoveKind, actor, field, text string) (Case, error) {
	actor, text = strings.TrimSpace(actor), strings.TrimSpace(text)
	return c.updateCaseBy(ctx, id, actor, checkParagraphs(field, text, maxNote), func(cs *Case) (CaseChange, error) {
		return CaseChange{Lines: []CaseMove{cs.historyLine(kind, actor, text, c.now())}}, nil
	})
}

// checkParagraphs refuses a text that is empty, too long or not printable.
func checkParagraphs(field, text string, longest int) error {
	if !partner.Paragraphs(text, 1, longest) {
		return ErrCaseInvalid.With(field, fault.TextLength, longest)
	}
	return nil
}

// AssignCase assigns a case to an operator; an empty name unassigns it.
func (c *Cases) AssignCase(ctx context.Context, id CaseID, to string) (Case, error) {
	to = strings.TrimSpace(to)
	if to != "" && !partner.IsPrintable(to, maxActor) {
		return Case{}, ErrCaseInvalid.With("assignee", fault.PrintableAtMost, maxActor)
	}
	return c.store.UpdateCase(ctx, CaseKey{ID: id}, func(cs *Case) (CaseChange, error) {
		cs.Assignee, cs.ChangedAt = to, c.now()
		return CaseChange{}, nil
	})
}

// TakeCase assigns a case to an operator; one that is open is in progress from then on.
func (c *Cases) TakeCase(ctx context.Context, id CaseID, actor string) (Case, error) {
	return c.updateCaseBy(ctx, id, actor, nil, func(cs *Case) (change CaseChange, err error) {
		cs.Assignee, cs.ChangedAt = actor, c.now()
		if cs.Status == CaseOpen {
			change.Lines = make([]CaseMove, 1)
			change.Lines[0], err = cs.moveToStatus(CaseInProgress, actor, "", c.now())
		}
		return change, err
	})
}

// ScheduleEnd moves a case when UndoTime has passed, unless Undo is called or the person writes before.
func (c *Cases) ScheduleEnd(ctx context.Context, id CaseID, to CaseStatus, actor string) (Case, error) {
	return c.updateCaseBy(ctx, id, actor, nil, func(cs *Case) (CaseChange, error) {
		if !cs.Status.CanMoveTo(to) {
			return CaseChange{}, ErrCaseMove.With("status", fault.NoSuchMove)
		}
		cs.Ending = Ending{To: to, Actor: actor, At: c.now().Add(UndoTime)}
		return CaseChange{}, nil
	})
}

// UndoScheduledEnd takes back a final move that was not made yet; ErrCaseMove when there is none any more.
func (c *Cases) UndoScheduledEnd(ctx context.Context, id CaseID) (Case, error) {
	return c.store.UpdateCase(ctx, CaseKey{ID: id}, func(cs *Case) (CaseChange, error) {
		if cs.Ending.At.IsZero() {
			return CaseChange{}, ErrCaseMove.With("status", fault.MoveMade)
		}
		cs.Ending = Ending{}
		return CaseChange{}, nil
	})
}

// MakeEndings makes the final moves that can no longer be undone, and returns how many.
func (c *Cases) MakeEndings(ctx context.Context) (made int, err error) {
	due, err := c.store.EndingCases(ctx, c.now(), 100)
	for _, id := range due {
		moved := false
		_, uerr := c.store.UpdateCase(ctx, CaseKey{ID: id}, func(cs *Case) (CaseChange, error) {
			moved = false // the transaction may run again
			end := cs.Ending
			if end.At.IsZero() || end.At.After(c.now()) { // undone, or made by another process
				return CaseChange{}, nil
			}
			cs.Ending = Ending{}
			if !cs.Status.CanMoveTo(end.To) {
				return CaseChange{}, nil
			}
			move, err := cs.moveToStatus(end.To, end.Actor, "", c.now())
			moved = err == nil
			return CaseChange{Lines: []CaseMove{move}}, err
		})
		if moved && uerr == nil {
			made++
		}
		err = errors.Join(err, uerr)
	}
	return made, err
}

// NoteWriting notes that an operator is writing an answer.
func (c *Cases) NoteWriting(ctx context.Context, id CaseID, actor string) error {
	return c.store.SetWriter(ctx, CaseKey{ID: id}, actor, c.now())
}

// writingTime is how long an operator counts as writing after the last sign of it.
const writingTime = 30 * time.Second

// OtherWriter is another operator who is writing an answer to the case at this moment; empty when there is none.
func (c Case) OtherWriter(me string, now time.Time) string {
	if c.Writer == me || now.Sub(c.WritingAt) > writingTime {
		return ""
	}
	return c.Writer
}

// CaseStatus is where a case stands.
type CaseStatus string

// The statuses, to the letter of the contract's decisions.
const (
	CaseOpen       CaseStatus = "Aberto"
	CaseInProgress CaseStatus = "Em andamento"
	CaseWaiting    CaseStatus = "Aguardando cliente"
	CaseResolved   CaseStatus = "Resolvido"
	CaseClosed     CaseStatus = "Fechado"
	CaseCancelled  CaseStatus = "Cancelado"
)

// IsKnown reports whether it is one of the statuses, or empty where there is none: see sqldb.Enumerated.
func (s CaseStatus) IsKnown() bool {
	switch s {
	case "", CaseOpen, CaseInProgress, CaseWaiting, CaseResolved, CaseClosed, CaseCancelled:
		return true
	}
	return false
}

// CaseStatuses lists every status, in the order of a case's life.
func CaseStatuses() []CaseStatus {
	return []CaseStatus{CaseOpen, CaseInProgress, CaseWaiting, CaseResolved, CaseClosed, CaseCancelled}
}

// caseMoves is the one table of moves; docs/guided-resolution.md draws it. What is not open any more can only be
// reopened, or closed for good measure.
var caseMoves = map[CaseStatus][]CaseStatus{
	CaseOpen:       {CaseInProgress, CaseCancelled},
	CaseInProgress: {CaseWaiting, CaseResolved, CaseCancelled},
	CaseWaiting:    {CaseInProgress, CaseResolved, CaseCancelled},
	CaseResolved:   {CaseClosed, CaseOpen},
	CaseClosed:     {CaseOpen},
	CaseCancelled:  {CaseOpen},
}

// CanMoveTo reports whether the table has the move.
func (s CaseStatus) CanMoveTo(to CaseStatus) bool { return slices.Contains(caseMoves[s], to) }

// Moves lists where a case may go from here.
func (s CaseStatus) Moves() []CaseStatus { return slices.Clone(caseMoves[s]) }

// Open reports whether the operator or the person still has to do something.
func (s CaseStatus) Open() bool { return s == CaseOpen || s == CaseInProgress || s == CaseWaiting }

// runsClock reports whether the time spent here counts against the target: not while the client is waited for.
func (s CaseStatus) runsClock() bool { return s == CaseOpen || s == CaseInProgress }

// ParseCaseStatus reads a status as the contract writes it, or as it is easily typed: em-andamento.
func ParseCaseStatus(s string) (CaseStatus, error) {
	plain := strings.ToLower(strings.NewReplacer("-", " ", "_", " ").Replace(strings.TrimSpace(s)))
	for _, known := range CaseStatuses() {
		if plain == strings.ToLower(string(known)) {
			return known, nil
		}
	}
	return "", ErrCaseInvalid.With(
		"status",
		fault.OneOf,
		"aberto, em-andamento, aguardando-cliente, resolvido, fechado, cancelado",
	)
}

// Clock counts the working time of a case against its target. It stands while the client is waited for and once the
// case is resolved, closed or cancelled; a reopened case goes on from where it stood.
type Clock struct {
	// Target is the time allowed; 0 means any.
	Target time.Duration
	// Used is what was counted up to Since, which is zero while the clock stands.
	Used  time.Duration
	Since time.Time
}

// UsedAt returns the working time counted so far.
func (c Clock) UsedAt(now time.Time) time.Duration {
	if c.Since.IsZero() || now.Before(c.Since) {
		return c.Used
	}
	return c.Used + now.Sub(c.Since)
}

// Due returns when the target is reached if the clock keeps running; false while it stands or without a target.
func (c Clock) Due() (time.Time, bool) {
	if c.Target == 0 || c.Since.IsZero() {
		return time.Time{}, false
	}
	return c.Since.Add(c.Target - c.Used), true
}

// Late reports whether more time was used than allowed.
func (c Clock) Late(now time.Time) bool { return c.Target > 0 && c.UsedAt(now) > c.Target }

// advanceTo counts what ran until now, and runs on or stands.
func (c *Clock) advanceTo(now time.Time, run bool) {
	c.Used, c.Since = c.UsedAt(now), time.Time{}
	if run {
		c.Since = now
	}
}

// LaneOrder is what a lane begins with.
type LaneOrder string

// The orders: the most urgent first, or by the time of opening.
const (
	LaneUrgent LaneOrder = ""
	LaneNewest LaneOrder = "new"
	LaneOldest LaneOrder = "old"
)

// LaneFilter picks cases for the desk; the zero value of a field does not restrict, and without a status all open cases
// fit.
type LaneFilter struct {
	Status  CaseStatus
	Partner partner.ID
	// LiveOnly leaves out cases of sandboxes.
	LiveOnly bool
	// User is a person of the partner.
	User    partner.UserHash
	Service ServiceID
	// From and To are a period of the opening, To exclusive.
	From, To time.Time
	// DueFrom and DueTo are a period of the deadline, DueTo exclusive. A case whose clock stands is never due.
	DueFrom, DueTo time.Time
	Order          LaneOrder
	Assignee       string
	// Unassigned leaves only cases that are assigned to no operator.
	Unassigned bool
	// After is the last case of the page before; its zero value begins at the top.
	After LaneMark
	Limit int
}

// LaneMark is a place in a lane.
type LaneMark struct {
	// Due is zero after a case that nothing is due for; in a lane by age it is when the case was opened.
	Due time.Time
	ID  CaseID
}

// Lane is a page of a status, as a rule the most urgent first. What nothing is due for comes last, the oldest first; of
// what is not open any more the newest come first.
type Lane struct {
	Status CaseStatus
	Cases  []Case
	// Total counts all that fit, on whichever page, up to MaxLaneTotal.
	Total int64
	// Next is where the next page begins; its zero value says that there is none.
	Next LaneMark
}

// MaxLaneTotal is where counting a lane stops: no team works through more, and the closed lane grows for years.
const MaxLaneTotal = 200_000

// Counted reports whether Total is all there is.
func (l Lane) Counted() bool { return l.Total < MaxLaneTotal }

func (c Case) lanePlace(order LaneOrder) LaneMark {
	if order != LaneUrgent {
		return LaneMark{c.CreatedAt, c.ID}
	}
	due, _ := c.Clock.Due()
	return LaneMark{due, c.ID}
}

// WaitingCases are what a day at the desk begins with.
type WaitingCases struct {
	// Late are past their target, Today reach it before the day ends, Free are open and unassigned.
	Late, Today, Free int64
	// Mine are the open ones of the person who asks, Open are all.
	Mine, Open int64
}

// ListLane returns a page of a lane; without a status, of all open cases in one order. Those are read a status at a
// time, each from its range of an index, and merged.
func (c *Cases) ListLane(ctx context.Context, f LaneFilter) (lane Lane, err error) {
	statuses, asked := []CaseStatus{f.Status}, f.Limit
	if f.Status == "" {
		statuses = []CaseStatus{CaseOpen, CaseInProgress, CaseWaiting}
	}
	lane.Status, f.Limit = f.Status, asked+1
	for _, f.Status = range statuses {
		one, err := c.store.ListLane(ctx, f)
		if err != nil {
			return lane, err
		}
		lane.Cases, lane.Total = append(lane.Cases, one.Cases...), lane.Total+one.Total
	}
	if len(statuses) > 1 {
		slices.SortFunc(
			lane.Cases,
			func(a, b Case) int { return compareMarks(a.lanePlace(f.Order), b.lanePlace(f.Order), f.Order) },
		)
	}
	if len(lane.Cases) > asked {
		lane.Cases = lane.Cases[:asked]
		lane.Next = lane.Cases[asked-1].lanePlace(f.Order)
	}
	return lane, err
}

// compareMarks orders places as a lane of open cases does: without a deadline last.
func compareMarks(a, b LaneMark, order LaneOrder) int {
	switch {
	case order == LaneNewest:
		a, b = b, a
	case a.Due.IsZero() != b.Due.IsZero() && a.Due.IsZero():
		return 1
	case a.Due.IsZero() != b.Due.IsZero():
		return -1
	}
	return cmp.Or(a.Due.Compare(b.Due), strings.Compare(string(a.ID), string(b.ID)))
}

// CountWaiting counts the open cases that fit, of all operators and of one. dayEnd is when the operator's day ends.
func (c *Cases) CountWaiting(
	ctx context.Context,
	f LaneFilter,
	assignee string,
	dayEnd time.Time,
) (WaitingCases, error) {
	return c.store.WaitingCases(ctx, f, assignee, c.now(), dayEnd)
}

// ForPartner returns the same rules for a partner's own people: to them there are no cases but the partner's.
func (c *Cases) ForPartner(id partner.ID) *Cases {
	return NewCases(ownCases{inner: c.store, id: id}, c.now)
}

// ownCases is a store that knows one partner's cases. Every method is written out, so that one that is added to the
// interface is decided on before it compiles.
type ownCases struct {
	inner CaseStore
	id    partner.ID
}

var _ CaseStore = ownCases{}

// ServiceTriage returns what a service asks; services are all partners'.
func (s ownCases) ServiceTriage(ctx context.Context, service ServiceID) (Triage, error) {
	return s.inner.ServiceTriage(ctx, service)
}

// InsertCase keeps a case of the one partner.
func (s ownCases) InsertCase(ctx context.Context, id partner.ID, c Case, wishes Wishes) (Case, error) {
	if id != s.id {
		return Case{}, partner.ErrNotFound
	}
	return s.inner.InsertCase(ctx, id, c, wishes)
}

// ListCases returns those of the one partner.
func (s ownCases) ListCases(ctx context.Context, f CaseFilter) ([]Case, error) {
	f.Partner = s.id
	return s.inner.ListCases(ctx, f)
}

// GetCase returns a case of the one partner. Whose notes are shown is for the page to know, which knows the partner's
// people.
func (s ownCases) GetCase(ctx context.Context, id CaseID) (Case, []CaseMove, error) {
	c, moves, err := s.inner.GetCase(ctx, id)
	if err == nil && c.Partner != s.id {
		return Case{}, nil, ErrCaseNotFound
	}
	return c, moves, err
}

// ListPersonCases returns those of the one partner's people.
func (s ownCases) ListPersonCases(
	ctx context.Context,
	id partner.ID,
	user partner.UserHash,
	limit int,
) ([]Case, error) {
	if id != s.id {
		return nil, partner.ErrNotFound
	}
	return s.inner.ListPersonCases(ctx, id, user, limit)
}

// PersonCase returns one of the one partner's people.
func (s ownCases) PersonCase(ctx context.Context, key CaseKey) (Case, []CaseMove, error) {
	if key.Partner != s.id {
		return Case{}, nil, ErrCaseNotFound
	}
	return s.inner.PersonCase(ctx, key)
}

// ListLane returns cases of the one partner.
func (s ownCases) ListLane(ctx context.Context, f LaneFilter) (Lane, error) {
	f.Partner = s.id
	return s.inner.ListLane(ctx, f)
}

// WaitingCases counts cases of the one partner.
func (s ownCases) WaitingCases(
	ctx context.Context,
	f LaneFilter,
	assignee string,
	now, dayEnd time.Time,
) (WaitingCases, error) {
	f.Partner = s.id
	return s.inner.WaitingCases(ctx, f, assignee, now, dayEnd)
}

// SetWriter notes who is writing to a case of the one partner.
func (s ownCases) SetWriter(ctx context.Context, key CaseKey, writer string, now time.Time) error {
	if key.Partner != "" && key.Partner != s.id {
		return ErrCaseNotFound
	}
	key.Partner = s.id
	return s.inner.SetWriter(ctx, key, writer, now)
}

// UpdateCase changes a case of the one partner.
func (s ownCases) UpdateCase(ctx context.Context, key CaseKey, change func(*Case) (CaseChange, error)) (Case, error) {
	return s.inner.UpdateCase(ctx, key, func(c *Case) (CaseChange, error) {
		if c.Partner != s.id {
			return CaseChange{}, ErrCaseNotFound
		}
		return change(c)
	})
}

// ListQuestions returns what a service asks; services are all partners'.
func (s ownCases) ListQuestions(ctx context.Context, service ServiceID) ([]Question, error) {
	return s.inner.ListQuestions(ctx, service)
}

// ReadyAnswers returns texts that name no person.
func (s ownCases) ReadyAnswers(ctx context.Context) ([]ReadyAnswer, error) {
	return s.inner.ReadyAnswers(ctx)
}

// ListFreeSlots returns the free times for people of the one partner.
func (s ownCases) ListFreeSlots(
	ctx context.Context, id partner.ID, service ServiceID, after time.Time, limit int,
) ([]time.Time, error) {
	if id != s.id {
		return nil, partner.ErrNotFound
	}
	return s.inner.ListFreeSlots(ctx, id, service, after, limit)
}

// What is below is the operator's: services, their calendars and texts, and chores over all partners.

// EndingCases returns nothing.
func (ownCases) EndingCases(context.Context, time.Time, int) ([]CaseID, error) {
	return nil, ErrCaseNotFound
}

// DeleteQuestion deletes nothing.
func (ownCases) DeleteQuestion(context.Context, QuestionID) error { return ErrCaseNotFound }

// DeleteReadyAnswer deletes nothing.
func (ownCases) DeleteReadyAnswer(context.Context, string) error { return ErrCaseNotFound }

// DeleteSlot deletes nothing.
func (ownCases) DeleteSlot(context.Context, SlotID) error { return ErrCaseNotFound }

// InsertQuestion keeps nothing.
func (ownCases) InsertQuestion(context.Context, Question) error { return ErrCaseNotFound }

// SetTarget changes nothing.
func (ownCases) SetTarget(context.Context, ServiceID, time.Duration) error { return ErrCaseNotFound }

// SaveReadyAnswer keeps nothing.
func (ownCases) SaveReadyAnswer(context.Context, ReadyAnswer) error { return ErrCaseNotFound }

// InsertSlots keeps nothing.
func (ownCases) InsertSlots(context.Context, []Slot) (int, error) { return 0, ErrCaseNotFound }

// ListSlots returns nothing: a taken time names a person.
func (ownCases) ListSlots(context.Context, ServiceID, time.Time) ([]Slot, error) {
	return nil, ErrCaseNotFound
}
