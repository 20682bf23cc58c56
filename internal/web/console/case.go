package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subscription"
)

// casePage is the data of the page of one case.
type casePage struct {
	ticket
	Talk   []talkLine
	Owners []string
	// Who is the person's subscription, if the partner enrolled them.
	Who    *subscription.Beneficiary
	Person string
	// Reveal says since when and why the person's words are open to who looks; nil while they are closed.
	Reveal   *operator.Entry
	Findings []cyber.Found
	// Looks says for which of the person's values past breaches were looked into.
	Looks   cyber.PersonLooks
	Earlier []ticket
	Ready   []cyber.ReadyAnswer
	// Writer is another operator who is writing an answer at this moment.
	Writer string
	// Draft is the ready answer that was picked without a script.
	Draft string
}

// Shown reports whether the operator has unlocked the person's words and identity.
func (p casePage) Shown() bool { return p.Reveal != nil }

// talkLine is one line of the conversation. Class is who speaks: person, ours, note or did, which is what happened to
// the case.
type talkLine struct {
	Class, Who, Mark string
	At               time.Time
	Text             string
	// Closed says that there are words which are not shown without a reason.
	Closed  bool
	Answers []asked
	Wishes  []string
}

// asked is a question and what the person answered.
type asked struct {
	Question string
	Answer   string
	// JSON is an element that says neither in a way that we know.
	JSON string
}

const (
	// earlierCases and openFindings are how many of each stand beside a case.
	earlierCases, openFindings = 5, 5
)

