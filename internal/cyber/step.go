package cyber

import (
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// StepID names a step of the catalogue.
type StepID string

// Step is something that a person can do about a finding, as the catalogue holds it.
type Step struct {
	ID StepID `yaml:"id"`
	// Link is the official page where it is done; empty when there is no one page.
	Link string `yaml:"link"`
	// Minutes is how long it takes, Days how soon after the finding it should be done.
	Minutes int `yaml:"minutes"`
	Days    int `yaml:"days"`
	// Essential steps mend what leaked: without them the finding is not solved. The others make the next one less
	// likely.
	Essential bool `yaml:"essential"`
	// Mends is what the finding is resolved as once the step is done; empty for a step that says nothing of that.
	Mends Resolution                    `yaml:"mends"`
	Texts map[partner.Language]stepText `yaml:"texts"`
	When  stepCondition                 `yaml:",inline"`
}

// within is how soon after the finding the step should be done.
func (s *Step) within() time.Duration { return time.Duration(s.Days) * 24 * time.Hour }

// stepText is a step in one language: Title in a few words, What in full. Perhaps is why where it is not known that the
// person's own record held the class.
type stepText struct {
	Title   string `yaml:"title"`
	What    string `yaml:"what"`
	Why     string `yaml:"why"`
	Perhaps string `yaml:"perhaps"`
}

// stepCondition says which findings a step is for: any of what it lists is enough.
type stepCondition struct {
	Always  bool              `yaml:"always"`
	Exposes []Exposed         `yaml:"exposes"`
	Assets  []identifier.Kind `yaml:"assets"`
	Sources []SourceKind      `yaml:"sources"`
	// Unless are classes beside which the step is not needed.
	Unless []Exposed `yaml:"unless"`
	// Certain asks that the class stood in the person's own record.
	Certain bool `yaml:"certain"`
}

// StepState is what a person said of a step.
type StepState string

// The states. A step of which nothing was said is to be done.
const (
	StepTodo    StepState = "todo"
	StepDone    StepState = "done"
	StepSkipped StepState = "skipped"
)

// IsKnown reports whether it is one of the states: see sqldb.Enumerated.
func (s StepState) IsKnown() bool {
	switch s {
	case StepTodo, StepDone, StepSkipped:
		return true
	}
	return false
}

// StepMark is what was said of a step of a finding.
type StepMark struct {
	Finding FindingID
	Step    StepID
	State   StepState
	At      time.Time
}

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

// holdsFor reports whether a finding is one that the step is for, and whether that is known of the person's own record.
// Of made-up data and spam lists nothing but care follows.
func (c *stepCondition) holdsFor(f *Finding) (fits, certain bool) {
	switch {
	case c.Always:
		return true, true
	case f.Breach.isDoubtful(), f.Breach.Has(c.Unless...):
		return false, false
	case slices.Contains(c.Sources, f.Breach.Kind), slices.Contains(c.Assets, f.Kind):
		return true, true
	case f.Basis() == BasisRow && f.Breach.Has(c.Exposes...), slices.Contains(c.Exposes, exposedClass(f.Kind)):
		return true, true
	}
	return !c.Certain && f.Breach.Has(c.Exposes...), false
}

// exposedClass returns the class of data that a watched value is itself: where it was found, it stood. Empty for a kind
// without one.
func exposedClass(k identifier.Kind) Exposed {
	switch k {
	case identifier.Email:
		return ExposedEmail
	case identifier.CPF:
		return ExposedCPF
	case identifier.Phone:
		return ExposedPhone
	case identifier.Card:
		return ExposedCard
	default:
		return ""
	}
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

// Reminder is what a person is to be reminded of now, and when to look again; a zero Next means never.
type Reminder struct {
	Due  []PlannedStep
	Next time.Time
}

// ReminderOf decides which steps of a plan to remind of, each once, when it becomes due between since and now. There
// are no reminders for a finding that is closed or that the person was never alerted to.
func ReminderOf(p Plan, since, now time.Time) (r Reminder) {
	if !p.Finding.Open() || p.Finding.Quiet {
		return r
	}
	for _, s := range p.Steps {
		switch at := s.reminderTime(); {
		case at.After(now):
			if r.Next.IsZero() || at.Before(r.Next) {
				r.Next = at
			}
		case !at.Before(since) && s.State == StepTodo:
			r.Due = append(r.Due, s)
		}
	}
	return r
}

// FirstReminder returns when to look at a new finding for the first time; zero: never.
func FirstReminder(f Finding) time.Time {
	return ReminderOf(NewFindingPlan(f, nil), f.planStart(), f.planStart()).Next
}
