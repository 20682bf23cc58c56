package person

import (
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// planSummary is how far a person has come with one finding.
type planSummary struct {
	ID, Breach string
	Done, All  int
	// Next is the first thing still to do; empty when there is none.
	Next string
	Due  time.Time
	Late bool
}

// mostPlans is how many findings the page of steps names, those first whose deadline is nearest.
const mostPlans = 10

func (p *Pages) plans(r *request) ([]planSummary, error) {
	plans, err := p.Rules.Monitoring.Plans(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	var list []planSummary
	for _, plan := range plans {
		if !plan.Finding.Open() || len(plan.Steps) == 0 {
			continue
		}
		s := planSummary{ID: string(plan.Finding.ID), Breach: plan.Finding.Breach.Title, Done: plan.Done(), All: len(plan.Steps)}
		for _, step := range plan.Steps {
			if step.State == cyber.StepTodo {
				s.Next, s.Due, s.Late = step.What(r.lang), step.Due, step.Due.Before(p.Now())
				break
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// planPage is what to do about one finding.
type planPage struct {
	planSummary
	Open  bool
	Steps []stepView
}

type stepView struct {
	ID, What, Why, Link string
	Minutes             int
	Due                 time.Time
	Done, Skipped, Late bool
	Essential           bool
}

func showPlan(p *Pages, r *request) (answer, error) {
	plan, err := p.Rules.Monitoring.Plan(r.Context(), r.who.ID, r.session.User, cyber.FindingID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	page := planPage{
		planSummary: planSummary{ID: string(plan.Finding.ID), Breach: plan.Finding.Breach.Title, Done: plan.Done(), All: len(plan.Steps)},
		Open:        plan.Finding.Open(),
	}
	for _, s := range plan.Steps {
		page.Steps = append(page.Steps, stepView{
			ID: string(s.ID), What: s.What(r.lang), Why: s.Why(r.lang), Link: s.Link, Minutes: s.Minutes, Due: s.Due, Essential: s.Essential,
			Done: s.State == cyber.StepDone, Skipped: s.State == cyber.StepSkipped, Late: s.State == cyber.StepTodo && s.Due.Before(p.Now()),
		})
	}
	return view{"plan", "plan.title", page}, nil
}

// markStep keeps a tick and looks at the finding again: with the last one it is solved.
func markStep(p *Pages, r *request) (answer, error) {
	finding := cyber.FindingID(r.PathValue("id"))
	plan, err := p.Rules.Monitoring.MarkStep(r.Context(), r.who.ID, r.session.User, finding, cyber.StepID(r.PathValue("step")), cyber.StepState(r.text("state")))
	if err != nil {
		return nil, err
	}
	if len(plan.Remaining()) > 0 {
		return redirect{"/p/steps/" + string(finding), "ticked"}, nil
	}
	after, err := p.Rules.Monitoring.Recheck(r.Context(), r.who.ID, r.session.User, finding)
	if err != nil {
		return nil, err
	}
	if after.Finding.Open() {
		return redirect{"/p/steps/" + string(finding), "ticked"}, nil
	}
	return redirect{"/p/steps/" + string(finding), "solved"}, nil
}
