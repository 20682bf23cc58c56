package cyber

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Faults of plans.
var (
	ErrStepNotFound  = fault.New(fault.NotFound, "step.not_found")
	ErrStepInvalid   = fault.New(fault.Invalid, "step.invalid")
	ErrFindingClosed = fault.New(fault.Conflict, "finding.closed")
)

// PlanStore keeps what people said of the steps of their findings.
type PlanStore interface {
	// ListStepMarks returns all that was said of a person's findings.
	ListStepMarks(ctx context.Context, id partner.ID, user partner.UserHash) ([]StepMark, error)
	// ChangePlan runs change on a finding's plan with the finding locked, and stores what it decides;
	// ErrFindingNotFound when the finding is not the person's. The watched value's status is that after the change.
	ChangePlan(
		ctx context.Context,
		id partner.ID,
		user partner.UserHash,
		finding FindingID,
		change func(Plan) (PlanChange, error),
	) (Rechecked, error)
	// RemindSteps asks about each finding whose time has come, in bounded batches, writes the events and returns how
	// many; each finding is decided on once, whichever replica does it.
	RemindSteps(ctx context.Context, decide func(p Plan, since, now time.Time) Reminder) (int, error)
}

// PlanChange is what becomes of a plan.
type PlanChange struct {
	// Mark is what is said of a step; nil: nothing.
	Mark *StepMark
	// Restate has the value's status computed again; Close resolves the finding, which includes that.
	Restate bool
	Close   Resolution
}

// Rechecked is a plan as it stands, and the status of the value that it is about.
type Rechecked struct {
	Plan
	Status Status
}

// ListPlans returns the plan of each of a person's findings, newest first, closed ones too.
func (m *Monitoring) ListPlans(ctx context.Context, id partner.ID, user partner.UserHash) ([]Plan, error) {
	findings, err := m.store.FindingsOfUser(ctx, id, user)
	if err != nil {
		return nil, err
	}
	marks, err := m.store.ListStepMarks(ctx, id, user)
	if err != nil {
		return nil, err
	}
	plans := make([]Plan, len(findings))
	for i, f := range findings {
		plans[i] = NewFindingPlan(f, marks)
	}
	return plans, nil
}

func (m *Monitoring) GetFindingPlan(
	ctx context.Context, id partner.ID, user partner.UserHash, finding FindingID,
) (Plan, error) {
	plans, err := m.ListPlans(ctx, id, user)
	if err != nil {
		return Plan{}, err
	}
	for _, p := range plans {
		if p.Finding.ID == finding {
			return p, nil
		}
	}
	return Plan{}, ErrFindingNotFound
}

// MarkPlanStep keeps what a person said of a step and returns the plan after it. Saying it again changes nothing.
func (m *Monitoring) MarkPlanStep(
	ctx context.Context, id partner.ID, user partner.UserHash, finding FindingID, step StepID, state StepState,
) (Plan, error) {
	if state != StepTodo && state != StepDone && state != StepSkipped {
		return Plan{}, ErrStepInvalid.With("state", fault.OneOf, "todo, done, skipped")
	}
	kept, err := m.store.ChangePlan(ctx, id, user, finding, func(p Plan) (PlanChange, error) {
		s, ok := p.Step(step)
		switch {
		case !ok:
			return PlanChange{}, ErrStepNotFound.With("step", fault.NotInPlan)
		case !p.Finding.Open():
			return PlanChange{}, ErrFindingClosed.With("id", fault.FindingResolved)
		case s.State == state:
			return PlanChange{}, nil
		}
		return PlanChange{Mark: &StepMark{Finding: p.Finding.ID, Step: step, State: state, At: m.now()}}, nil
	})
	return kept.Plan, err
}

// RecheckFinding looks at a finding again after something was done about it: with no step left it is resolved, and in
// any case the value says what is left.
func (m *Monitoring) RecheckFinding(
	ctx context.Context, id partner.ID, user partner.UserHash, finding FindingID,
) (Rechecked, error) {
	return m.store.ChangePlan(
		ctx,
		id,
		user,
		finding,
		func(p Plan) (PlanChange, error) { return p.decideRecheck(), nil },
	)
}

// decideRecheck decides what becomes of a finding by what was done about it. A closed one stays closed.
func (p Plan) decideRecheck() PlanChange {
	if p.Finding.Open() && len(p.Remaining()) == 0 {
		return PlanChange{Close: p.resolution()}
	}
	return PlanChange{Restate: true}
}

// RemindSteps tells partners of steps whose deadline nears.
func (m *Monitoring) RemindSteps(ctx context.Context) (int, error) {
	return m.store.RemindSteps(ctx, ReminderOf)
}
