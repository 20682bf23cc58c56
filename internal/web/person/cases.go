package person

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// A page shows so many cases, lines of one and times to choose from.
const (
	mostCases = 20
	mostLines = 40
	mostSlots = 24
	// mostText is how many bytes of a case's history a page shows, from the newest line back; longestLine how many
	// characters of one.
	mostText    = 12_000
	longestLine = 2000
)

// casesPage is a person's cases and what they can ask help for.
type casesPage struct {
	Cases    []caseView
	More     int
	Services []cyber.Service
}

// caseView is a case as the list shows it; Waiting says that support waits for the person.
type caseView struct {
	ID, Service, Status string
	Waiting             bool
	Opened, Changed     time.Time
	Booked              time.Time
}

// caseStatus are the words for statuses.
var caseStatus = map[cyber.CaseStatus]string{
	cyber.CaseOpen:       "case.open",
	cyber.CaseInProgress: "case.progress",
	cyber.CaseWaiting:    "case.waiting",
	cyber.CaseResolved:   "case.resolved",
	cyber.CaseClosed:     "case.closed",
	cyber.CaseCancelled:  "case.cancelled",
}

// newCaseView returns a case as the page shows it.
func newCaseView(r *request, c cyber.Case, names map[cyber.ServiceID]string) caseView {
	return caseView{
		ID:      string(c.ID),
		Service: names[c.Service],
		Status:  r.sentence(caseStatus[c.Status]),
		Waiting: c.Status == cyber.CaseWaiting,
		Opened:  c.CreatedAt,
		Changed: c.ChangedAt,
		Booked:  c.Booked,
	}
}

// serviceNames returns the names of all services, also of retired ones.
func (p *Pages) serviceNames(r *request) map[cyber.ServiceID]string {
	names := map[cyber.ServiceID]string{}
	for _, s := range callRule(r, p.Rules.Services.ListServices) {
		names[s.ID] = s.Name
	}
	return names
}

// listCases shows the person's cases, at most mostCases of them.
func listCases(p *Pages, r *request) (answer, error) {
	names, list := p.serviceNames(r), callForPerson(r, p.Rules.Cases.ListPersonCases)
	page := casesPage{More: max(0, len(list)-mostCases), Services: callRule(r, p.Rules.Services.ListOffered)}
	for _, c := range list[:len(list)-page.More] {
		page.Cases = append(page.Cases, newCaseView(r, c, names))
	}
	return view{"cases", "cases.title", page}, nil
}

// casePage is one case.
type casePage struct {
	caseView
	Lines []lineView
	// More is how many earlier lines are not shown.
	More int
	// What the person can do now.
	CanReply, CanCancel, CanRate bool
	// Free are the times that an open case can take instead of its own.
	Free   []time.Time
	Rating int
}

// lineView is a line of a case's history; Mine says that the person wrote it.
type lineView struct {
	At   time.Time
	Mine bool
	// Name is that of an attachment.
	Kind, Name, Text string
}

// caseKeyInPath returns the case that the address names.
func (r *request) caseKeyInPath() cyber.CaseKey {
	return cyber.CaseKey{ID: cyber.CaseID(r.PathValue("id")), Partner: r.who.ID, User: r.session.User}
}

// showCasePage shows one case of the person.
func showCasePage(p *Pages, r *request) (answer, error) {
	c, moves, err := p.Rules.Cases.ReadPersonCase(r.Context(), r.caseKeyInPath())
	if err != nil {
		return nil, err
	}
	page := casePage{
		caseView: newCaseView(r, c, p.serviceNames(r)), More: countHidden(moves), Rating: c.Rating,
		CanReply: c.Status.Open() || c.Status == cyber.CaseResolved, CanCancel: c.Status.Open(),
		CanRate: c.Status == cyber.CaseResolved || c.Status == cyber.CaseClosed,
	}
	for _, m := range moves[page.More:] {
		page.Lines = append(page.Lines, newLineView(r, m))
	}
	if c.Status.Open() && !c.Booked.IsZero() {
		detail, err := p.Rules.Cases.DescribeService(r.Context(), r.who.ID, cyber.Service{ID: c.Service})
		if err != nil &&
			!errors.Is(err, cyber.ErrServiceNotFound) { // a service that is not offered any more has no times
			return nil, err
		}
		page.Free = detail.Free[:min(len(detail.Free), mostSlots)]
	}
	return view{"case", "case.title", page}, nil
}

// countHidden returns how many lines of a history are left out, so that the page stays light.
func countHidden(moves []cyber.CaseMove) int {
	text := 0
	for i := len(moves) - 1; i >= 0; i-- {
		text += min(len(moves[i].Note), longestLine)
		if len(moves)-i > mostLines || text > mostText {
			return i + 1
		}
	}
	return 0
}

// lineWords are the words for what happened in a line.
var lineWords = map[cyber.MoveKind]string{
	cyber.MoveReply:      "line.message",
	cyber.MoveMessage:    "line.message",
	cyber.MoveAttachment: "line.attachment",
	cyber.MoveBooking:    "line.booking",
	cyber.MoveRating:     "line.rating",
}

