package console

import (
	"context"
	"net/url"
	"strings"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// plansPage is the data of the list of a partner's plans.
type plansPage struct {
	partnerChoice
	Plans []plan.Plan
}

// listPlans shows the plans of the chosen partner; without a partner only the choice of one.
func listPlans(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	if err != nil {
		return nil, err
	}
	page := plansPage{partnerChoice: choice}
	if page.Current.ID != "" {
		page.Plans, err = c.Rules.Plans.ListPlans(r.Context(), page.Current.ID)
		if err != nil {
			return nil, err
		}
	}
	return view{"plans", "Planos", page}, nil
}

// planPage is the form of a plan, new or not.
type planPage struct {
	Partner partner.Partner
	plan.Plan
	New bool
	// Limit and SubLimits are as people write them.
	Limit, SubLimits, Types string
	Path                    string
}

func showNewPlan(c *Console, r *request) (answer, error) {
	p, err := c.partnerInPath(r)
	if err != nil {
		return nil, err
	}
	page := planPage{Partner: p, New: true, Path: joinPath("plans", p.ID, "new")}
	return view{"plan", "Novo plano", page}, nil
}

func showPlanPage(c *Console, r *request) (answer, error) {
	page, err := c.gatherPlan(r.Context(), partnerOf(r), plan.ID(r.PathValue("plan")))
	return newView("plan", page.Name, page, err)
}

func (c *Console) gatherPlan(ctx context.Context, id partner.ID, name plan.ID) (planPage, error) {
	p, err := c.Rules.Partners.PartnerByID(ctx, id)
	if err != nil {
		return planPage{}, err
	}
	one, err := c.Rules.Plans.GetPlan(ctx, p.ID, name)
	if err != nil {
		return planPage{}, err
	}
	subLimits := make([]string, len(one.Coverage.SubLimits))
	for i, s := range one.Coverage.SubLimits {
		subLimits[i] = s.Name + ": " + formatReais(s.Limit)
	}
	return planPage{
		Partner:   p,
		Plan:      one,
		Limit:     formatReais(one.Coverage.Limit),
		SubLimits: strings.Join(subLimits, "\n"),
		Types:     strings.Join(one.Coverage.Types, "\n"),
		Path:      joinPath("plans", p.ID, "edit", one.ID),
	}, nil
}

// watchChoice is a kind of value that a plan can watch.
type watchChoice struct {
	Kind      identifier.Kind
	Label     string
	IsWatched bool
}

// WatchChoices returns what the form offers to watch.
func (p planPage) WatchChoices() []watchChoice {
	list := make([]watchChoice, len(plan.WatchedKinds))
	for i, k := range plan.WatchedKinds {
		list[i] = watchChoice{Kind: k, Label: kindWords[k], IsWatched: p.Watch.HasKind(k)}
	}
	return list
}

// watchText names in Portuguese what is watched.
func watchText(w plan.Watch) string {
	var labels []string
	for _, k := range w.ListKinds() {
		labels = append(labels, kindWords[k])
	}
	if len(labels) == 0 {
		return "nada"
	}
	return strings.Join(labels, ", ")
}

func (f *formReader) readPlan(p *plan.Plan) {
	limit, err := parseReais("limit", f.trimmedField("limit"))
	f.noteFault(err)
	p.Name = f.trimmedField("name")
	p.MaxDevices = f.readNumber("max_devices", 0)
	p.KeyDays = f.readNumber("key_days", 0)
	p.KeysEndWithSubscription = f.PostForm.Has("keys_end")
	watch, err := plan.ParseWatch(strings.Join(f.PostForm["watch"], ","))
	f.noteFault(err)
	p.Watch = watch
	p.Coverage = plan.Coverage{
		Plan:        f.trimmedField("coverage_plan"),
		Limit:       limit,
		Types:       splitLines(f.trimmedField("types")),
		Conditions:  f.trimmedField("conditions"),
		Exclusions:  f.trimmedField("exclusions"),
		WaitingDays: f.readNumber("waiting_days", 0),
	}
	for _, line := range splitLines(f.trimmedField("sub_limits")) {
		name, amount, _ := strings.Cut(line, ":")
		m, err := parseReais("sub limits", amount)
		f.noteFault(err)
		p.Coverage.SubLimits = append(p.Coverage.SubLimits, plan.SubLimit{Name: strings.TrimSpace(name), Limit: m})
	}
}

// createPlan creates a plan for the partner in the path, under the id in the form.
func createPlan(c *Console, r *request) (answer, error) {
	form := newFormReader(r)
	p := plan.Plan{ID: plan.ID(r.trimmedField("id")), Partner: partnerOf(r)}
	form.readPlan(&p)
	next := redirect{"/plans?partner=" + url.QueryEscape(string(p.Partner)), "plan.saved"}
	return c.changeAndRedirect(r, "plan.create", next, func(ctx context.Context, in *Rules) (string, string, error) {
		made, err := in.Plans.CreatePlan(ctx, p)
		return string(p.Partner), string(made.ID), form.joinFaults(err)
	})
}

// savePlanForm keeps what the form of a plan says.
func savePlanForm(c *Console, r *request) (answer, error) {
	id, name := partnerOf(r), plan.ID(r.PathValue("plan"))
	form := newFormReader(r)
	var given plan.Plan
	form.readPlan(&given)
	next := redirect{"/plans?partner=" + url.QueryEscape(string(id)), "plan.saved"}
	return c.changeAndRedirect(r, "plan.edit", next, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Plans.EditPlan(ctx, id, name, func(p *plan.Plan) {
			given.Retired = !r.PostForm.Has("offered")
			given.ID, given.Partner, given.CreatedAt = p.ID, p.Partner, p.CreatedAt
			*p = given
		})
		return string(id), string(name), form.joinFaults(err)
	})
}
