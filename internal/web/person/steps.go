package person

import (
	"context"
	"slices"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
)

// A page names so many pieces of advice, the most urgent: more is not read on a phone.
const mostAdvice = 12

// stepsPage is what to do next.
type stepsPage struct {
	Plan planView
	// At is where the step stood that was just ticked; -1 when none was.
	At int
	// Ticked is that step, while it can be undone; nil otherwise.
	Ticked *stepView
	Advice []cyber.Advice
	More   int
	// Looks says on which of the person's values the plan rests.
	Looks cyber.PersonLooks
}

// showSteps shows the steps against all findings together, and the advice of the catalogue.
func showSteps(p *Pages, r *request) (answer, error) {
	page, err := p.gatherSteps(r.Context(), r.visitor)
	if err != nil {
		return nil, err
	}
	if at, err := strconv.Atoi(r.URL.Query().Get("at")); err == nil {
		page.At = at
	}
	ticked := r.URL.Query().Get("step")
	if at := slices.IndexFunc(page.Plan.Done, func(s stepView) bool { return s.ID == ticked }); at >= 0 {
		page.Ticked = &page.Plan.Done[at]
	}
	return view{"steps", "steps.title", page}, nil
}

func (p *Pages) gatherSteps(ctx context.Context, v visitor) (stepsPage, error) {
	plan, err := p.mergePlans(ctx, v)
	if err != nil {
		return stepsPage{}, err
	}
	list, looks, err := p.Rules.Persons.InLanguage(v.lang).ListAdvice(ctx, v.who.ID, v.session.User)
	if err != nil {
		return stepsPage{}, err
	}
	more := max(0, len(list)-mostAdvice)
	return stepsPage{Plan: plan, At: -1, Advice: list[:len(list)-more], More: more, Looks: looks}, nil
}

// answerQuestion stores the person's answer to a question of the catalogue.
func answerQuestion(p *Pages, r *request) (answer, error) {
	err := p.Rules.Persons.SaveAnswer(
		r.Context(), r.who.ID, r.session.User, cyber.ContentID(r.trimmedField("item")), r.trimmedField("value"),
	)
	if err != nil {
		return nil, err
	}
	return redirect{"/p/steps", "answered"}, nil
}
