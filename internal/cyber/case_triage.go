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
		ctx context.Context, id partner.ID, service ServiceID, after time.Time, limit int,
	) ([]time.Time, error)
}

// Triage is what the operator asks for a service, and how its cases are timed.
type Triage struct {
	Questions []Question
	// Target is the working time within which a case should be resolved; 0 means no target.
	Target time.Duration
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
	ctx context.Context, service ServiceID, text string, required bool, options []string,
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

// SetTargetTime sets the working time for new cases of a service; 0 means none.
func (c *Cases) SetTargetTime(ctx context.Context, service ServiceID, target time.Duration) error {
	if target < 0 || target > 366*24*time.Hour {
		return ErrCaseInvalid.With("target", fault.TargetDays)
	}
	return c.store.SetTarget(ctx, service, target)
}
