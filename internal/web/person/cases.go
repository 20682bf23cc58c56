package person

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
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

var caseStatus = map[cyber.CaseStatus]string{
	cyber.CaseOpen:       "case.open",
	cyber.CaseInProgress: "case.progress",
	cyber.CaseWaiting:    "case.waiting",
	cyber.CaseResolved:   "case.resolved",
	cyber.CaseClosed:     "case.closed",
	cyber.CaseCancelled:  "case.cancelled",
}

func newCaseView(v visitor, c cyber.Case, names map[cyber.ServiceID]string) caseView {
	return caseView{
		ID:      string(c.ID),
		Service: names[c.Service],
		Status:  v.sentence(caseStatus[c.Status]),
		Waiting: c.Status == cyber.CaseWaiting,
		Opened:  c.CreatedAt,
		Changed: c.ChangedAt,
		Booked:  c.Booked,
	}
}

// serviceNames returns the names of all services, also of retired ones.
func (p *Pages) serviceNames(ctx context.Context) (map[cyber.ServiceID]string, error) {
	services, err := p.Rules.Services.ListServices(ctx)
	if err != nil {
		return nil, err
	}
	names := map[cyber.ServiceID]string{}
	for _, s := range services {
		names[s.ID] = s.Name
	}
	return names, nil
}

// listCases shows the person's cases, at most mostCases of them.
func listCases(p *Pages, r *request) (answer, error) {
	page, err := p.gatherCases(r.Context(), r.visitor)
	if err != nil {
		return nil, err
	}
	return view{"cases", "cases.title", page}, nil
}

func (p *Pages) gatherCases(ctx context.Context, v visitor) (casesPage, error) {
	names, err := p.serviceNames(ctx)
	if err != nil {
		return casesPage{}, err
	}
	list, err := p.Rules.Cases.ListPersonCases(ctx, v.who.ID, v.session.User)
	if err != nil {
		return casesPage{}, err
	}
	offered, err := p.Rules.Services.ListOffered(ctx)
	if err != nil {
		return casesPage{}, err
	}
	page := casesPage{More: max(0, len(list)-mostCases), Services: offered}
	for _, c := range list[:len(list)-page.More] {
		page.Cases = append(page.Cases, newCaseView(v, c, names))
	}
	return page, nil
}

type casePage struct {
	caseView
	// Said is what the person answered when the case was opened.
	Said  []saidView
	Lines []lineView
	// More is how many earlier lines are not shown.
	More int
	// What the person can do now.
	CanReply, CanCancel, CanRate bool
	// Free are the times that an open case can take instead of its own.
	Free   []time.Time
	Rating int
}

// saidView is an answer that was given when a case was opened, and its question where that is known.
type saidView struct{ Question, Answer string }

// newSaidViews returns the answers of a case. A partner may keep others than ours in an element; what has no answer in
// it is left out.
func newSaidViews(c cyber.Case) (list []saidView) {
	for _, element := range c.Answers {
		var kept struct {
			Question string `json:"question"`
			Answer   string `json:"answer"`
		}
		if err := json.Unmarshal([]byte(element), &kept); err == nil && kept.Answer != "" {
			list = append(list, saidView{kept.Question, kept.Answer})
		}
	}
	return list
}

// lineView is a line of a case's history; Mine says that the person wrote it.
type lineView struct {
	At   time.Time
	Mine bool
	// Name is that of an attachment.
	Kind, Name, Text string
}

// caseKey returns the key of one of the visitor's own cases.
func (v visitor) caseKey(id cyber.CaseID) cyber.CaseKey {
	return cyber.CaseKey{ID: id, Partner: v.who.ID, User: v.session.User}
}

// caseKeyInPath returns the case that the address names.
func (r *request) caseKeyInPath() cyber.CaseKey { return r.caseKey(cyber.CaseID(r.PathValue("id"))) }

func showCasePage(p *Pages, r *request) (answer, error) {
	page, err := p.gatherCase(r.Context(), r.visitor, r.caseKeyInPath())
	if err != nil {
		return nil, err
	}
	return view{"case", "case.title", page}, nil
}

