package console

import (
	"context"
	"net/url"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// findingsPage is the data of the list of findings; people returns the path of a person's page.
type findingsPage struct {
	people   func(partner.ID, partner.UserHash) string
	List     listView
	Findings []cyber.Found
	Names    map[partner.ID]string
}

// Person returns the path of the page about the person that a finding concerns.
func (p findingsPage) Person(f cyber.Found) string { return p.people(f.OwnerOfValue()) }

var resolutionOptions = []choiceOption{
	{string(cyber.ResolvedPasswordChanged), "Senha trocada"},
	{string(cyber.ResolvedAccountClosed), "Conta encerrada"},
	{string(cyber.ResolvedCardReplaced), "Cartão substituído"},
	{string(cyber.ResolvedNotMe), "Não é desta pessoa"},
	{string(cyber.ResolvedOther), "Outro motivo"},
}

// listFindings shows one page of findings of the partners that the operator may see.
func listFindings(c *Console, r *request) (answer, error) {
	all, err := c.visiblePartners(r.Context(), r.viewer)
	if err != nil {
		return nil, err
	}
	f, err := c.parseFilter(r, &findingsList, all)
	if err != nil {
		return nil, err
	}
	page, err := c.gatherFindings(r.Context(), r.viewer, f, all)
	if err != nil {
		return nil, err
	}
	return view{"findings", "Ocorrências", page}, nil
}

func (c *Console) gatherFindings(
	ctx context.Context, who viewer, f filter, all []partner.Partner,
) (findingsPage, error) {
	found, next, err := f.readFindings(ctx, &c.Rules, perPage)
	if err != nil {
		return findingsPage{}, err
	}
	now, err := c.figuresNow(ctx)
	if err != nil {
		return findingsPage{}, err
	}
	counts := map[string]int64{
		"":         now[operator.FindingsOpen],
		"open":     now[operator.FindingsOpen],
		"resolved": now[operator.FindingsResolved],
		"all":      now[operator.FindingsOpen] + now[operator.FindingsResolved],
	}
	total := f.totalUnlessFiltered(counts[f.valueOfName("state")], "state")
	part := listPart{partners: all, shown: len(found), next: next, total: total}
	list, err := c.newListView(ctx, who, &findingsList, f, part)
	names := partnerChoice{All: all}.namesByID()
	return findingsPage{people: c.personPath, List: list, Findings: found, Names: names}, err
}

// resolveFinding closes a finding for the reason in the form and returns to the list, or to the person's page.
func resolveFinding(c *Console, r *request) (answer, error) {
	found, err := c.findingOf(r)
	if err != nil {
		return nil, err
	}
	id, user := found.OwnerOfValue()
	reason := r.trimmedField("resolution")
	next := redirect{"/findings", "finding.resolved"}
	if r.PostForm.Has("person") {
		next.to = c.personPath(id, user)
	}
	resolve := func(ctx context.Context, in *Rules) (string, string, error) {
		err := in.Monitoring.ResolveFinding(ctx, id, user, found.Finding.ID, reason)
		return string(found.Finding.ID), reason, err
	}
	return c.changeAndRedirect(r, "finding.resolve", next, resolve)
}

// findingPage is one finding and what the person is to do about it.
type findingPage struct {
	cyber.Found
	Plan        cyber.Plan
	Steps       []stepLine
	Classes     []string
	Person      string
	PartnerName string
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
	return view{"finding", "Ocorrência", page}, nil
}

func (c *Console) gatherFinding(ctx context.Context, found cyber.Found) (findingPage, error) {
	id, user := found.OwnerOfValue()
	p, err := c.Rules.Partners.GetPartner(ctx, id)
	if err != nil {
		return findingPage{}, err
	}
	plan, err := c.Rules.Monitoring.GetFindingPlan(ctx, id, user, found.Finding.ID)
	if err != nil {
		return findingPage{}, err
	}
	return findingPage{
		Found:       found,
		Plan:        plan,
		Steps:       stepLines(plan, c.Now()),
		Classes:     exposedLabels(found.Finding.Breach.Exposes),
		Person:      c.personPath(id, user),
		PartnerName: p.Name,
	}, nil
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

// findingPath returns the path of a finding's page.
func findingPath(f cyber.Found) string {
	return joinPath("findings", string(f.Asset.Partner), string(f.Finding.ID))
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
