package cyber

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// What a person does with a case of theirs, through their partner.

// Faults of a person's doings.
var (
	ErrCaseEnded   = fault.New(fault.Conflict, "case.ended")
	ErrCaseUnrated = fault.New(fault.Conflict, "case.not_resolved")
	ErrNoCalendar  = fault.New(fault.Conflict, "appointment.no_calendar")
	ErrCaseTooLong = fault.New(fault.Conflict, "case.too_long")
)

const (
	// maxPersonCases is how many cases of one person are listed, the newest.
	maxPersonCases = 200
	// maxCaseLines bounds the history of one case.
	maxCaseLines      = 1000
	maxAttachmentName = 100
	maxAttachment     = 20_000
	maxFreeSlots      = 200
)

// CheckRoom reports whether a case of so many lines has room for what is added.
func (c CaseChange) CheckRoom(lines int64) error {
	if lines+int64(len(c.Lines)) > maxCaseLines {
		return ErrCaseTooLong.With("id", fault.HistoryLines, maxCaseLines)
	}
	return nil
}

// Attachment is a text that a person adds to a message: a mail header, a log, a copied page.
type Attachment struct{ Name, Text string }

// Message is what a person writes.
type Message struct {
	Text string
	// Attachment is nil when nothing comes with it.
	Attachment *Attachment
}

// checkMessage refuses a message that is empty, too long or has too many attachments.
func (m Message) checkMessage() error {
	if err := checkParagraphs("text", m.Text, maxNote); err != nil {
		return err
	}
	if m.Attachment == nil {
		return nil
	}
	if !partner.IsPrintableLine(m.Attachment.Name, 1, maxAttachmentName) {
		return ErrCaseInvalid.With("attachment.name", fault.PlainLength, maxAttachmentName)
	}
	return checkParagraphs("attachment.text", m.Attachment.Text, maxAttachment)
}

// historyNote returns how the history keeps an attachment: its name in the first line.
func (a Attachment) historyNote() string { return a.Name + "\n" + a.Text }

// ParseAttachment reads the line of an attachment.
func (m CaseMove) ParseAttachment() Attachment {
	name, text, _ := strings.Cut(m.Note, "\n")
	return Attachment{name, text}
}

// ListPersonCases returns a person's cases, newest first.
func (c *Cases) ListPersonCases(ctx context.Context, id partner.ID, user partner.UserHash) ([]Case, error) {
	return c.store.ListPersonCases(ctx, id, user, maxPersonCases)
}

// ReadPersonCase returns a case of a person with what they may see of its history.
func (c *Cases) ReadPersonCase(ctx context.Context, key CaseKey) (Case, []CaseMove, error) {
	one, moves, err := c.store.PersonCase(ctx, key)
	return one, ShownToPerson(moves), err
}

// ShownToPerson leaves out what operators wrote for themselves, alone or with a move.
func ShownToPerson(moves []CaseMove) []CaseMove {
	open := moves[:0]
	for _, m := range moves {
		if m.Kind == MoveNote {
			continue
		}
		if m.Kind == MoveStatus && m.Actor != "" {
			m.Note = ""
		}
		open = append(open, m)
	}
	return open
}

// AddMessage adds what the person writes. A case that waited for them goes on, and one that was resolved is open again.
func (c *Cases) AddMessage(ctx context.Context, key CaseKey, m Message) (Case, error) {
	m.Text = strings.TrimSpace(m.Text)
	if err := m.checkMessage(); err != nil {
		return Case{}, err
	}
	return c.store.UpdateCase(ctx, key, func(cs *Case) (change CaseChange, err error) {
		now := c.now()
		next := cs.Status
		switch cs.Status {
		case CaseWaiting:
			next = CaseInProgress
		case CaseResolved:
			next = CaseOpen
		case CaseClosed, CaseCancelled:
			return change, ErrCaseEnded.With("id", fault.CaseClosed)
		case CaseOpen, CaseInProgress:
		}
		change.Lines = append(change.Lines, cs.historyLine(MoveMessage, "", m.Text, now))
		if m.Attachment != nil {
			change.Lines = append(change.Lines, cs.historyLine(MoveAttachment, "", m.Attachment.historyNote(), now))
		}
		if next == cs.Status {
			return change, nil
		}
		move, err := cs.moveToStatus(next, "", "", now)
		change.Lines = append(change.Lines, move)
		return change, err
	})
}

// CancelCase ends a case that the person does not need any more; cancelling a cancelled one changes nothing.
func (c *Cases) CancelCase(ctx context.Context, key CaseKey, reason string) (Case, error) {
	reason = strings.TrimSpace(reason)
	if !partner.Paragraphs(reason, 0, maxNote) {
		return Case{}, ErrCaseInvalid.With("reason", fault.TextAtMost, maxNote)
	}
	return c.store.UpdateCase(ctx, key, func(cs *Case) (CaseChange, error) {
		switch {
		case cs.Status == CaseCancelled:
			return CaseChange{}, nil
		case !cs.Status.Open():
			return CaseChange{}, ErrCaseEnded.With("id", fault.CaseResolvedAlready)
		}
		move, err := cs.moveToStatus(CaseCancelled, "", reason, c.now())
		return CaseChange{Lines: []CaseMove{move}}, err
	})
}

