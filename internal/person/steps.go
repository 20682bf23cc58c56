package person

import (
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// A page names so many pieces of advice, the most urgent: more is not read on a phone.
const mostAdvice = 12

// stepsPage is what to do next.
type stepsPage struct {
	Plan planView
	// At is where the step stood that was just ticked; -1 when none was.
	At     int
	Advice []adviceView
	More   int
}

// adviceView is an item of the catalogue as the page shows it, with its question if it asks one.
type adviceView struct {
	ID, Title, Body string
	// Language is what its texts are written in.
	Language partner.Language
	Alert    bool
	Question string
	Options  []choice
}

// showSteps shows the steps against all findings together, and the advice of the catalogue.
func showSteps(p *Pages, r *request) (answer, error) {
	page := stepsPage{At: -1}
	var err error
	if page.Plan, err = p.mergePlans(r); err != nil {
		return nil, err
	}
	if at, err := strconv.Atoi(r.URL.Query().Get("at")); err == nil {
		page.At = at
	}
	list, err := p.Rules.Persons.InLanguage(r.lang).ListAdvice(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	for i, a := range list {
		if i >= mostAdvice {
			page.More = len(list) - i
			break
		}
		v := adviceView{ID: string(a.Item.ID), Language: languageOf(a.Item.Language), Title: a.Title, Body: a.Body, Alert: a.Item.Type == cyber.ContentAlert}
		if q := a.Item.Question; q != nil {
			v.Question = q.Text
			for _, o := range q.Options {
				v.Options = append(v.Options, choice{o.Value, o.Label})
			}
		}
		page.Advice = append(page.Advice, v)
	}
	return view{"steps", "steps.title", page}, nil
}

// answerQuestion stores the person's answer to a question of the catalogue.
func answerQuestion(p *Pages, r *request) (answer, error) {
	err := p.Rules.Persons.SaveAnswer(r.Context(), r.who.ID, r.session.User, cyber.ContentID(r.trimmedField("item")), r.trimmedField("value"))
	return redirect{"/p/steps", "answered"}, err
}