func showCasePage(c *Console, r *request) (answer, error) {
	page, err := c.gatherCase(r.Context(), r.viewer, cyber.CaseID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	for _, a := range page.Ready {
		if a.Title == r.URL.Query().Get("ready") {
			page.Draft = a.Text
		}
	}
	return view{"case", "Caso " + strconv.FormatInt(page.Short, 10), page}, nil
}

func (c *Console) gatherCase(ctx context.Context, who viewer, id cyber.CaseID) (casePage, error) {
	one, moves, err := c.Rules.Cases.GetCase(ctx, id)
	if err != nil {
		return casePage{}, err
	}
	services, err := c.Rules.Services.ListServices(ctx)
	if err != nil {
		return casePage{}, err
	}
	partners, err := c.Rules.Partners.ListPartners(ctx)
	if err != nil {
		return casePage{}, err
	}
	page := casePage{
		ticket: c.newTickets(who, []cyber.Case{one}, services, partners)[0],
		Person: c.personPath(one.Partner, one.User),
		Writer: one.OtherWriter(who.who.Email, c.Now()),
	}
	if c.confined {
		colleagues, err := c.Rules.Operators.ListOperators(ctx)
		if err != nil {
			return casePage{}, err
		}
		moves = movesForPartner(moves, colleagues)
	} else {
		page.Owners, err = c.listCaseOwners(ctx)
		if err != nil {
			return casePage{}, err
		}
		page.Ready, err = c.Rules.Cases.ReadyAnswers(ctx)
		if err != nil {
			return casePage{}, err
		}
	}
	if one.Assignee != "" && !slices.Contains(page.Owners, one.Assignee) {
		page.Owners = append(page.Owners, one.Assignee) // an operator who has left, or a name given by the command
	}
	reveals, err := c.currentReveals(ctx, who.who.ID)
	if err != nil {
		return casePage{}, err
	}
	page.Reveal = reveals[c.referenceOf(one.Partner, one.User)]
	subscriptions, err := c.Rules.FindSubscriptions.SubscriptionsOfUser(ctx, one.Partner, one.User)
	if err != nil {
		return casePage{}, err
	}
	if len(subscriptions) > 0 {
		page.Who = &subscriptions[0].Beneficiary
		page.Name, page.Mark = maskPersonName(page.Who.Name), monogramOf(page.Who.Name)
	}
	page.Talk, err = c.buildConversation(ctx, who, page, moves)
	if err != nil {
		return casePage{}, err
	}
	open := cyber.FindingFilter{
		Partner: one.Partner,
		User:    one.User,
		State:   cyber.FindingOpen,
		Limit:   openFindings,
	}
	page.Findings, _, err = c.Rules.Review.FindingList(ctx, open)
	if err != nil {
		return casePage{}, err
	}
	page.Looks, err = c.Rules.FirstLooks.CountLooksOf(ctx, one.Partner, one.User)
	if err != nil {
		return casePage{}, err
	}
	others, err := c.Rules.Cases.ListPersonCases(ctx, one.Partner, one.User)
	if err != nil {
		return casePage{}, err
	}
	others = slices.DeleteFunc(others, func(o cyber.Case) bool { return o.ID == one.ID })
	page.Earlier = c.newTickets(who, others[:min(len(others), earlierCases)], services, partners)
	return page, nil
}

// buildConversation returns the history of a case as lines of a conversation.
func (c *Console) buildConversation(
	ctx context.Context, who viewer, page casePage, moves []cyber.CaseMove,
) ([]talkLine, error) {
	list := make([]talkLine, 0, len(moves))
	for _, m := range moves {
		l := talkLine{Class: "did", Who: m.Actor, At: m.At, Text: m.Note, Mark: monogramOf(m.Actor)}
		switch m.Actor {
		case "":
			l.Who, l.Mark = "Pessoa", page.Mark
		case who.who.Email:
			l.Who = "Você"
		}
		// The person's own words stay hidden until the operator has given a reason to read them.
		if m.Actor == "" && m.Note != "" && !page.Shown() {
			l.Text, l.Closed = "", true
		}
		switch m.Kind {
		case cyber.MoveNote:
			l.Class = "note"
		case cyber.MoveReply:
			l.Class = "ours"
		case cyber.MoveMessage, cyber.MoveAttachment:
			l.Class = "person"
		case cyber.MoveBooking:
			l.Who = "Outro horário: " + page.Booked.In(brazil).Format("02/01/2006 15:04")
		case cyber.MoveRating:
			l.Who = "Avaliação da pessoa: " + strconv.Itoa(page.Rating) + " de 5"
		case cyber.MoveStatus:
			if m.From != "" {
				l.Who += " · " + string(m.To)
				break
			}
			// The first status carries what the person filled in when they opened the case.
			if l.Who = "Caso aberto"; len(page.Case.Answers) == 0 && len(page.Case.Appointments) == 0 {
				break
			}
			l.Class, l.Who, l.Closed = "person", "Pessoa, ao abrir o caso", !page.Shown()
			if l.Closed {
				break
			}
			questions, err := c.Rules.Cases.ListQuestions(ctx, page.Service)
			if err != nil {
				return nil, err
			}
			for _, element := range page.Case.Answers {
				l.Answers = append(l.Answers, readAnswer(element, questions))
			}
			for _, a := range page.Case.Appointments {
				l.Wishes = append(l.Wishes, formatWish(a))
			}
		}
		list = append(list, l)
	}
	return list, nil
}

// revealCase opens who the person is and what they wrote: answers and wished times may hold anything.
func revealCase(c *Console, r *request) (answer, error) {
	one, _, err := c.Rules.Cases.GetCase(r.Context(), cyber.CaseID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	return c.recordReveal(r, c.referenceOf(one.Partner, one.User), redirect{to: joinPath("cases", string(one.ID))})
}

// readAnswer puts an element of a request into words; a question that is named by its id is shown by its text.
func readAnswer(element string, questions []cyber.Question) asked {
	var members map[string]any
	if err := json.Unmarshal([]byte(element), &members); err != nil {
		return asked{JSON: element}
	}
	first := func(names []string) string {
		for _, name := range names {
			switch v := members[name].(type) {
			case string:
				return v
			case float64, bool:
				return fmt.Sprint(v)
			}
		}
		return ""
	}
	a := asked{Question: first(cyber.QuestionMembers), Answer: first(cyber.AnswerMembers)}
	if a.Answer == "" {
		return asked{JSON: indentJSON(element)}
	}
	for _, q := range questions {
		if a.Question == string(q.ID) {
			a.Question = q.Text
		}
	}
	return a
}

// formatWish shows a wished time as people here write times; anything else as it was sent.
func formatWish(element string) string {
	var members struct{ Appointment time.Time }
	if err := json.Unmarshal([]byte(element), &members); err != nil || members.Appointment.IsZero() {
		return indentJSON(element)
	}
	return members.Appointment.In(brazil).Format("02/01/2006 15:04")
}

var moveCaseStatus = changeHandler("case.move", "id", "/cases/{id}", "case.moved",
	func(r *request, in *Rules, id cyber.CaseID) (string, error) {
		to, err := cyber.ParseCaseStatus(r.trimmedField("to"))
		if err != nil {
			return "", err
		}
		_, err = in.Cases.MoveCase(r.Context(), id, to, r.who.Email, "")
		return string(to), err
	})

// endCaseLater makes a final move that can be undone for a while, and goes on with the next case.
func endCaseLater(c *Console, r *request) (answer, error) {
	to, err := cyber.ParseCaseStatus(r.trimmedField("to"))
	if err != nil {
		return nil, err
	}
	id := cyber.CaseID(r.PathValue("id"))
	err = c.changeWithAudit(r, "case.move", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Cases.ScheduleEnd(ctx, id, to, r.who.Email)
		return string(id), string(to), err
	})
	if err != nil {
		return nil, err
	}
	next := joinPath("cases", string(id))
	if r.trimmedField("go") == "next" {
		next, err = c.nextCasePath(r.Context(), r.who.Email, id, cyber.CaseID(r.trimmedField("next")))
		if err != nil {
			return nil, err
		}
		next += "?undo=" + url.QueryEscape(string(id))
	}
	return redirect{next, "case.ending"}, nil
}

// nextCasePath returns the page of the next case of the queue that an operator came from. Where that is not known, or
// is dealt with, it is the most urgent case that waits for the operator, or else one without an owner, or else the
// desk.
func (c *Console) nextCasePath(ctx context.Context, email string, done, queued cyber.CaseID) (string, error) {
	if queued != "" {
		one, _, err := c.Rules.Cases.GetCase(ctx, queued)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return "", err
		}
		if err == nil && one.ID != done && one.Status.Open() && one.Ending.At.IsZero() {
			return joinPath("cases", string(one.ID)), nil
		}
	}
	for _, f := range []cyber.LaneFilter{{Assignee: email, Limit: perLane}, {Unassigned: true, Limit: perLane}} {
		waiting, err := c.Rules.Cases.ListLane(ctx, f)
		if err != nil {
			return "", err
		}
		for _, one := range waiting.Cases {
			if one.ID != done && one.Ending.At.IsZero() && one.Status != cyber.CaseWaiting {
				return joinPath("cases", string(one.ID)), nil
			}
		}
	}
	return "/cases", nil
}

