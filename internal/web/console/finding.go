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
	Explained   explained
	// Name is the masked name of the person; empty when the partner did not enrol them.
	Name string
	// State is where it stands; empty while nothing was done.
	State badge
}

// Title names the finding by the worst that leaked, and by the leak.
func (p findingPage) Title() string { return titleOfFinding(p.Finding) }

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
		lines[i] = stepLine{
			PlannedStep: s,
			What:        s.What(partner.Portuguese),
			Why:         s.Why(partner.Portuguese),
			Late:        p.Finding.Open() && s.State == cyber.StepTodo && now.After(s.Due),
		}
		if u, err := url.Parse(s.Link); err == nil {
			lines[i].Site = u.Host
		}
	}
	return lines
}

// findingOf reads which finding an address names.
func (c *Console) findingOf(r *request) (cyber.Found, error) {
	return c.Rules.Review.FindingByID(r.Context(), partnerOf(r), cyber.FindingID(r.PathValue("finding")))
}

// showFinding shows a finding with its plan. Each look is recorded in the audit trail.
func showFinding(c *Console, r *request) (answer, error) {
	found, err := c.findingOf(r)
	if err != nil {
		return nil, err
	}
	page, err := c.gatherFinding(r.Context(), found)
	if err != nil {
		return nil, err
	}
	if err := c.recordAction(r, "finding.view", string(found.Finding.ID), ""); err != nil {
		return nil, err
	}
	return view{"finding", page.Title(), page}, nil
}

func (c *Console) gatherFinding(ctx context.Context, found cyber.Found) (findingPage, error) {
	id, user := found.OwnerOfValue()
	p, err := c.Rules.Partners.PartnerByID(ctx, id)
	if err != nil {
		return findingPage{}, err
	}
	plan, err := c.Rules.Monitoring.GetFindingPlan(ctx, id, user, found.Finding.ID)
	if err != nil {
		return findingPage{}, err
	}
	names, err := c.namesOfOwners(ctx, []cyber.Asset{found.Asset})
	if err != nil {
		return findingPage{}, err
	}
	told, err := c.explainFinding(ctx, found)
	if err != nil {
		return findingPage{}, err
	}
	state := stateOfFinding(plan, c.Now())
	if state == untouched { // the form beside it says so
		state = badge{}
	}
	return findingPage{
		Explained:   told,
		Name:        names[found.Asset.ID],
		State:       state,
		Found:       found,
		Plan:        plan,
		Steps:       stepLines(plan, c.Now()),
		Classes:     exposedLabels(found.Finding.Breach.Exposes),
		Person:      c.personPath(id, user),
		PartnerName: p.Name,
	}, nil
}

// findingPath returns the path of a finding's page.
func findingPath(f cyber.Found) string {
	return joinPath("findings", f.Asset.Partner, f.Finding.ID)
}

// markFindingStep records what a person told an attendant about a step.
func markFindingStep(c *Console, r *request) (answer, error) {
	found, err := c.findingOf(r)
	if err != nil {
		return nil, err
	}
	step, state := cyber.StepID(r.PathValue("step")), cyber.StepState(r.trimmedField("state"))
	next := redirect{findingPath(found), "finding.step"}
	return c.changeAndRedirect(r, "finding.step", next, func(ctx context.Context, in *Rules) (string, string, error) {
		id, user := found.OwnerOfValue()
		_, err := in.Monitoring.MarkPlanStep(ctx, id, user, found.Finding.ID, step, state)
		return string(found.Finding.ID), string(step) + " " + string(state), err
	})
}

// retractFinding takes one finding back: it was never true of the person. It stays in no figure but that of what was
// retracted, and the reason in the audit trail.
func retractFinding(c *Console, r *request) (answer, error) {
	found, err := c.findingOf(r)
	if err != nil {
		return nil, err
	}
	why, err := parseReason(r)
	if err != nil {
		return nil, err
	}
	next := redirect{findingPath(found), "finding.retracted"}
	retract := func(ctx context.Context, in *Rules) (string, string, error) {
		id, user := found.OwnerOfValue()
		return string(found.Finding.ID), why, in.Monitoring.RetractFinding(ctx, id, user, found.Finding.ID)
	}
	return c.changeAndRedirect(r, "finding.retract", next, retract)
}

// recheckFinding resolves a finding whose steps are done.
func recheckFinding(c *Console, r *request) (answer, error) {
	found, err := c.findingOf(r)
	if err != nil {
		return nil, err
	}
	var now cyber.Rechecked
	err = c.changeWithAudit(r, "finding.recheck", func(ctx context.Context, in *Rules) (string, string, error) {
		id, user := found.OwnerOfValue()
		var err error
		now, err = in.Monitoring.RecheckFinding(ctx, id, user, found.Finding.ID)
		return string(found.Finding.ID), string(now.Finding.Resolution), err
	})
	if err != nil {
		return nil, err
	}
	if now.Finding.Open() {
		return redirect{findingPath(found), "finding.left"}, nil
	}
	return redirect{findingPath(found), "finding.resolved"}, nil
}
