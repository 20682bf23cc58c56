package main

import (
	"context"
	"encoding/json"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// planCmd groups the commands on plans.
type planCmd struct {
	Create planCreateCmd `cmd:"" help:"Register a plan of a partner."`
	List   planListCmd   `cmd:"" help:"List a partner's plans."`
	Show   planShowCmd   `cmd:"" help:"Show one plan with its coverage."`
	Edit   planEditCmd   `cmd:"" help:"Change a plan."`
	Retire planRetireCmd `cmd:"" help:"Close a plan to new subscriptions; those that exist go on."`
}

// viewPlan returns a plan as a record of output.
func viewPlan(p plan.Plan) (record, error) {
	coverage, err := p.Coverage.MarshalCoverage()
	return newRecord(
		"plan_id", p.ID,
		"partner_id", p.Partner,
		"name", p.Name,
		"coverage", json.RawMessage(coverage),
		"max_devices", p.MaxDevices,
		"key_days", p.KeyDays,
		"keys_end_with_subscription", p.KeysEndWithSubscription,
		"watch", p.Watch,
		"retired", p.Retired,
		"created_at", p.CreatedAt,
	), err
}

// showPlan prints what a command made of a plan.
func (o *output) showPlan(p plan.Plan, err error) error {
	if err != nil {
		return err
	}
	view, err := viewPlan(p)
	if err != nil {
		return err
	}
	return o.showRecord(view)
}

// readCoverage reads a coverage file, or nothing when none was named.
func readCoverage(path string) (plan.Coverage, error) {
	if path == "" {
		return plan.Coverage{}, nil
	}
	text, err := readNamedFile(path)
	if err != nil {
		return plan.Coverage{}, err
	}
	return plan.ParseCoverage(text)
}

// coverageHelp explains the file of --coverage; create and edit both show it.
const coverageHelp = "The coverage file is the JSON that partners are answered with, and may carry sub-limits:\n" +
	"  {\"plano\": \"Ouro\", \"limiteCobertura\": 50000, \"tipoCobertura\": [\"Roubo de identidade\"],\n" +
	"   \"condições\": \"...\", \"exclusões\": \"...\", \"sublimites\": [{\"nome\": \"Roubo de identidade\", " +
	"\"limite\": 10000}]}"

// planCreateCmd is 'vigia plan create'. Without a file of coverage the plan covers nothing.
type planCreateCmd struct {
	Partner    partner.ID `required:"" placeholder:"ID" help:"The partner's id."`
	ID         plan.ID    `arg:"" name:"plan" help:"The plan's id, as the partner sends it in plan_id."`
	Name       string     `required:"" placeholder:"NAME" help:"The plan's name."`
	Coverage   string     `placeholder:"FILE.json" help:"Insurance coverage; without it the plan covers nothing."`
	MaxDevices int        `placeholder:"N" help:"Live antivirus keys a person may have; 0 means no limit, --max-devices=-1 that the plan includes none."`
	KeyDays    int        `placeholder:"N" help:"Validity of an antivirus key in days; 0 means 365."`
	KeysEnd    bool       `name:"keys-end-with-subscription" help:"End a person's keys when the subscription ends."`
	Watch      plan.Watch `placeholder:"KINDS" help:"Watch the e-mail, CPF and phone that subscriptions name: email,cpf,phone or some of them; unless given, nothing."`
}

func (planCreateCmd) Help() string {
	return coverageHelp + "\n\nExamples:\n" +
		"  vigia plan create ouro --partner pt_... --name 'Proteção Ouro' --coverage ouro.json " +
		"--watch email,cpf,phone\n" +
		"  vigia plan create seguro --partner pt_... --name 'Só o seguro' --coverage seguro.json --max-devices=-1"
}

func (p *planCreateCmd) Run(ctx context.Context, a *app.App, o *output) error {
	coverage, err := readCoverage(p.Coverage)
	if err != nil {
		return err
	}
	return o.showPlan(a.Plans.CreatePlan(ctx, plan.Plan{
		ID:                      p.ID,
		Partner:                 p.Partner,
		Name:                    p.Name,
		Coverage:                coverage,
		MaxDevices:              p.MaxDevices,
		KeyDays:                 p.KeyDays,
		KeysEndWithSubscription: p.KeysEnd,
		Watch:                   p.Watch,
	}))
}

// planListCmd is 'vigia plan list', retired plans included.
type planListCmd struct {
	Partner partner.ID `required:"" placeholder:"ID" help:"The partner's id."`
}

func (p *planListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if _, err := a.Partners.PartnerByID(ctx, p.Partner); err != nil {
		return err
	}
	all, err := a.Plans.ListPlans(ctx, p.Partner)
	if err != nil {
		return err
	}
	rows := make([]record, len(all))
	for i, found := range all {
		if rows[i], err = viewPlan(found); err != nil {
			return err
		}
	}
	return o.listRecords(
		rows,
		"No plan yet. Make one: vigia plan create PLAN --partner ID --name NAME",
		"plan_id",
		"retired",
		"max_devices",
		"key_days",
		"watch",
		"name",
	)
}

// planArg names a plan.
type planArg struct {
	ID      plan.ID    `arg:"" name:"plan" help:"The plan's id."`
	Partner partner.ID `required:"" placeholder:"ID" help:"The partner's id."`
}

// planShowCmd is 'vigia plan show'.
type planShowCmd struct{ planArg }

func (p *planShowCmd) Run(ctx context.Context, a *app.App, o *output) error {
	return o.showPlan(a.Plans.GetPlan(ctx, p.Partner, p.ID))
}

// planEditCmd is 'vigia plan edit'. A flag that is not given leaves its setting as it is.
type planEditCmd struct {
	planArg
	Name       *string     `placeholder:"NAME" help:"New name."`
	Coverage   string      `placeholder:"FILE.json" help:"New coverage."`
	MaxDevices *int        `placeholder:"N" help:"Live antivirus keys a person may have; 0 means no limit, --max-devices=-1 that the plan includes none."`
	KeyDays    *int        `placeholder:"N" help:"Validity of an antivirus key in days; 0 means 365."`
	KeysEnd    *bool       `name:"keys-end-with-subscription" negatable:"" help:"End a person's keys when the subscription ends."`
	Watch      *plan.Watch `placeholder:"KINDS" help:"What to watch of new subscriptions: email,cpf,phone; empty: nothing."`
	Open       *bool       `negatable:"" help:"Take new subscriptions again, or not."`
}

func (planEditCmd) Help() string {
	return coverageHelp + "\n\nExample:\n  vigia plan edit ouro --partner pt_... --coverage ouro-2027.json"
}

// Run changes what was given and leaves the rest.
func (p *planEditCmd) Run(ctx context.Context, a *app.App, o *output) error {
	coverage, err := readCoverage(p.Coverage)
	if err != nil {
		return err
	}
	return o.showPlan(a.Plans.EditPlan(ctx, p.Partner, p.ID, func(q *plan.Plan) {
		setIfGiven(&q.Name, p.Name)
		setIfGiven(&q.MaxDevices, p.MaxDevices)
		setIfGiven(&q.KeyDays, p.KeyDays)
		setIfGiven(&q.KeysEndWithSubscription, p.KeysEnd)
		setIfGiven(&q.Watch, p.Watch)
		if p.Open != nil {
			q.Retired = !*p.Open
		}
		if p.Coverage != "" {
			q.Coverage = coverage
		}
	}))
}

// planRetireCmd is 'vigia plan retire', which closes a plan to new subscriptions. Those that exist go on.
type planRetireCmd struct{ planArg }

func (p *planRetireCmd) Run(ctx context.Context, a *app.App, o *output) error {
	return o.showPlan(a.Plans.RetirePlan(ctx, p.Partner, p.ID))
}