// undoCaseEnd takes back a final move.
var undoCaseEnd = changeHandler("case.undo", "id", "/cases/{id}", "case.undone",
	func(r *request, in *Rules, id cyber.CaseID) (string, error) {
		_, err := in.Cases.UndoScheduledEnd(r.Context(), id)
		return "", err
	})

// writeCase keeps a note, or sends a reply to the person.
func writeCase(c *Console, r *request) (answer, error) {
	id := cyber.CaseID(r.PathValue("id"))
	action, done, write := "case.reply", "case.replied", (*cyber.Cases).AddReply
	if r.trimmedField("kind") == "note" {
		action, done, write = "case.note", "case.noted", (*cyber.Cases).AddInternalNote
	}
	next := redirect{joinPath("cases", string(id)), done}
	return c.changeAndRedirect(r, action, next, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := write(in.Cases, ctx, id, r.who.Email, r.trimmedField("text"))
		return string(id), "", err
	})
}

// writingCase hears from the script of a page whether an answer is being written, and says who else writes one. It
// leaves no line in the trail: nothing about the case changes.
func writingCase(c *Console, r *request) (answer, error) {
	id := cyber.CaseID(r.PathValue("id"))
	one, _, err := c.Rules.Cases.GetCase(r.Context(), id)
	if err != nil {
		return nil, err
	}
	if r.trimmedField("typing") == "1" {
		if err := c.Rules.Cases.NoteWriting(r.Context(), id, r.who.Email); err != nil {
			return nil, err
		}
	}
	other := one.OtherWriter(r.who.Email, c.Now())
	if other != "" && c.confined {
		other = theService
	}
	return document{map[string]string{"other": other}}, nil
}

// takeOverCase assigns a case to the operator who asks.
var takeOverCase = changeHandler("case.assign", "id", "/cases/{id}", "case.taken",
	func(r *request, in *Rules, id cyber.CaseID) (string, error) {
		_, err := in.Cases.TakeCase(r.Context(), id, r.who.Email)
		return r.who.Email, err
	})

// movesForPartner returns the history of a case as the partner's people read it, without internal notes. colleagues are
// the partner's own operators.
func movesForPartner(moves []cyber.CaseMove, colleagues []operator.Operator) []cyber.CaseMove {
	own := map[string]bool{}
	for _, o := range colleagues {
		own[o.Email] = true
	}
	var list []cyber.CaseMove
	for _, m := range moves {
		switch {
		case own[m.Actor] || m.Actor == "": // a colleague's, or the person's own
		case m.Kind == cyber.MoveNote:
			continue
		case m.Kind == cyber.MoveStatus:
			m.Actor, m.Note = theService, "" // what was noted with a move is the operator's
		default:
			m.Actor = theService
		}
		list = append(list, m)
	}
	return list
}

// assignCase assigns the case in the path to the operator in the form.
func assignCase(c *Console, r *request) (answer, error) {
	id := cyber.CaseID(r.PathValue("id"))
	if err := c.assignTo(r, id); err != nil {
		return nil, err
	}
	return redirect{joinPath("cases", string(id)), "case.assigned"}, nil
}
