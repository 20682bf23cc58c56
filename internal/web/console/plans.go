package console

import (
	"context"
	"net/url"
	"strings"

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
	page := plansPage{partnerChoice: c.choosePartner(r)}
	if page.Current.ID != "" {
		page.Plans = callRuleWith(r, c.Rules.Plans.ListPlans, page.Current.ID)
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

// showNewPlan shows the form of a new plan.
func showNewPlan(c *Console, r *request) (answer, error) {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partnerOf(r))
	return view{"plan", "Novo plano", planPage{Partner: p, New: true, Path: joinPath("plans", string(p.ID), "new")}}, nil
}

// showPlanPage shows a plan.
func showPlanPage(c *Console, r *request) (answer, error) {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partnerOf(r))
	one := callRuleWith2(r, c.Rules.Plans.GetPlan, p.ID, plan.ID(r.PathValue("plan")))
	page := planPage{
		Partner: p, Plan: one, Limit: formatReais(one.Coverage.Limit), Types: strings.Join(one.Coverage.Types, "\n"),
		Path: joinPath("plans", string(p.ID), "edit", string(one.ID)),
	}
	page.SubLimits = strings.Join(
		mapList(one.Coverage.SubLimits, func(s plan.SubLimit) string { return s.Name + ": " + formatReais(s.Limit) }),
		"\n",
	)
	return view{"plan", one.Name, page}, nil
}

// parsePlanForm fills a plan from the form.
func parsePlanForm(r *request, p *plan.Plan) {
	limit, err := parseReais("limit", r.trimmedField("limit"))
	r.noteFormError(err)
	p.MaxDevices, p.KeyDays = r.readNumber("max_devices", 0), r.readNumber("key_days", 0)
	p.Name, p.KeysEndWithSubscription = r.trimmedField("name"), r.PostForm.Has("keys_end")
	p.Coverage = plan.Coverage{
		Plan:        r.trimmedField("coverage_plan"),
		Limit:       limit,
		Types:       splitLines(r.trimmedField("types")),
		Conditions:  r.trimmedField("conditions"),
		Exclusions:  r.trimmedField("exclusions"),
		WaitingDays: r.readNumber("waiting_days", 0),
	}
	for _, line := range splitLines(r.trimmedField("sub_limits")) {
		name, amount, _ := strings.Cut(line, ":")
		m, err := parseReais("sub limits", amount)
		r.noteFormError(err)
		p.Coverage.SubLimits = append(p.Coverage.SubLimits, plan.SubLimit{Name: strings.TrimSpace(name), Limit: m})
	}
}

// createPlan creates a plan for the partner in the path, under the id in the form.
func createPlan(c *Console, r *request) (answer, error) {
	p := plan.Plan{ID: plan.ID(r.trimmedField("id")), Partner: partnerOf(r)}
	parsePlanForm(r, &p)
	return c.changeAndRedirect(
		r,
		"plan.create",
		redirect{"/plans?partner=" + url.QueryEscape(string(p.Partner)), "plan.saved"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			made, err := in.Plans.CreatePlan(ctx, p)
			return string(p.Partner), string(made.ID), err
		},
	)
}

// savePlanForm keeps what the form of a plan says.
func savePlanForm(c *Console, r *request) (answer, error) {
	id, name := partnerOf(r), plan.ID(r.PathValue("plan"))
	var given plan.Plan
	parsePlanForm(r, &given)
	return c.changeAndRedirect(
		r,
		"plan.edit",
		redirect{"/plans?partner=" + url.QueryEscape(string(id)), "plan.saved"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			_, err := in.Plans.EditPlan(ctx, id, name, func(p *plan.Plan) {
				given.Retired = !r.PostForm.Has("offered")
				given.ID, given.Partner, given.CreatedAt = p.ID, p.Partner, p.CreatedAt
				*p = given
			})
			return string(id), string(name), err
		},
	)
}
