package person

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
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
	cyber.CaseOpen: "case.open", cyber.CaseInProgress: "case.progress", cyber.CaseWaiting: "case.waiting", cyber.CaseResolved: "case.resolved",
	cyber.CaseClosed: "case.closed", cyber.CaseCancelled: "case.cancelled",
}

// newCaseView returns a case as the page shows it.
func newCaseView(r *request, c cyber.Case, names map[cyber.ServiceID]string) caseView {
	return caseView{
		ID: string(c.ID), Service: names[c.Service], Status: r.sentence(caseStatus[c.Status]), Waiting: c.Status == cyber.CaseWaiting,
		Opened: c.CreatedAt, Changed: c.ChangedAt, Booked: c.Booked,
	}
}

// serviceNames returns the names of all services, also of retired ones.
func (p *Pages) serviceNames(r *request) (map[cyber.ServiceID]string, error) {
	all, err := p.Rules.Services.ListServices(r.Context())
	names := make(map[cyber.ServiceID]string, len(all))
	for _, s := range all {
		names[s.ID] = s.Name
	}
	return names, err
}

// listCases shows the person's cases, at most mostCases of them.
func listCases(p *Pages, r *request) (answer, error) {
	names, err := p.serviceNames(r)
	if err != nil {
		return nil, err
	}
	list, err := p.Rules.Cases.ListPersonCases(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	page := casesPage{More: max(0, len(list)-mostCases)}
	for _, c := range list[:len(list)-page.More] {
		page.Cases = append(page.Cases, newCaseView(r, c, names))
	}
	if page.Services, err = p.Rules.Services.ListOffered(r.Context()); err != nil {
		return nil, err
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
	names, err := p.serviceNames(r)
	if err != nil {
		return nil, err
	}
	page := casePage{
		caseView: newCaseView(r, c, names), More: countHidden(moves), Rating: c.Rating,
		CanReply: c.Status.Open() || c.Status == cyber.CaseResolved, CanCancel: c.Status.Open(),
		CanRate: c.Status == cyber.CaseResolved || c.Status == cyber.CaseClosed,
	}
	for _, m := range moves[page.More:] {
		page.Lines = append(page.Lines, newLineView(r, m))
	}
	if c.Status.Open() && !c.Booked.IsZero() {
		detail, err := p.Rules.Cases.DescribeService(r.Context(), r.who.ID, cyber.Service{ID: c.Service})
		if err != nil && !errors.Is(err, cyber.ErrServiceNotFound) { // a service that is not offered any more has no times
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
	cyber.MoveReply: "line.message", cyber.MoveMessage: "line.message", cyber.MoveAttachment: "line.attachment", cyber.MoveBooking: "line.booking",
	cyber.MoveRating: "line.rating",
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
	if _, err := p.Rules.Cases.AddMessage(r.Context(), r.caseKeyInPath(), cyber.Message{Text: normalizeLines(r.trimmedField("text"))}); err != nil {
		return nil, err
	}
	return r.backToCase("told"), nil
}

// backToCase returns to the page of the case in the path, with a message of success.
func (r *request) backToCase(done string) answer {
	return redirect{"/p/cases/" + r.PathValue("id"), done}
}

// rebookCase books another free time for a case.
func rebookCase(p *Pages, r *request) (answer, error) {
	at, err := cyber.ParseAppointment("time", r.trimmedField("time"))
	if err != nil {
		return nil, err
	}
	if _, err := p.Rules.Cases.RebookCase(r.Context(), r.caseKeyInPath(), r.who.Mode, []time.Time{at}); err != nil {
		return nil, err
	}
	return r.backToCase("booked"), nil
}

// cancelCase cancels a case for the person.
func cancelCase(p *Pages, r *request) (answer, error) {
	if _, err := p.Rules.Cases.CancelCase(r.Context(), r.caseKeyInPath(), normalizeLines(r.trimmedField("reason"))); err != nil {
		return nil, err
	}
	return r.backToCase("cancelled"), nil
}

// rateOwnCase keeps what the person thought of a case.
func rateOwnCase(p *Pages, r *request) (answer, error) {
	rating, err := strconv.Atoi(r.trimmedField("rating"))
	if err != nil {
		return nil, cyber.ErrCaseInvalid.With("rating", fault.OneTo, 5)
	}
	if _, err := p.Rules.Cases.RateCase(r.Context(), r.caseKeyInPath(), rating, normalizeLines(r.trimmedField("comment"))); err != nil {
		return nil, err
	}
	return r.backToCase("rated"), nil
}

// servicePage is what a person has to say to open a case.
type servicePage struct {
	cyber.ServiceDetail
	// More says that there are later times than those shown.
	More bool
}

// loadService returns the service that the address names.
func (p *Pages) loadService(r *request) (cyber.Service, error) {
	offered, err := p.Rules.Services.ListOffered(r.Context())
	if err != nil {
		return cyber.Service{}, err
	}
	for _, s := range offered {
		if string(s.ID) == r.PathValue("id") {
			return s, nil
		}
	}
	return cyber.Service{}, cyber.ErrServiceNotFound
}

// showService shows a service with its triage questions and free times, to open a case.
func showService(p *Pages, r *request) (answer, error) {
	service, err := p.loadService(r)
	if err != nil {
		return nil, err
	}
	detail, err := p.Rules.Cases.DescribeService(r.Context(), r.who.ID, service)
	if err != nil {
		return nil, err
	}
	page := servicePage{ServiceDetail: detail, More: len(detail.Free) > mostSlots}
	page.Free = detail.Free[:min(len(detail.Free), mostSlots)]
	return view{"service", "service.title", page}, nil
}

// answerPrefix begins the names of the fields that answer questions.
const answerPrefix = "q-"

// openOwnCase opens a case with the triage answers, an optional appointment and a first message.
func openOwnCase(p *Pages, r *request) (answer, error) {
	service, err := p.loadService(r)
	if err != nil {
		return nil, err
	}
	detail, err := p.Rules.Cases.DescribeService(r.Context(), r.who.ID, service)
	if err != nil {
		return nil, err
	}
	wanted := cyber.CaseRequest{Service: service.ID, User: r.session.User, Mode: r.who.Mode}
	for _, q := range detail.Questions {
		given := normalizeLines(r.trimmedField(answerPrefix + string(q.ID)))
		if given == "" {
			continue
		}
		if !partner.Paragraphs(given, 1, maxAnswer) {
			return nil, errForm
		}
		kept, err := encodeElement(map[string]string{"questionId": string(q.ID), "question": q.Text, "answer": given})
		if err != nil {
			return nil, err
		}
		wanted.Answers = append(wanted.Answers, cyber.TriageAnswer{Question: string(q.ID), Answer: given, JSON: kept})
	}
	if text := r.trimmedField("time"); text != "" {
		at, err := cyber.ParseAppointment("time", text)
		if err != nil {
			return nil, err
		}
		kept, err := encodeElement(map[string]string{"appointment": text})
		if err != nil {
			return nil, err
		}
		wanted.Appointments = []cyber.Appointment{{At: at, JSON: kept}}
	}
	opened, err := p.Rules.Cases.OpenCase(r.Context(), r.who.ID, wanted)
	if err != nil {
		return nil, err
	}
	// The free text is no part of the request that partners send too, so it becomes the first message.
	if said := normalizeLines(r.trimmedField("text")); said != "" {
		key := cyber.CaseKey{ID: opened.ID, Partner: r.who.ID, User: r.session.User}
		if _, err := p.Rules.Cases.AddMessage(r.Context(), key, cyber.Message{Text: said}); err != nil {
			return nil, err
		}
	}
	return redirect{"/p/cases/" + string(opened.ID), "opened"}, nil
}

const maxAnswer = 2000

// encodeElement is how a case keeps what was said in a form, as it keeps what partners send.
func encodeElement(members map[string]string) (string, error) {
	text, err := json.Marshal(members)
	return string(text), err
}
