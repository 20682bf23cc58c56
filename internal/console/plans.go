package console

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

type plansPage struct {
	partnerChoice
	Plans []plan.Plan
}

func listPlans(c *Console, r *request) (answer, error) {
	choice, err := c.choose(r)
	if err != nil || choice.Current.ID == "" {
		return view{"plans", "Planos", plansPage{partnerChoice: choice}}, err
	}
	plans, err := c.Rules.Plans.List(r.Context(), choice.Current.ID)
	if err != nil {
		return nil, err
	}
	return view{"plans", "Planos", plansPage{choice, plans}}, nil
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

func newPlan(c *Console, r *request) (answer, error) {
	p, err := c.Rules.Partners.Partner(r.Context(), partner.ID(r.PathValue("partner")))
	if err != nil {
		return nil, err
	}
	return view{"plan", "Novo plano", planPage{Partner: p, New: true, Path: at("plans", string(p.ID), "new")}}, nil
}

func showPlan(c *Console, r *request) (answer, error) {
	p, err := c.Rules.Partners.Partner(r.Context(), partner.ID(r.PathValue("partner")))
	if err != nil {
		return nil, err
	}
	one, err := c.Rules.Plans.Show(r.Context(), p.ID, plan.ID(r.PathValue("plan")))
	if err != nil {
		return nil, err
	}
	page := planPage{
		Partner: p, Plan: one, Limit: reais(one.Coverage.Limit), Types: strings.Join(one.Coverage.Types, "\n"),
		Path: at("plans", string(p.ID), "edit", string(one.ID)),
	}
	lines := make([]string, len(one.Coverage.SubLimits))
	for i, s := range one.Coverage.SubLimits {
		lines[i] = s.Name + ": " + reais(s.Limit)
	}
	page.SubLimits = strings.Join(lines, "\n")
	return view{"plan", one.Name, page}, nil
}

// reais writes an amount as people do: 50.000 or 50.000,50.
func reais(m plan.Money) string {
	text := number(int64(m) / 100)
	if cents := int64(m) % 100; cents != 0 {
		text += "," + strconv.Itoa(int(cents/10)) + strconv.Itoa(int(cents%10))
	}
	return text
}

// planOf fills a plan from the form.
func planOf(r *request, p *plan.Plan) error {
	limit, err := parseReais("limit", r.text("limit"))
	if err != nil {
		return err
	}
	p.Name, p.KeysEndWithSubscription = r.text("name"), r.PostForm.Has("keys_end")
	p.Coverage = plan.Coverage{
		Plan: r.text("coverage_plan"), Limit: limit, Types: lines(r.text("types")), Conditions: r.text("conditions"), Exclusions: r.text("exclusions"),
	}
	for _, line := range lines(r.text("sub_limits")) {
		name, amount, _ := strings.Cut(line, ":")
		m, err := parseReais("sub limits", amount)
		if err != nil {
			return err
		}
		p.Coverage.SubLimits = append(p.Coverage.SubLimits, plan.SubLimit{Name: strings.TrimSpace(name), Limit: m})
	}
	for _, f := range []struct {
		name string
		to   *int
	}{{"max_devices", &p.MaxDevices}, {"key_days", &p.KeyDays}, {"waiting_days", &p.Coverage.WaitingDays}} {
		*f.to = 0
		if text := r.text(f.name); text != "" {
			n, ok := parseWhole(text)
			if !ok {
				return plan.ErrInvalid.With(f.name, fault.WholeNumber)
			}
			*f.to = n
		}
	}
	return nil
}

// lines splits a text area, without empty lines.
func lines(text string) []string {
	list := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

func createPlan(c *Console, r *request) (answer, error) {
	p := plan.Plan{ID: plan.ID(r.text("id")), Partner: partner.ID(r.PathValue("partner"))}
	if err := planOf(r, &p); err != nil {
		return nil, err
	}
	err := c.change(r, "plan.create", func(ctx context.Context, in *Rules) (string, string, error) {
		made, err := in.Plans.Create(ctx, p)
		return string(p.Partner), string(made.ID), err
	})
	if err != nil {
		return nil, err
	}
	return redirect{"/plans?partner=" + url.QueryEscape(string(p.Partner)), "plan.saved"}, nil
}

func savePlan(c *Console, r *request) (answer, error) {
	id, name := partner.ID(r.PathValue("partner")), plan.ID(r.PathValue("plan"))
	var given plan.Plan
	if err := planOf(r, &given); err != nil {
		return nil, err
	}
	err := c.change(r, "plan.edit", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Plans.Edit(ctx, id, name, func(p *plan.Plan) {
			given.Retired = !r.PostForm.Has("offered")
			given.ID, given.Partner, given.CreatedAt = p.ID, p.Partner, p.CreatedAt
			*p = given
		})
		return string(id), string(name), err
	})
	if err != nil {
		return nil, err
	}
	return redirect{"/plans?partner=" + url.QueryEscape(string(id)), "plan.saved"}, nil
}
