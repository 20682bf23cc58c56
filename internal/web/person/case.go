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

// casePath returns the page of the case that the address names.
func (r *request) casePath() string { return "/p/cases/" + r.PathValue("id") }

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
