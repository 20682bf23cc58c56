package console

import (
	"context"
	"errors"
	"io"
	"maps"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// onlyPartner returns the rules for a partner's people. A rule that is not set here is left out on purpose: a page that
// uses it fails instead of showing data of other partners. Rules that are passed on unchanged either take the partner
// as an argument, which comes from a path or a form that confine has checked, or touch no personal data.
func (r Rules) onlyPartner(s scope) Rules {
	id := s.at.ID
	return Rules{
		Operators: r.Operators.ForPartner(
			s.home.ID,
			s.role,
		),
		Audit:    r.Audit.ForPartner(s.home.ID, r.Operators),
		Partners: r.Partners.ForPartner(id, s.role.May(operator.Approve) || s.at.Mode == partner.Sandbox),
		Figures: ownFigures{
			of:       r.Figures,
			webhooks: r.Webhooks,
			id:       id,
		},
		Webhooks:          ownWebhooks{inner: r.Webhooks, id: id},
		Events:            ownEvents{of: r.Events, id: id},
		History:           r.History.ForPartner(id),
		Cases:             r.Cases.ForPartner(id),
		Endpoints:         r.Endpoints.Only(id),
		Saved:             r.Saved,
		Search:            r.Search.ForPartner(id),
		Subjects:          ownSubjects{inner: r.Subjects, id: id},
		Review:            ownReview{of: r.Review, id: id},
		Services:          r.Services,
		Meter:             r.Meter,
		Plans:             r.Plans,
		Subscriptions:     r.Subscriptions,
		FindSubscriptions: r.FindSubscriptions,
		Monitoring:        r.Monitoring,
		FirstLooks:        r.FirstLooks,
		Cover:             r.Cover,
		ProblemText:       r.ProblemText,
	}
}

var (
	_ Webhooks = ownWebhooks{}
	_ Subjects = ownSubjects{}
	_ Events   = ownEvents{}
	_ Review   = ownReview{}
	_ Figures  = ownFigures{}
)

// ownWebhooks are one partner's. Every method is written out, so that one that is added to the interface is decided on
// before it compiles; so it is with the types below.
type ownWebhooks struct {
	inner Webhooks
	id    partner.ID
}

// checkOwn refuses every partner but the one.
func (w ownWebhooks) checkOwn(id partner.ID) error {
	if id != w.id {
		return alert.ErrEndpointNotFound
	}
	return nil
}

func (w ownWebhooks) FindEndpoint(ctx context.Context, endpoint alert.EndpointID) (alert.Endpoint, error) {
	e, err := w.inner.FindEndpoint(ctx, endpoint)
	if err == nil && e.Partner != w.id {
		return alert.Endpoint{}, alert.ErrEndpointNotFound
	}
	return e, err
}

func (w ownWebhooks) ListEndpoints(ctx context.Context, id partner.ID) ([]alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return nil, err
	}
	return w.inner.ListEndpoints(ctx, id)
}

func (w ownWebhooks) Create(ctx context.Context, id partner.ID, url string, types []string) (alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return alert.Endpoint{}, err
	}
	return w.inner.Create(ctx, id, url, types)
}

func (w ownWebhooks) Test(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, t alert.Type,
) (webhook.Outcome, alert.EventID, error) {
	if err := w.checkOwn(id); err != nil {
		return webhook.Outcome{}, "", err
	}
	return w.inner.Test(ctx, id, endpoint, t)
}

func (w ownWebhooks) RotateKeys(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, overlap time.Duration,
) (alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return alert.Endpoint{}, err
	}
	return w.inner.RotateKeys(ctx, id, endpoint, overlap)
}

func (w ownWebhooks) EnableEndpoint(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID,
) (alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return alert.Endpoint{}, err
	}
	return w.inner.EnableEndpoint(ctx, id, endpoint)
}

func (w ownWebhooks) DisableEndpoint(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID,
) (alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return alert.Endpoint{}, err
	}
	return w.inner.DisableEndpoint(ctx, id, endpoint)
}

func (w ownWebhooks) FollowEndpoint(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, to alert.EndpointState,
) error {
	if err := w.checkOwn(id); err != nil {
		return err
	}
	return w.inner.FollowEndpoint(ctx, id, endpoint, to)
}

func (w ownWebhooks) DeleteEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) error {
	if err := w.checkOwn(id); err != nil {
		return err
	}
	return w.inner.DeleteEndpoint(ctx, id, endpoint)
}

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
	ctx context.Context,
	who partner.Partner,
	p subject.Person,
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

// ownEvents are one partner's events and deliveries.
type ownEvents struct {
	of Events
	id partner.ID
}

func (e ownEvents) ListEvents(ctx context.Context, id partner.ID, f alert.EventFilter) ([]alert.Kept, int64, error) {
	if id != e.id {
		return nil, 0, partner.ErrNotFound
	}
	return e.of.ListEvents(ctx, id, f)
}

