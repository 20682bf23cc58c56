package console

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// ownSubjects are one partner's people.
type ownSubjects struct {
	inner Subjects
	id    partner.ID
}

func (s ownSubjects) Reference(p subject.Person) string { return s.inner.Reference(p) }

func (s ownSubjects) FindReferred(ctx context.Context, id partner.ID, ref string) (subject.Person, error) {
	if id != s.id {
		return subject.Person{}, subject.ErrNobody
	}
	return s.inner.FindReferred(ctx, id, ref)
}

// DescribePerson returns what the page about a person shows to the one partner.
func (s ownSubjects) DescribePerson(
	ctx context.Context, who partner.Partner, p subject.Person,
) (subject.Held, []subject.Access, error) {
	if who.ID != s.id || p.Partner != s.id {
		return subject.Held{}, nil, subject.ErrNobody
	}
	return s.inner.DescribePerson(ctx, who, p)
}

// ExportPerson returns what the one partner holds.
func (s ownSubjects) ExportPerson(ctx context.Context, p subject.Person) ([]subject.Held, error) {
	if p.Partner != s.id {
		return nil, subject.ErrNobody
	}
	return s.inner.ExportPerson(ctx, p)
}

func (s ownSubjects) RequestErasure(
	ctx context.Context, who operator.Actor, p subject.Person, reason string,
) (subject.ErasureRequest, error) {
	if p.Partner != s.id {
		return subject.ErasureRequest{}, subject.ErrNobody
	}
	return s.inner.RequestErasure(ctx, who, p, reason)
}

func (s ownSubjects) CancelErasure(
	ctx context.Context, who operator.Actor, id partner.ID, request string,
) (subject.ErasureRequest, error) {
	if id != s.id {
		return subject.ErasureRequest{}, subject.ErrRequestNotFound
	}
	return s.inner.CancelErasure(ctx, who, id, request)
}

func (s ownSubjects) ListOpenErasures(ctx context.Context, id partner.ID) ([]subject.ErasureRequest, error) {
	if id != s.id {
		return nil, subject.ErrNobody
	}
	return s.inner.ListOpenErasures(ctx, id)
}

// ReportIncident reports the people of the one partner. Who looked at data of the whole service is the operator's to
// know, and a breach that is not there is one that has met nobody: otherwise names could be guessed.
func (s ownSubjects) ReportIncident(
	ctx context.Context, who operator.Actor, of subject.Incident, known time.Time, reveal bool, reason string,
) (subject.Report, error) {
	if of.Partner != s.id {
		return subject.Report{}, subject.ErrNobody
	}
	report, err := s.inner.ReportIncident(ctx, who, of, known, reveal, reason)
	if errors.Is(err, leak.ErrBreachNotFound) {
		return subject.Report{Deadline: subject.NoticeDeadline(known)}, nil
	}
	report.Showings = nil
	return report, err
}

// What follows is the operator's: lines of the trail over partners, an erasure at once, and the log of all.

func (ownSubjects) ListAccesses(context.Context, subject.Person) ([]subject.Access, error) {
	return nil, subject.ErrNobody
}

func (ownSubjects) Erase(context.Context, operator.Actor, subject.Person, string) (subject.Outcome, error) {
	return subject.Outcome{}, subject.ErrNobody
}

func (ownSubjects) WriteErasureLog(context.Context, io.Writer) (int, error) {
	return 0, subject.ErrNobody
}
