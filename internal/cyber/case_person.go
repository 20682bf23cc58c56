package cyber

import (
	"context"
	"strings"
	"time"

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

// ListPersonCases returns a person's cases, newest first.
func (c *Cases) ListPersonCases(ctx context.Context, id partner.ID, user partner.UserHash) ([]Case, error) {
	return c.store.ListPersonCases(ctx, id, user, maxPersonCases)
}

// ReadPersonCase returns a case of a person with what they may see of its history.
func (c *Cases) ReadPersonCase(ctx context.Context, key CaseKey) (Case, []CaseMove, error) {
	one, moves, err := c.store.PersonCase(ctx, key)
	return one, ShownToPerson(moves), err
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