// newLineView returns a line of a case's history as the page shows it.
func newLineView(r *request, m cyber.CaseMove) lineView {
	line := lineView{At: m.At, Mine: m.Actor == "", Text: m.Note}
	switch m.Kind {
	case cyber.MoveStatus:
		line.Kind = r.sentence(caseStatus[m.To])
	case cyber.MoveAttachment:
		attached := m.ParseAttachment()
		line.Kind, line.Name, line.Text = r.sentence("line.attachment"), attached.Name, attached.Text
	default:
		line.Kind = r.sentence(lineWords[m.Kind])
	}
	if runes := []rune(line.Text); len(runes) > longestLine {
		line.Text = string(runes[:longestLine]) + "…"
	}
	return line
}

// replyCase adds a message of the person to a case.
func replyCase(p *Pages, r *request) (answer, error) {
	return callOnCase(r, "told", func(ctx context.Context, key cyber.CaseKey) (cyber.Case, error) {
		return p.Rules.Cases.AddMessage(ctx, key, cyber.Message{Text: normalizeLines(r.trimmedField("text"))})
	})
}

// rebookCase books another free time for a case.
func rebookCase(p *Pages, r *request) (answer, error) {
	at, err := cyber.ParseAppointment("time", r.trimmedField("time"))
	r.keepFailure(err)
	return callOnCase(r, "booked", func(ctx context.Context, key cyber.CaseKey) (cyber.Case, error) {
		return p.Rules.Cases.RebookCase(ctx, key, r.who.Mode, []time.Time{at})
	})
}

// cancelCase cancels a case for the person.
func cancelCase(p *Pages, r *request) (answer, error) {
	return callOnCase(r, "cancelled", func(ctx context.Context, key cyber.CaseKey) (cyber.Case, error) {
		return p.Rules.Cases.CancelCase(ctx, key, normalizeLines(r.trimmedField("reason")))
	})
}

// rateOwnCase keeps what the person thought of a case.
func rateOwnCase(p *Pages, r *request) (answer, error) {
	rating, err := strconv.Atoi(r.trimmedField("rating"))
	if err != nil {
		return nil, cyber.ErrCaseInvalid.With("rating", fault.OneTo, 5)
	}
	return callOnCase(r, "rated", func(ctx context.Context, key cyber.CaseKey) (cyber.Case, error) {
		return p.Rules.Cases.RateCase(ctx, key, rating, normalizeLines(r.trimmedField("comment")))
	})
}

// servicePage is what a person has to say to open a case.
type servicePage struct {
	cyber.ServiceDetail
	// More says that there are later times than those shown.
	More bool
}

// loadService returns the service that the address names, with its triage questions and free times.
func (p *Pages) loadService(r *request) cyber.ServiceDetail {
	offered := callRule(r, p.Rules.Services.ListOffered)
	at := slices.IndexFunc(offered, func(s cyber.Service) bool { return string(s.ID) == r.PathValue("id") })
	if at < 0 {
		r.keepFailure(cyber.ErrServiceNotFound)
		return cyber.ServiceDetail{}
	}
	return callRule(r, func(ctx context.Context) (cyber.ServiceDetail, error) {
		return p.Rules.Cases.DescribeService(ctx, r.who.ID, offered[at])
	})
}

// showService shows a service with its triage questions and free times, to open a case.
func showService(p *Pages, r *request) (answer, error) {
	detail := p.loadService(r)
	page := servicePage{ServiceDetail: detail, More: len(detail.Free) > mostSlots}
	page.Free = detail.Free[:min(len(detail.Free), mostSlots)]
	return view{"service", "service.title", page}, nil
}

// answerPrefix begins the names of the fields that answer questions.
const answerPrefix = "q-"

// openOwnCase opens a case with the triage answers, an optional appointment and a first message.
func openOwnCase(p *Pages, r *request) (answer, error) {
	detail := p.loadService(r)
	wanted := cyber.CaseRequest{Service: detail.ID, User: r.session.User, Mode: r.who.Mode}
	for _, q := range detail.Questions {
		given := normalizeLines(r.trimmedField(answerPrefix + string(q.ID)))
		if given == "" {
			continue
		}
		if !partner.Paragraphs(given, 1, maxAnswer) {
			return nil, errForm
		}
		kept := r.encodeElement(map[string]string{"questionId": string(q.ID), "question": q.Text, "answer": given})
		wanted.Answers = append(wanted.Answers, cyber.TriageAnswer{Question: string(q.ID), Answer: given, JSON: kept})
	}
	if text := r.trimmedField("time"); text != "" {
		at, err := cyber.ParseAppointment("time", text)
		r.keepFailure(err)
		wanted.Appointments = []cyber.Appointment{
			{At: at, JSON: r.encodeElement(map[string]string{"appointment": text})},
		}
	}
	opened := callRule(
		r,
		func(ctx context.Context) (cyber.Case, error) { return p.Rules.Cases.OpenCase(ctx, r.who.ID, wanted) },
	)
	// The free text is no part of the request that partners send too, so it becomes the first message.
	if said := normalizeLines(r.trimmedField("text")); said != "" {
		key := cyber.CaseKey{ID: opened.ID, Partner: r.who.ID, User: r.session.User}
		callRule(r, func(ctx context.Context) (cyber.Case, error) {
			return p.Rules.Cases.AddMessage(ctx, key, cyber.Message{Text: said})
		})
	}
	return redirect{"/p/cases/" + string(opened.ID), "opened"}, nil
}

const maxAnswer = 2000

// encodeElement is how a case keeps what was said in a form, as it keeps what partners send.
func (r *request) encodeElement(members map[string]string) string {
	text, err := json.Marshal(members)
	r.keepFailure(err)
	return string(text)
}
