package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

type planCmd struct {
	Create planCreateCmd `cmd:"" help:"Register a plan of a partner."`
	List   planListCmd   `cmd:"" help:"List a partner's plans."`
	Show   planShowCmd   `cmd:"" help:"Show one plan with its coverage."`
	Edit   planEditCmd   `cmd:"" help:"Change a plan."`
	Retire planRetireCmd `cmd:"" help:"Close a plan to new subscriptions; those that exist go on."`
}

type planView struct {
	ID         string          `json:"plan_id"`
	Partner    string          `json:"partner_id"`
	Name       string          `json:"name"`
	Coverage   json.RawMessage `json:"coverage"`
	MaxDevices int             `json:"max_devices"`
	KeyDays    int             `json:"key_days"`
	KeysEnd    bool            `json:"keys_end_with_subscription"`
	Retired    bool            `json:"retired"`
	CreatedAt  string          `json:"created_at"`
}

func viewPlan(p plan.Plan) (planView, error) {
	coverage, err := p.Coverage.JSON()
	return planView{
		ID: string(p.ID), Partner: string(p.Partner), Name: p.Name, Coverage: coverage, MaxDevices: p.MaxDevices, KeyDays: p.KeyDays,
		KeysEnd: p.KeysEndWithSubscription, Retired: p.Retired, CreatedAt: stamp(p.CreatedAt),
	}, err
}

func (o *output) plan(p plan.Plan) error {
	v, err := viewPlan(p)
	if err != nil {
		return err
	}
	return o.print(v, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "Plan         %s\nPartner      %s\nName         %s\nRetired      %t\nMax devices  %s\nKey days     %s\n"+
			"Keys end     %t\nCoverage     %s, R$ %s\n", v.ID, v.Partner, v.Name, v.Retired, orDefault(v.MaxDevices, "no limit"),
			orDefault(v.KeyDays, strconv.Itoa(plan.DefaultKeyDays)), v.KeysEnd, p.Coverage.Plan, p.Coverage.Limit.Decimal())
		for _, t := range p.Coverage.Types {
			_, _ = fmt.Fprintf(w, "  covers     %s\n", t)
		}
		for _, s := range p.Coverage.SubLimits {
			_, _ = fmt.Fprintf(w, "  of that    %s: R$ %s\n", s.Name, s.Limit.Decimal())
		}
		if n := p.Coverage.WaitingDays; n > 0 {
			_, _ = fmt.Fprintf(w, "  waiting    %d days\n", n)
		}
	})
}

func orDefault(n int, zero string) string {
	if n == 0 {
		return zero
	}
	return strconv.Itoa(n)
}

// readCoverage reads a coverage file, or nothing when none was named.
func readCoverage(path string) (plan.Coverage, error) {
	if path == "" {
		return plan.Coverage{}, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return plan.Coverage{}, fmt.Errorf("--coverage: %w", err)
	}
	return plan.ParseCoverage(text)
}

const coverageHelp = "The coverage file is the JSON that partners are answered with, and may carry sub-limits:\n" +
	"  {\"plano\": \"Ouro\", \"limiteCobertura\": 50000, \"tipoCobertura\": [\"Roubo de identidade\"],\n" +
	"   \"condições\": \"...\", \"exclusões\": \"...\", \"sublimites\": [{\"nome\": \"Roubo de identidade\", \"limite\": 10000}]}"

type planCreateCmd struct {
	Partner    string `required:"" placeholder:"ID" help:"The partner's id."`
	ID         string `name:"id" required:"" placeholder:"PLAN" help:"The plan's id, as the partner sends it in plan_id."`
	Name       string `required:"" placeholder:"NAME" help:"The plan's name."`
	Coverage   string `placeholder:"FILE.json" help:"Insurance coverage; without it the plan covers nothing."`
	MaxDevices int    `placeholder:"N" help:"Live antivirus keys a person may have; 0 means no limit."`
	KeyDays    int    `placeholder:"N" help:"Validity of an antivirus key in days; 0 means 365."`
	KeysEnd    bool   `name:"keys-end-with-subscription" help:"End a person's keys when the subscription ends."`
}