// RebookCase takes the first of the times that is free in place of the one that the case holds.
func (c *Cases) RebookCase(ctx context.Context, key CaseKey, mode partner.Mode, times []time.Time) (Case, error) {
	if len(times) == 0 {
		return Case{}, ErrCaseInvalid.With("appointments", fault.AtLeastOneTime)
	}
	return c.store.UpdateCase(ctx, key, func(cs *Case) (CaseChange, error) {
		if !cs.Status.Open() {
			return CaseChange{}, ErrCaseEnded.With("id", fault.CaseNotOpen)
		}
		return CaseChange{
			Lines: []CaseMove{cs.historyLine(MoveBooking, "", "", c.now())},
			Book:  &Wishes{Times: times, Mode: mode},
		}, nil
	})
}

// RateCase keeps what a person thought of a case that is over; a later word takes the place of an earlier one.
func (c *Cases) RateCase(ctx context.Context, key CaseKey, rating int, comment string) (Case, error) {
	comment = strings.TrimSpace(comment)
	if rating < 1 || rating > 5 {
		return Case{}, ErrCaseInvalid.With("rating", fault.OneTo, 5)
	}
	if !partner.Paragraphs(comment, 0, maxNote) {
		return Case{}, ErrCaseInvalid.With("comment", fault.TextAtMost, maxNote)
	}
	return c.store.UpdateCase(ctx, key, func(cs *Case) (CaseChange, error) {
		if cs.Status != CaseResolved && cs.Status != CaseClosed {
			return CaseChange{}, ErrCaseUnrated.With("id", fault.RateResolvedOnly)
		}
		cs.Rating = rating
		return CaseChange{Lines: []CaseMove{cs.historyLine(MoveRating, "", comment, c.now())}}, nil
	})
}

// ServiceDetail is what a person has to know to open a case of a service.
type ServiceDetail struct {
	Service
	Questions []Question
	// Free are the coming times that the partner's people can still have, the soonest first, at most maxFreeSlots.
	Free []time.Time
}

// DescribeService returns a service with what it asks and when it is free.
func (c *Cases) DescribeService(ctx context.Context, id partner.ID, service Service) (ServiceDetail, error) {
	triage, err := c.store.ServiceTriage(ctx, service.ID)
	if err != nil {
		return ServiceDetail{}, err
	}
	free, err := c.store.ListFreeSlots(ctx, id, service.ID, c.now(), maxFreeSlots)
	return ServiceDetail{service, triage.Questions, free}, err
}

// QuestionID names a triage question: "qs_" and a UUIDv7.
type QuestionID string

// Question is something the operator wants to know before a case of a service is taken up.
type Question struct {
	ID      QuestionID
	Service ServiceID
	Text    string
	// Required questions must be answered to open a case.
	Required bool
	// Options, if any, are the answers to choose from.
	Options   []string
	CreatedAt time.Time
}

// SlotID names a slot of a calendar: "sl_" and a UUIDv7.
type SlotID string

// Slot is a time at which an operator can attend to one case of a service.
type Slot struct {
	ID      SlotID
	Service ServiceID
	Starts  time.Time
	// Partner is the one it is reserved for; empty if any partner may book it.
	Partner partner.ID
	// Case holds the slot; empty while it is free.
	Case CaseID
}

// TriageStore keeps what services ask and when they attend.
type TriageStore interface {
	InsertQuestion(ctx context.Context, q Question) error
	SetTarget(ctx context.Context, service ServiceID, target time.Duration) error
	SaveReadyAnswer(ctx context.Context, a ReadyAnswer) error
	// InsertSlots keeps new times and passes over those that are there; it returns how many were new.
	InsertSlots(ctx context.Context, slots []Slot) (int, error)
	// ListSlots returns a service's slots from a time on, in order.
	ListSlots(ctx context.Context, service ServiceID, from time.Time) ([]Slot, error)
	// ListFreeSlots returns the times after one that a partner's people can have, in order.
	ListFreeSlots(
		ctx context.Context,
		id partner.ID,
		service ServiceID,
		after time.Time,
		limit int,
	) ([]time.Time, error)
}

// DefaultTarget is the working time for a case of a service that has no target of its own.
const DefaultTarget = 48 * time.Hour

// QuestionMembers and AnswerMembers are the names under which partners say which question an element answers, and what.
// The first that is there counts.
var (
	QuestionMembers = []string{"questionId", "id", "question"}
	AnswerMembers   = []string{"answer", "value"}
)

// checkAnswers holds the answers against the required questions; anything else a partner sends along is kept as it is.
func (t Triage) checkAnswers(answers []TriageAnswer) error {
	for i, q := range t.Questions {
		if !q.Required {
			continue
		}
		given, ok := q.findAnswer(answers)
		if !ok || strings.TrimSpace(given) == "" {
			return ErrCaseInvalid.With("questions", fault.QuestionUnanswered, i+1, q.ID, q.Text)
		}
		if !q.allowsAnswer(given) {
			return ErrCaseInvalid.With("questions", fault.AnswerNotAnOption, i+1, q.ID, q.Text)
		}
	}
	return nil
}