func (p *Pages) gatherCase(ctx context.Context, v visitor, key cyber.CaseKey) (casePage, error) {
	c, moves, err := p.Rules.Cases.ReadPersonCase(ctx, key)
	if err != nil {
		return casePage{}, err
	}
	names, err := p.serviceNames(ctx)
	if err != nil {
		return casePage{}, err
	}
	page := casePage{
		caseView:  newCaseView(v, c, names),
		Said:      newSaidViews(c),
		More:      countHidden(moves),
		Rating:    c.Rating,
		CanReply:  c.Status.Open() || c.Status == cyber.CaseResolved,
		CanCancel: c.Status.Open(),
		CanRate:   c.Status == cyber.CaseResolved || c.Status == cyber.CaseClosed,
	}
	for _, m := range moves[page.More:] {
		page.Lines = append(page.Lines, newLineView(v, m))
	}
	if c.Status.Open() && !c.Booked.IsZero() {
		detail, err := p.Rules.Cases.DescribeService(ctx, v.who.ID, cyber.Service{ID: c.Service})
		// A service that is not offered any more has no times.
		if err != nil && !errors.Is(err, cyber.ErrServiceNotFound) {
			return casePage{}, err
		}
		page.Free = detail.Free[:min(len(detail.Free), mostSlots)]
	}
	return page, nil
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

var lineWords = map[cyber.MoveKind]string{
	cyber.MoveReply:      "line.message",
	cyber.MoveMessage:    "line.message",
	cyber.MoveAttachment: "line.attachment",
	cyber.MoveBooking:    "line.booking",
	cyber.MoveRating:     "line.rating",
}

// newLineView returns a line of a case's history as the page shows it.
func newLineView(v visitor, m cyber.CaseMove) lineView {
	line := lineView{At: m.At, Mine: m.Actor == "", Text: m.Note}
	switch m.Kind {
	case cyber.MoveStatus:
		line.Kind = v.sentence(caseStatus[m.To])
	case cyber.MoveAttachment:
		attached := m.ParseAttachment()
		line.Kind, line.Name, line.Text = v.sentence("line.attachment"), attached.Name, attached.Text
	default:
		line.Kind = v.sentence(lineWords[m.Kind])
	}
	if runes := []rune(line.Text); len(runes) > longestLine {
		line.Text = string(runes[:longestLine]) + "…"
	}
	return line
}

// replyCase adds a message of the person to a case.
func replyCase(p *Pages, r *request) (answer, error) {
	said := cyber.Message{Text: normalizeLines(r.trimmedField("text"))}
	if _, err := p.Rules.Cases.AddMessage(r.Context(), r.caseKeyInPath(), said); err != nil {
		return nil, err
	}
	return redirect{r.casePath(), "told"}, nil
}

// rebookCase books another free time for a case.
func rebookCase(p *Pages, r *request) (answer, error) {
	at, err := cyber.ParseAppointment("time", r.trimmedField("time"))
	if err != nil {
		return nil, err
	}
	_, err = p.Rules.Cases.RebookCase(r.Context(), r.caseKeyInPath(), r.who.Mode, []time.Time{at})
	if err != nil {
		return nil, err
	}
	return redirect{r.casePath(), "booked"}, nil
}

func cancelCase(p *Pages, r *request) (answer, error) {
	reason := normalizeLines(r.trimmedField("reason"))
	if _, err := p.Rules.Cases.CancelCase(r.Context(), r.caseKeyInPath(), reason); err != nil {
		return nil, err
	}
	return redirect{r.casePath(), "cancelled"}, nil
}

// rateOwnCase keeps what the person thought of a case.
func rateOwnCase(p *Pages, r *request) (answer, error) {
	rating, err := strconv.Atoi(r.trimmedField("rating"))
	if err != nil {
		return nil, cyber.ErrCaseInvalid.With("rating", fault.OneTo, 5)
	}
	comment := normalizeLines(r.trimmedField("comment"))
	if _, err := p.Rules.Cases.RateCase(r.Context(), r.caseKeyInPath(), rating, comment); err != nil {
		return nil, err
	}
	return redirect{r.casePath(), "rated"}, nil
}

// casePath returns the page of the case that the address names.
func (r *request) casePath() string { return "/p/cases/" + r.PathValue("id") }