// Help shows examples.
func (planCreateCmd) Help() string {
	return coverageHelp + "\n\nExample:\n  vigia plan create --partner pt_... --id ouro --name 'Proteção Ouro' --coverage ouro.json --max-devices 5"
}

// Run registers a plan.
func (p *planCreateCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	coverage, err := readCoverage(p.Coverage)
	if err != nil {
		return err
	}
	return withApp(ctx, c, func(a *app.App) error {
		made, err := a.Plans.Create(ctx, plan.Plan{
			ID: plan.ID(p.ID), Partner: partner.ID(p.Partner), Name: p.Name, Coverage: coverage, MaxDevices: p.MaxDevices,
			KeyDays: p.KeyDays, KeysEndWithSubscription: p.KeysEnd,
		})
		if err != nil {
			return err
		}
		return o.plan(made)
	})
}

type planListCmd struct {
	Partner string `required:"" placeholder:"ID" help:"The partner's id."`
}

// Run lists plans.
func (p *planListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		all, err := a.Plans.List(ctx, partner.ID(p.Partner))
		if err != nil {
			return err
		}
		t := table[planView]{heading: "PLAN\tRETIRED\tLIMIT\tNAME", none: "No plan yet. Make one: vigia plan create --partner ID --id PLAN --name NAME"}
		for _, found := range all {
			v, err := viewPlan(found)
			if err != nil {
				return err
			}
			t.add(v, v.ID, found.Retired, "R$ "+found.Coverage.Limit.Decimal(), found.Name)
		}
		return t.print(o)
	})
}

type planShowCmd struct {
	ID      string `arg:"" name:"plan" help:"The plan's id."`
	Partner string `required:"" placeholder:"ID" help:"The partner's id."`
}

// Run shows a plan.
func (p *planShowCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		found, err := a.Plans.Show(ctx, partner.ID(p.Partner), plan.ID(p.ID))
		if err != nil {
			return err
		}
		return o.plan(found)
	})
}

type planEditCmd struct {
	ID         string  `arg:"" name:"plan" help:"The plan's id."`
	Partner    string  `required:"" placeholder:"ID" help:"The partner's id."`
	Name       *string `placeholder:"NAME" help:"New name."`
	Coverage   string  `placeholder:"FILE.json" help:"New coverage."`
	MaxDevices *int    `placeholder:"N" help:"Live antivirus keys a person may have; 0 means no limit."`
	KeyDays    *int    `placeholder:"N" help:"Validity of an antivirus key in days; 0 means 365."`
	KeysEnd    *bool   `name:"keys-end-with-subscription" negatable:"" help:"End a person's keys when the subscription ends."`
	Open       *bool   `negatable:"" help:"Take new subscriptions again, or not."`
}

// Help shows examples.
func (planEditCmd) Help() string {
	return coverageHelp + "\n\nExample:\n  vigia plan edit ouro --partner pt_... --coverage ouro-2027.json"
}

// Run changes what was given and leaves the rest.
func (p *planEditCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	coverage, err := readCoverage(p.Coverage)
	if err != nil {
		return err
	}
	return withApp(ctx, c, func(a *app.App) error {
		changed, err := a.Plans.Edit(ctx, partner.ID(p.Partner), plan.ID(p.ID), func(q *plan.Plan) {
			set(&q.Name, p.Name)
			set(&q.MaxDevices, p.MaxDevices)
			set(&q.KeyDays, p.KeyDays)
			set(&q.KeysEndWithSubscription, p.KeysEnd)
			if p.Open != nil {
				q.Retired = !*p.Open
			}
			if p.Coverage != "" {
				q.Coverage = coverage
			}
		})
		if err != nil {
			return err
		}
		return o.plan(changed)
	})
}

type planRetireCmd struct {
	ID      string `arg:"" name:"plan" help:"The plan's id."`
	Partner string `required:"" placeholder:"ID" help:"The partner's id."`
}

// Run retires a plan.
func (p *planRetireCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		changed, err := a.Plans.Retire(ctx, partner.ID(p.Partner), plan.ID(p.ID))
		if err != nil {
			return err
		}
		return o.plan(changed)
	})
}
