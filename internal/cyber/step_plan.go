package cyber

import (
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// PlannedStep is a step of one finding's plan.
type PlannedStep struct {
	*Step
	State StepState
	// MarkedAt is when the state was said; zero for a step of which nothing was.
	MarkedAt time.Time
	// Due is when it should be done at the latest.
	Due time.Time
	// certain says that the step follows from the person's own record, and not from the breach as a whole.
	certain bool
	breach  string
}

// Title says in a few words what to do.
func (s PlannedStep) Title(in partner.Language) string { return s.Texts[in].Title }

// What says what to do.
func (s PlannedStep) What(in partner.Language) string { return s.fillText(s.Texts[in].What) }

// Why says why, and only what is known: where the person's own record is not, the step is for what may have been in it.
func (s PlannedStep) Why(in partner.Language) string {
	text := s.Texts[in]
	if !s.certain && text.Perhaps != "" {
		return s.fillText(text.Perhaps)
	}
	return s.fillText(text.Why)
}

// fillText puts the names of site and breach into a text.
func (s PlannedStep) fillText(text string) string {
	return strings.ReplaceAll(text, breachBlank, s.breach)
}

// isRemaining reports whether the step still keeps the finding from being solved. Skipping is not enough for an
// essential step: the leak has not been mended then.
func (s PlannedStep) isRemaining() bool {
	return s.State == StepTodo || s.Essential && s.State != StepDone
}

// reminderTime returns when the person is reminded of the step: the day before it is due, and of a short deadline at
// half time.
func (s PlannedStep) reminderTime() time.Time { return s.Due.Add(-min(24*time.Hour, s.within()/2)) }

// Plan is what to do about one finding, in order.
type Plan struct {
	Finding Finding
	Steps   []PlannedStep
}

// NewFindingPlan makes the plan of a finding from the catalogue and what was said of its steps; marks of other findings
// and of steps that are not in it are passed over, and the last that was said of one counts.
func NewFindingPlan(f Finding, marks []StepMark) Plan {
	p := Plan{Finding: f}
	steps := firstSteps()
	for i := range steps {
		s := &steps[i]
		fits, certain := s.When.holdsFor(&f)
		if !fits {
			continue
		}
		one := PlannedStep{
			Step:    s,
			State:   StepTodo,
			Due:     f.planStart().Add(s.within()),
			certain: certain,
			breach:  f.Breach.Title,
		}
		for _, m := range marks {
			if m.Finding != f.ID || m.Step != s.ID {
				continue
			}
			if one.State, one.MarkedAt = m.State, m.At; m.State == StepTodo {
				one.MarkedAt = time.Time{}
			}
		}
		p.Steps = append(p.Steps, one)
	}
	return p
}

// planStart returns when deadlines begin to run.
func (f *Finding) planStart() time.Time {
	if f.RenewedAt.IsZero() {
		return f.FoundAt
	}
	return f.RenewedAt
}

// Step returns one of the plan's steps.
func (p Plan) Step(id StepID) (PlannedStep, bool) {
	i := slices.IndexFunc(p.Steps, func(s PlannedStep) bool { return s.ID == id })
	if i < 0 {
		return PlannedStep{}, false
	}
	return p.Steps[i], true
}

// Remaining returns the steps without which the finding is not solved; none once it is closed.
func (p Plan) Remaining() []PlannedStep {
	if !p.Finding.Open() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Steps), func(s PlannedStep) bool { return !s.isRemaining() })
}

// Done counts the steps that are done.
func (p Plan) Done() (n int) {
	for _, s := range p.Steps {
		if s.State == StepDone {
			n++
		}
	}
	return n
}

// resolution returns what the finding is resolved as by the steps that are done.
func (p Plan) resolution() Resolution {
	for _, s := range p.Steps {
		if s.State == StepDone && s.Mends != "" {
			return s.Mends
		}
	}
	return ResolvedOther
}
