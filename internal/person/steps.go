package person

import (
	"github.com/vigiahq/vigia/internal/cyber"
)

// A page names so many pieces of advice, the most urgent: more is not read on a phone.
const mostAdvice = 12

// stepsPage is what to do next.
type stepsPage struct {
	// Plans are the findings with steps to take.
	Plans  []planSummary
	Advice []adviceView
	More   int
}

type adviceView struct {
	ID, Title, Body string
	Alert           bool
	Question        string
	Options         []choice
}

func showSteps(p *Pages, r *request) (answer, error) {
	list, err := p.Rules.Persons.Advise(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	plans, err := p.plans(r)
	if err != nil {
		return nil, err
	}
	page := stepsPage{Plans: plans[:min(len(plans), mostPlans)]}
	for i, a := range list {
		if i >= mostAdvice {
			page.More = len(list) - i
			break
		}
		v := adviceView{ID: string(a.Item.ID), Title: a.Title, Body: a.Body, Alert: a.Item.Type == cyber.ContentAlert}
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

func answerQuestion(p *Pages, r *request) (answer, error) {
	err := p.Rules.Persons.Answer(r.Context(), r.who.ID, r.session.User, cyber.ContentID(r.text("item")), r.text("value"))
	if err != nil {
		return nil, err
	}
	return redirect{"/p/steps", "answered"}, nil
}
