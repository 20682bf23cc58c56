package console

import (
	"context"
	"net/url"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// findingPage is one finding and what the person is to do about it.
type findingPage struct {
	cyber.Found
	Plan        cyber.Plan
	Steps       []stepLine
	Classes     []string
	Person      string
	PartnerName string
	Reasons     []choiceOption
}

// stepLine is a step of the plan as an attendant reads it out.
type stepLine struct {
	cyber.PlannedStep
	What, Why string
	// Site is whose page the link leads to.
	Site string
	Late bool
}

// stepLines returns the lines of a plan, in the operators' language.
func stepLines(p cyber.Plan, now time.Time) []stepLine {
	lines := make([]stepLine, len(p.Steps))
	for i, s := range p.Steps {
		lines[i] = stepLine{PlannedStep: s, What: s.What(partner.Portuguese), Why: s.Why(partner.Portuguese), Late: p.Finding.Open() && s.State == cyber.StepTodo && now.After(s.Due)}
		if u, err := url.Parse(s.Link); err == nil {
			lines[i].Site = u.Host
		}
	}
	return lines
}

// findingOf reads which finding an address names.
func (c *Console) findingOf(r *request) (cyber.Found, error) {
	return c.Rules.Review.FindingByID(r.Context(), partner.ID(r.PathValue("partner")), cyber.FindingID(r.PathValue("finding")))
}

// showFinding shows a finding with its plan. Each look is recorded in the audit trail.
func showFinding(c *Console, r *request) (answer, error) {
	found, err := c.findingOf(r)
	if err != nil {
		return nil, err
	}
	id, user := found.OwnerOfValue()
	p, err := c.Rules.Partners.GetPartner(r.Context(), id)
	if err != nil {
		return nil, err
	}
	plan, err := c.Rules.Monitoring.GetFindingPlan(r.Context(), id, user, found.Finding.ID)
	if err != nil {
		return nil, err
	}
	if err := c.recordAction(r, "finding.view", string(found.Finding.ID), ""); err != nil {
		return nil, err
	}
	return view{"finding", "Ocorrência", findingPage{
		Found: found, Plan: plan, Steps: stepLines(plan, c.Now()), Classes: exposedLabels(found.Finding.Breach.Exposes), Person: c.personPath(id, user),
		PartnerName: p.Name, Reasons: resolutionOptions,
	}}, nil
}

// markFindingStep records what a person told an attendant about a step.
func markFindingStep(c *Console, r *request) (answer, error) {
	found, err := c.findingOf(r)
	if err != nil {
		return nil, err
	}
	step, state := r.PathValue("step"), r.trimmedField("state")
	return c.changeAndRedirect(r, "finding.step", redirect{joinPath("findings", string(found.Asset.Partner), string(found.Finding.ID)), "finding.step"}, func(ctx context.Context, in *Rules) (string, string, error) {
		id, user := found.OwnerOfValue()
		_, err := in.Monitoring.MarkPlanStep(ctx, id, user, found.Finding.ID, cyber.StepID(step), cyber.StepState(state))
		return string(found.Finding.ID), step + " " + state, err
	})
}

// recheckFinding resolves a finding whose steps are done.
func recheckFinding(c *Console, r *request) (answer, error) {
	found, err := c.findingOf(r)
	if err != nil {
		return nil, err
	}
	var now cyber.Rechecked
	err = c.changeWithAudit(r, "finding.recheck", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		id, user := found.OwnerOfValue()
		now, err = in.Monitoring.RecheckFinding(ctx, id, user, found.Finding.ID)
		return string(found.Finding.ID), string(now.Finding.Resolution), err
	})
	if err != nil {
		return nil, err
	}
	said := "finding.resolved"
	if now.Finding.Open() {
		said = "finding.left"
	}
	return redirect{joinPath("findings", string(found.Asset.Partner), string(found.Finding.ID)), said}, nil
}
