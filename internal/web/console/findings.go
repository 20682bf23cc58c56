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
	all := c.visiblePartners(r)
	f := c.parseFilter(r, &findingsList, all)
	page := findingsPage{people: c.personPath, Names: partnerChoice{All: all}.namesByID()}
	found, next := callRulePair2(r, f.readFindings, &c.Rules, perPage)
	page.Findings = found
	now := c.figuresNow(r)
	counts := map[string]int64{
		"":         now[operator.FindingsOpen],
		"open":     now[operator.FindingsOpen],
		"resolved": now[operator.FindingsResolved],
	}
	counts["all"] = counts["open"] + counts["resolved"]
	page.List = c.newListView(
		r,
		&findingsList,
		f,
		all,
		len(found),
		next,
		f.totalUnlessFiltered(counts[f.valueOfName("state")], "state"),
	)
	return view{"findings", "Ocorrências", page}, nil
}

// resolveFinding closes a finding for the reason in the form and returns to the list, or to the person's page.
func resolveFinding(c *Console, r *request) (answer, error) {
	found := c.findingOf(r)
	to := "/findings"
	if r.PostForm.Has("person") {
		to = c.personPath(found.OwnerOfValue())
	}
	return c.changeAndRedirect(r, "finding.resolve", redirect{to, "finding.resolved"}, func(ctx context.Context, in *Rules) (string, string, error) {
		id, user := found.OwnerOfValue()
		return string(found.Finding.ID), r.trimmedField("resolution"), in.Monitoring.ResolveFinding(ctx, id, user, found.Finding.ID, r.trimmedField("resolution"))
	})
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
func (c *Console) findingOf(r *request) cyber.Found {
	return callRuleWith2(r, c.Rules.Review.FindingByID, partnerOf(r), cyber.FindingID(r.PathValue("finding")))
}

// showFinding shows a finding with its plan. Each look is recorded in the audit trail.
func showFinding(c *Console, r *request) (answer, error) {
	found := c.findingOf(r)
	id, user := found.OwnerOfValue()
	p := callRuleWith(r, c.Rules.Partners.GetPartner, id)
	plan := callRuleWith3(r, c.Rules.Monitoring.GetFindingPlan, id, user, found.Finding.ID)
	c.recordAction(r, "finding.view", string(found.Finding.ID), "")
	return view{"finding", "Ocorrência", findingPage{
		Found: found, Plan: plan, Steps: stepLines(plan, c.Now()), Classes: exposedLabels(found.Finding.Breach.Exposes), Person: c.personPath(id, user),
		PartnerName: p.Name,
	}}, nil
}

// markFindingStep records what a person told an attendant about a step.
func markFindingStep(c *Console, r *request) (answer, error) {
	found := c.findingOf(r)
	step, state := r.PathValue("step"), r.trimmedField("state")
	return c.changeAndRedirect(
		r,
		"finding.step",
		redirect{joinPath("findings", string(found.Asset.Partner), string(found.Finding.ID)), "finding.step"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			id, user := found.OwnerOfValue()
			_, err := in.Monitoring.MarkPlanStep(
				ctx,
				id,
				user,
				found.Finding.ID,
				cyber.StepID(step),
				cyber.StepState(state),
			)
			return string(found.Finding.ID), step + " " + state, err
		},
	)
}

// recheckFinding resolves a finding whose steps are done.
func recheckFinding(c *Console, r *request) (answer, error) {
	found := c.findingOf(r)
	var now cyber.Rechecked
	c.changeWithAudit(r, "finding.recheck", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		id, user := found.OwnerOfValue()
		now, err = in.Monitoring.RecheckFinding(ctx, id, user, found.Finding.ID)
		return string(found.Finding.ID), string(now.Finding.Resolution), err
	})
	said := "finding.resolved"
	if now.Finding.Open() {
		said = "finding.left"
	}
	return redirect{joinPath("findings", string(found.Asset.Partner), string(found.Finding.ID)), said}, nil
}
