package console

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

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

// writeCase keeps a note, or sends a reply to the person.
func writeCase(c *Console, r *request) (answer, error) {
	id := cyber.CaseID(r.PathValue("id"))
	action, done, write := "case.reply", "case.replied", (*cyber.Cases).AddReply
	if r.trimmedField("kind") == "note" {
		action, done, write = "case.note", "case.noted", (*cyber.Cases).AddInternalNote
	}
	next := redirect{joinPath("cases", id), done}
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
