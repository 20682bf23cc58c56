package cyber

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

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
	ListQuestions(ctx context.Context, service ServiceID) ([]Question, error)
	DeleteQuestion(ctx context.Context, id QuestionID) error
	SetTarget(ctx context.Context, service ServiceID, target time.Duration) error
	ReadyAnswers(ctx context.Context) ([]ReadyAnswer, error)
	SaveReadyAnswer(ctx context.Context, a ReadyAnswer) error
	DeleteReadyAnswer(ctx context.Context, title string) error
	// InsertSlots keeps new times and passes over those that are there; it returns how many were new.
	InsertSlots(ctx context.Context, slots []Slot) (int, error)
	// ListSlots returns a service's slots from a time on, in order.
	ListSlots(ctx context.Context, service ServiceID, from time.Time) ([]Slot, error)
	// ListFreeSlots returns the times after one that a partner's people can have, in order.
	ListFreeSlots(ctx context.Context, id partner.ID, service ServiceID, after time.Time, limit int) ([]time.Time, error)
	// DeleteSlot takes a free slot away; ErrSlotBooked when it is not free.
	DeleteSlot(ctx context.Context, id SlotID) error
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
func (c *Cases) AddQuestion(ctx context.Context, service ServiceID, text string, required bool, options []string) (Question, error) {
	made, err := uuid.NewV7()
	if err != nil {
		return Question{}, fmt.Errorf("make question id: %w", err)
	}
	q := Question{
		ID: QuestionID("qs_" + made.String()), Service: service, Text: strings.TrimSpace(text), Required: required, CreatedAt: c.now(),
	}
	for _, o := range options {
		q.Options = append(q.Options, strings.TrimSpace(o))
	}
	tooLong := func(o string) bool { return !partner.IsPrintableLine(o, 1, 100) }
	err = errors.Join(fault.When(!partner.IsPrintableLine(q.Text, 1, 300), ErrCaseInvalid.With("text", fault.PlainLength, 300)),
		fault.When(len(q.Options) > 50 || slices.ContainsFunc(q.Options, tooLong), ErrCaseInvalid.With("options", fault.OptionsFormat)))
	if err != nil {
		return Question{}, err
	}
	return q, c.store.InsertQuestion(ctx, q)
}

// ListQuestions returns what a service asks, in order.
func (c *Cases) ListQuestions(ctx context.Context, service ServiceID) ([]Question, error) {
	return c.store.ListQuestions(ctx, service)
}

// RemoveQuestion asks it no more; answers given stay with their cases.
func (c *Cases) RemoveQuestion(ctx context.Context, id QuestionID) error {
	return c.store.DeleteQuestion(ctx, id)
}

// ReadyAnswer is an answer that operators keep ready for many persons.
type ReadyAnswer struct{ Title, Text string }

// ReadyAnswers returns the answers that are kept ready, by title.
func (c *Cases) ReadyAnswers(ctx context.Context) ([]ReadyAnswer, error) {
	return c.store.ReadyAnswers(ctx)
}

// SaveReadyAnswer keeps an answer in the place of the one that has its title.
func (c *Cases) SaveReadyAnswer(ctx context.Context, a ReadyAnswer) error {
	a.Title, a.Text = strings.TrimSpace(a.Title), strings.TrimSpace(a.Text)
	err := errors.Join(fault.When(!partner.IsPrintableLine(a.Title, 1, 100), ErrCaseInvalid.With("title", fault.PlainLength, 100)), checkParagraphs("text", a.Text, maxNote))
	if err != nil {
		return err
	}
	return c.store.SaveReadyAnswer(ctx, a)
}

// DeleteReadyAnswer removes an answer.
func (c *Cases) DeleteReadyAnswer(ctx context.Context, title string) error {
	return c.store.DeleteReadyAnswer(ctx, title)
}

// SetTargetTime sets the working time for new cases of a service; 0 means none.
func (c *Cases) SetTargetTime(ctx context.Context, service ServiceID, target time.Duration) error {
	if target < 0 || target > 366*24*time.Hour {
		return ErrCaseInvalid.With("target", fault.TargetDays)
	}
	return c.store.SetTarget(ctx, service, target)
}

// AddFreeSlots puts times into a service's calendar, for one partner's people alone where id names one. From the first one
// on, the service's cases are attended by appointment.
func (c *Cases) AddFreeSlots(ctx context.Context, service ServiceID, id partner.ID, times []time.Time) (int, error) {
	slots := make([]Slot, len(times))
	for i, at := range times {
		made, err := uuid.NewV7()
		if err != nil {
			return 0, fmt.Errorf("make slot id: %w", err)
		}
		if !at.After(c.now()) {
			return 0, ErrCaseInvalid.With("slot", fault.InTheFuture)
		}
		slots[i] = Slot{ID: SlotID("sl_" + made.String()), Service: service, Starts: at.UTC(), Partner: id}
	}
	return c.store.InsertSlots(ctx, slots)
}

// ListSlots returns a service's coming slots.
func (c *Cases) ListSlots(ctx context.Context, service ServiceID) ([]Slot, error) {
	return c.store.ListSlots(ctx, service, c.now())
}

// RemoveSlot takes a free slot out of the calendar.
func (c *Cases) RemoveSlot(ctx context.Context, id SlotID) error { return c.store.DeleteSlot(ctx, id) }

// appointmentLayouts are the forms of an ISO 8601 date-time that are understood: extended or basic, with or without
// seconds and their fraction, with or without an offset.
var appointmentLayouts = [...]string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04Z07", "2006-01-02T15:04",
	"20060102T150405Z0700", "20060102T150405Z07", "20060102T150405", "20060102T1504Z0700", "20060102T1504Z07", "20060102T1504",
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
