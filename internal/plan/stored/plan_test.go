package stored_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

const coverageText = `{"plano":"Ouro","limiteCobertura":50000.5,"tipoCobertura":["Roubo de identidade"],"condições":"c","exclusões":"e",` +
	`"sublimites":[{"nome":"Roubo de identidade","limite":10000}]}`

func TestCoverageFile(t *testing.T) {
	c, err := plan.ParseCoverage([]byte(coverageText))
	if err != nil {
		t.Fatal(err)
	}
	want := c
	want.Limit, want.Conditions = 50_000_50, "c"
	difftest.Must(t, "the coverage", c, want)
	difftest.Must(t, "its limit for one kind", c.SubLimits[0].Limit, 10_000_00)
	if text, err := c.MarshalCoverage(); err != nil || string(text) != coverageText {
		t.Error(string(text), err)
	}
	for name, text := range map[string]string{
		"a misspelt member":              strings.Replace(coverageText, "condições", "condicoes", 1),
		"three decimals":                 strings.Replace(coverageText, "50000.5", "50000.555", 1),
		"three decimals of a lot":        strings.Replace(coverageText, "50000.5", "942936511611.671", 1),
		"a limit below zero":             strings.Replace(coverageText, "50000.5", "-1", 1),
		"a limit in words":               strings.Replace(coverageText, "50000.5", `"mil"`, 1),
		"a limit beyond all bounds":      strings.Replace(coverageText, "50000.5", "1e300", 1),
		"a sub-limit above the limit":    strings.Replace(coverageText, "10000}", "60000}", 1),
		"no name":                        strings.Replace(coverageText, `"plano":"Ouro"`, `"plano":""`, 1),
		"no limit":                       strings.Replace(coverageText, `"limiteCobertura":50000.5,`, "", 1),
		"not JSON":                       "Ouro",
		"a list":                         "[]",
		"a kind of cover without a name": strings.Replace(coverageText, `["Roubo de identidade"]`, `[""]`, 1),
	} {
		if _, err := plan.ParseCoverage([]byte(text)); !errors.Is(err, plan.ErrInvalid) {
			t.Errorf("%s was accepted: %v", name, err)
		}
	}
}

// TestMoneySurvives writes and reads amounts: not a centavo may be lost on the way through JSON.
func TestMoneySurvives(t *testing.T) {
	survives := func(centavos int64) error {
		c := plan.DemoCoverage()
		c.SubLimits = nil
		c.Limit = plan.Money(centavos)
		text, err := c.MarshalCoverage()
		if err != nil {
			return err
		}
		back, err := plan.ParseCoverage(text)
		if err != nil || back.Limit != c.Limit {
			return fmt.Errorf("%d came back as %d through %s (%w)", c.Limit, back.Limit, text, err)
		}
		return nil
	}
	if err := survives(14_293_651_161_167); err != nil { // was refused as more than two decimals
		t.Error(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		if err := survives(rapid.Int64Range(0, 100_000_000_000_000).Draw(r, "centavos")); err != nil {
			r.Fatal(err)
		}
	})
}

func TestCatalogue(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		other, _ := e.NewPartner(t, partner.Live)
		plans := plan.NewCatalogue(e.Store.Plans, e.Clock.Now)
		made, err := plans.CreatePlan(
			ctx,
			plan.Plan{ID: " ouro ", Partner: p.ID, Name: "Ouro", MaxDevices: 3, Retired: true},
		)
		if err != nil {
			t.Fatal(err)
		}
		want := made
		want.ID, want.Retired, want.Coverage.Plan = "ouro", false, "Ouro"
		difftest.Must(t, "the new plan", made, want)
		if _, err := plans.CreatePlan(ctx, plan.Plan{ID: "ouro", Partner: p.ID, Name: "Outro"}); !errors.Is(err, plan.ErrExists) {
			t.Error(err)
		}
		if _, err := plans.CreatePlan(ctx, plan.Plan{ID: "ouro", Partner: other.ID, Name: "Outro"}); err != nil {
			t.Error("two partners may use one id:", err)
		}
		if _, err := plans.CreatePlan(ctx, plan.Plan{ID: "ouro", Partner: "pt_nobody", Name: "Outro"}); !errors.Is(err, partner.ErrNotFound) {
			t.Error(err)
		}
		for _, bad := range []plan.Plan{
			{ID: "", Name: "x"},
			{ID: "a\nb", Name: "x"},
			{ID: "x"},
			{ID: "x", Name: "x", MaxDevices: plan.NoDevices - 1},
			{ID: "x", Name: "x", KeyDays: 100_000},
			{ID: plan.ID(strings.Repeat("x", 256)), Name: "x"},
		} {
			bad.Partner = p.ID
			if _, err := plans.CreatePlan(ctx, bad); !errors.Is(err, plan.ErrInvalid) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		changed, err := plans.EditPlan(ctx, p.ID, "ouro", func(q *plan.Plan) {
			q.ID, q.Partner, q.Coverage, q.KeyDays, q.KeysEndWithSubscription = "prata", other.ID, plan.DemoCoverage(), 30, true
		})
		if err != nil {
			t.Error(err)
		}
		want = changed
		want.ID, want.Partner = "ouro", p.ID
		difftest.Check(t, "the changed plan", changed, want)
		difftest.Check(t, "how long its keys hold", changed.KeyValidity().Hours(), 30*24)
		before, _ := e.Store.Partners.AccessEpoch(ctx)
		if _, err := plans.RetirePlan(ctx, p.ID, "ouro"); err != nil {
			t.Error(err)
		}
		if after, err := e.Store.Partners.AccessEpoch(ctx); after == before || err != nil {
			t.Error("servers go on with the plan that they remember:", err)
		}
		got, err := plans.GetPlan(ctx, p.ID, "ouro")
		if err != nil {
			t.Error(err)
		}
		want = got
		want.Retired, want.KeysEndWithSubscription, want.MaxDevices = true, true, 3
		want.Coverage.Limit = plan.DemoCoverage().Limit
		difftest.Check(t, "the retired plan", got, want)
		if list, err := plans.ListPlans(ctx, other.ID); err != nil || len(list) != 1 || list[0].Retired {
			t.Error("the other partner's plan is untouched:", list, err)
		}
		if _, err := plans.GetPlan(ctx, p.ID, "prata"); !errors.Is(err, plan.ErrNotFound) {
			t.Error(err)
		}
	})
}