func (e ownEvents) GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error) {
	if id != e.id {
		return alert.Kept{}, alert.ErrEventNotFound
	}
	return e.of.GetEvent(ctx, id, event)
}

// DeliveryList lists deliveries of the one partner, whatever was asked for.
func (e ownEvents) DeliveryList(
	ctx context.Context,
	f alert.DeliveryFilter,
) ([]alert.Listed, alert.DeliveryMark, error) {
	f.Partner = e.id
	return e.of.DeliveryList(ctx, f)
}

// ownReview lists findings, watched values and devices of one partner.
type ownReview struct {
	of Review
	id partner.ID
}

// FindingList lists findings of the one partner, whatever was asked for.
func (v ownReview) FindingList(ctx context.Context, f cyber.FindingFilter) ([]cyber.Found, cyber.Mark, error) {
	f.Partner = v.id
	return v.of.FindingList(ctx, f)
}

// GroupFindings counts findings of the one partner, whatever was asked for.
func (v ownReview) GroupFindings(
	ctx context.Context,
	f cyber.FindingFilter,
	most int,
) ([]cyber.FindingGroup, error) {
	f.Partner = v.id
	return v.of.GroupFindings(ctx, f, most)
}

func (v ownReview) StepMarks(
	ctx context.Context,
	id partner.ID,
	findings []cyber.FindingID,
) ([]cyber.StepMark, error) {
	if id != v.id {
		return nil, cyber.ErrFindingNotFound
	}
	return v.of.StepMarks(ctx, id, findings)
}

// CountAffected counts people of the one partner, whatever was asked for.
func (v ownReview) CountAffected(ctx context.Context, f cyber.FindingFilter) (map[partner.ID]int64, error) {
	f.Partner = v.id
	return v.of.CountAffected(ctx, f)
}

// ListAffected lists people of the one partner, whatever was asked for.
func (v ownReview) ListAffected(ctx context.Context, f cyber.FindingFilter) ([]cyber.Affected, cyber.Mark, error) {
	f.Partner = v.id
	return v.of.ListAffected(ctx, f)
}

// ListAssets lists watched values of the one partner, whatever was asked for.
func (v ownReview) ListAssets(ctx context.Context, f cyber.AssetFilter) ([]cyber.Asset, cyber.Mark, error) {
	f.Partner = v.id
	return v.of.ListAssets(ctx, f)
}

func (v ownReview) DeviceList(
	ctx context.Context,
	id partner.ID,
	f cyber.DeviceFilter,
) ([]cyber.Device, cyber.Mark, error) {
	if id != v.id {
		return nil, cyber.Mark{}, partner.ErrNotFound
	}
	return v.of.DeviceList(ctx, id, f)
}

func (v ownReview) GetAsset(ctx context.Context, id partner.ID, asset cyber.AssetID) (cyber.Asset, error) {
	if id != v.id {
		return cyber.Asset{}, cyber.ErrAssetNotFound
	}
	return v.of.GetAsset(ctx, id, asset)
}

func (v ownReview) FindingByID(ctx context.Context, id partner.ID, finding cyber.FindingID) (cyber.Found, error) {
	if id != v.id {
		return cyber.Found{}, cyber.ErrFindingNotFound
	}
	return v.of.FindingByID(ctx, id, finding)
}

// ownFigures are those of one partner and of its endpoints.
type ownFigures struct {
	of       Figures
	webhooks Webhooks
	id       partner.ID
}

// LastFigures are the whole service's.
func (ownFigures) LastFigures(context.Context) (operator.Figures, error) {
	return operator.Figures{}, partner.ErrNotFound
}

// ownParts returns the parts of the figures that are the one partner's.
func (f ownFigures) ownParts(ctx context.Context) (map[string]bool, error) {
	list, err := f.webhooks.ListEndpoints(ctx, f.id)
	parts := map[string]bool{string(f.id): true}
	for _, e := range list {
		parts[string(e.ID)] = true
	}
	return parts, err
}

// FiguresByDay returns counts of the one partner or of an endpoint of its own.
func (f ownFigures) FiguresByDay(
	ctx context.Context,
	part string,
	days int,
	names ...operator.Figure,
) (map[operator.Figure][]operator.DayCount, error) {
	mine, err := f.ownParts(ctx)
	if err == nil && !mine[part] {
		err = partner.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return f.of.FiguresByDay(ctx, part, days, names...)
}

// FiguresByPart returns a count of each part that is the one partner's.
func (f ownFigures) FiguresByPart(ctx context.Context, name operator.Figure, days int) (map[string]int64, error) {
	mine, err := f.ownParts(ctx)
	if err != nil {
		return nil, err
	}
	all, err := f.of.FiguresByPart(ctx, name, days)
	maps.DeleteFunc(all, func(part string, _ int64) bool { return !mine[part] })
	return all, err
}