// findAnswer finds the answer that names the question by id or by text.
func (q Question) findAnswer(answers []TriageAnswer) (string, bool) {
	for _, a := range answers {
		if a.Question == string(q.ID) || strings.EqualFold(strings.TrimSpace(a.Question), q.Text) {
			return a.Answer, true
		}
	}
	return "", false
}

// allowsAnswer reports whether the answer is one of those offered.
func (q Question) allowsAnswer(answer string) bool {
	if len(q.Options) == 0 {
		return true
	}
	for _, o := range q.Options {
		if strings.EqualFold(o, strings.TrimSpace(answer)) {
			return true
		}
	}
	return false
}

// AddQuestion puts a question at the end of a service's list.
func (c *Cases) AddQuestion(
	ctx context.Context,
	service ServiceID,
	text string,
	required bool,
	options []string,
) (Question, error) {
	q := Question{
		ID:        QuestionID("qs_" + uuid.Must(uuid.NewV7()).String()),
		Service:   service,
		Text:      strings.TrimSpace(text),
		Required:  required,
		CreatedAt: c.now(),
	}
	for _, o := range options {
		q.Options = append(q.Options, strings.TrimSpace(o))
	}
	tooLong := func(o string) bool { return !partner.IsPrintableLine(o, 1, 100) }
	err := errors.Join(
		fault.When(!partner.IsPrintableLine(q.Text, 1, 300), ErrCaseInvalid.With("text", fault.PlainLength, 300)),
		fault.When(
			len(q.Options) > 50 || slices.ContainsFunc(q.Options, tooLong),
			ErrCaseInvalid.With("options", fault.OptionsFormat),
		),
	)
	if err != nil {
		return Question{}, err
	}
	return q, c.store.InsertQuestion(ctx, q)
}

// ReadyAnswer is an answer that operators keep ready for many persons.
type ReadyAnswer struct{ Title, Text string }

// SaveReadyAnswer keeps an answer in the place of the one that has its title.
func (c *Cases) SaveReadyAnswer(ctx context.Context, a ReadyAnswer) error {
	a.Title, a.Text = strings.TrimSpace(a.Title), strings.TrimSpace(a.Text)
	err := errors.Join(
		fault.When(!partner.IsPrintableLine(a.Title, 1, 100), ErrCaseInvalid.With("title", fault.PlainLength, 100)),
		checkParagraphs("text", a.Text, maxNote),
	)
	if err != nil {
		return err
	}
	return c.store.SaveReadyAnswer(ctx, a)
}

// SetTargetTime sets the working time for new cases of a service; 0 means none.
func (c *Cases) SetTargetTime(ctx context.Context, service ServiceID, target time.Duration) error {
	if target < 0 || target > 366*24*time.Hour {
		return ErrCaseInvalid.With("target", fault.TargetDays)
	}
	return c.store.SetTarget(ctx, service, target)
}

// AddFreeSlots puts times into a service's calendar, for one partner's people alone where id names one. From the first
// one on, the service's cases are attended by appointment.
func (c *Cases) AddFreeSlots(ctx context.Context, service ServiceID, id partner.ID, times []time.Time) (int, error) {
	slots := make([]Slot, len(times))
	for i, at := range times {
		if !at.After(c.now()) {
			return 0, ErrCaseInvalid.With("slot", fault.InTheFuture)
		}
		slots[i] = Slot{
			ID:      SlotID("sl_" + uuid.Must(uuid.NewV7()).String()),
			Service: service,
			Starts:  at.UTC(),
			Partner: id,
		}
	}
	return c.store.InsertSlots(ctx, slots)
}

// ListSlots returns a service's coming slots.
func (c *Cases) ListSlots(ctx context.Context, service ServiceID) ([]Slot, error) {
	return c.store.ListSlots(ctx, service, c.now())
}

// appointmentLayouts are the forms of an ISO 8601 date-time that are understood: extended or basic, with or without
// seconds and their fraction, with or without an offset.
var appointmentLayouts = [...]string{
	"2006-01-02T15:04:05Z07:00",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05Z07",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04Z0700",
	"2006-01-02T15:04Z07",
	"2006-01-02T15:04",
	"20060102T150405Z0700",
	"20060102T150405Z07",
	"20060102T150405",
	"20060102T1504Z0700",
	"20060102T1504Z07",
	"20060102T1504",
}

// saoPaulo is what a time without an offset is taken in: the zone has kept this offset since 2019.
var saoPaulo = time.FixedZone("America/Sao_Paulo", -3*60*60)

// ParseAppointment reads an ISO 8601 date-time. Without an offset it is Brasília time.
func ParseAppointment(field, s string) (time.Time, error) {
	for _, layout := range appointmentLayouts {
		if at, err := time.ParseInLocation(layout, s, saoPaulo); err == nil && at.Year() >= 1970 {
			return at.UTC(), nil
		}
	}
	return time.Time{}, ErrCaseInvalid.With(field, fault.DateTimeISO)
}
