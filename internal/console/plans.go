package console

import (
	"context"
	"net/url"
	"strconv"
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
	choice, err := c.choosePartner(r)
	if err != nil || choice.Current.ID == "" {
		return view{"plans", "Planos", plansPage{partnerChoice: choice}}, err
	}
	plans, err := c.Rules.Plans.ListPlans(r.Context(), choice.Current.ID)
	return view{"plans", "Planos", plansPage{choice, plans}}, err
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
	p, err := c.Rules.Partners.GetPartner(r.Context(), partner.ID(r.PathValue("partner")))
	return view{"plan", "Novo plano", planPage{Partner: p, New: true, Path: joinPath("plans", string(p.ID), "new")}}, err
}

// showPlanPage shows a plan.
func showPlanPage(c *Console, r *request) (answer, error) {
	p, err := c.Rules.Partners.GetPartner(r.Context(), partner.ID(r.PathValue("partner")))
	if err != nil {
		return nil, err
	}
	one, err := c.Rules.Plans.GetPlan(r.Context(), p.ID, plan.ID(r.PathValue("plan")))
	if err != nil {
		return nil, err
	}
	page := planPage{
		Partner: p, Plan: one, Limit: formatReais(one.Coverage.Limit), Types: strings.Join(one.Coverage.Types, "\n"),
		Path: joinPath("plans", string(p.ID), "edit", string(one.ID)),
	}
	lines := make([]string, len(one.Coverage.SubLimits))
	for i, s := range one.Coverage.SubLimits {
		lines[i] = s.Name + ": " + formatReais(s.Limit)
	}
	page.SubLimits = strings.Join(lines, "\n")
	return view{"plan", one.Name, page}, nil
}

// formatReais writes an amount as people do: 50.000 or 50.000,50.
func formatReais(m plan.Money) string {
	text := groupedNumber(int64(m) / 100)
	if cents := int64(m) % 100; cents != 0 {
		text += "," + strconv.Itoa(int(cents/10)) + strconv.Itoa(int(cents%10))
	}
	return text
}

// parsePlanForm fills a plan from the form.
func parsePlanForm(r *request, p *plan.Plan) {
	limit, err := parseReais("limit", r.trimmedField("limit"))
	r.noteFormError(err)
	p.MaxDevices, p.KeyDays = r.readNumber("max_devices", 0), r.readNumber("key_days", 0)
	p.Name, p.KeysEndWithSubscription = r.trimmedField("name"), r.PostForm.Has("keys_end")
	p.Coverage = plan.Coverage{
		Plan: r.trimmedField("coverage_plan"), Limit: limit, Types: splitLines(r.trimmedField("types")), Conditions: r.trimmedField("conditions"), Exclusions: r.trimmedField("exclusions"),
		WaitingDays: r.readNumber("waiting_days", 0),
	}
	for _, line := range splitLines(r.trimmedField("sub_limits")) {
		name, amount, _ := strings.Cut(line, ":")
		m, err := parseReais("sub limits", amount)
		r.noteFormError(err)
		p.Coverage.SubLimits = append(p.Coverage.SubLimits, plan.SubLimit{Name: strings.TrimSpace(name), Limit: m})
	}
}

// splitLines splits a text area, without empty lines.
func splitLines(text string) []string {
	list := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// createPlan creates a plan for the partner in the path, under the id in the form.
func createPlan(c *Console, r *request) (answer, error) {
	p := plan.Plan{ID: plan.ID(r.trimmedField("id")), Partner: partner.ID(r.PathValue("partner"))}
	parsePlanForm(r, &p)
	return c.changeAndRedirect(r, "plan.create", redirect{"/plans?partner=" + url.QueryEscape(string(p.Partner)), "plan.saved"}, func(ctx context.Context, in *Rules) (string, string, error) {
		made, err := in.Plans.CreatePlan(ctx, p)
		return string(p.Partner), string(made.ID), err
	})
}

// savePlanForm keeps what the form of a plan says.
func savePlanForm(c *Console, r *request) (answer, error) {
	id, name := partner.ID(r.PathValue("partner")), plan.ID(r.PathValue("plan"))
	var given plan.Plan
	parsePlanForm(r, &given)
	return c.changeAndRedirect(r, "plan.edit", redirect{"/plans?partner=" + url.QueryEscape(string(id)), "plan.saved"}, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Plans.EditPlan(ctx, id, name, func(p *plan.Plan) {
			given.Retired = !r.PostForm.Has("offered")
			given.ID, given.Partner, given.CreatedAt = p.ID, p.Partner, p.CreatedAt
			*p = given
		})
		return string(id), string(name), err
	})
}
