package main

import (
	"context"
	"errors"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// partnerCmd groups the commands on partners.
type partnerCmd struct {
	Create     partnerCreateCmd     `cmd:"" help:"Register a partner; its key and salt are shown once."`
	List       partnerListCmd       `cmd:"" help:"List all partners."`
	Show       partnerShowCmd       `cmd:"" help:"Show one partner."`
	Suspend    partnerSuspendCmd    `cmd:"" help:"Turn all keys of a partner off; nothing is lost."`
	Resume     partnerResumeCmd     `cmd:"" help:"Undo suspend."`
	Set        partnerSetCmd        `cmd:"" help:"Change a partner's name or settings."`
	Share      partnerShareCmd      `cmd:"" help:"Bound or reserve what a partner takes of antivirus keys and appointments."`
	GrantLooks partnerGrantLooksCmd `cmd:"" help:"Let more new values of a partner be looked up in past breaches, beyond what its size gives."`
}

// viewPartner returns a partner as a record of output, with the limits in force in place of zeros.
func viewPartner(p partner.Partner) record {
	rate, burst := p.Settings.RateLimit()
	return newRecord(
		"partner_id", p.ID,
		"name", p.Name,
		"mode", p.Mode,
		"suspended", p.Suspended,
		"rate_per_second", rate,
		"burst", burst,
		"default_plan", p.Settings.DefaultPlan,
		"mask_cards", p.Settings.MaskCards,
		"sites", p.Settings.ListSites(),
		"watched_sites", p.Settings.WatchedList(),
		"people", p.Settings.People,
		"first_looks_per_hour", cyber.PaceOf(p.Settings).PerHour,
		"sandbox_of", p.Settings.SandboxOf,
		"created_at", p.CreatedAt,
	)
}

// partnerCreateCmd is 'vigia partner create'. The first key and the salt are printed once.
type partnerCreateCmd struct {
	Name      string `arg:"" name:"name" help:"The partner's name."`
	Sandbox   bool   `help:"A partner that tries the service out: made-up documents are accepted and nothing meets real corpora."`
	People    int    `placeholder:"N" help:"How many people the contract covers, which a live partner must have: lets 3 N values be looked up in past breaches at once, and N/200 more in an hour (at least 200)."`
	Rate      int    `placeholder:"N" help:"Requests a second; 0 means 200."`
	Burst     int    `placeholder:"N" help:"Requests at once; 0 means twice the rate."`
	MaskCards bool   `help:"Answer card numbers with all but the last four digits hidden."`
}

func (partnerCreateCmd) Help() string {
	return "Examples:\n  vigia partner create 'Banco Exemplo' --people 200000\n  vigia partner create Testes " +
		"--sandbox --json"
}

func (p *partnerCreateCmd) Run(ctx context.Context, a *app.App, o *output) error {
	mode := partner.Live
	if p.Sandbox {
		mode = partner.Sandbox
	}
	settings := partner.Settings{RatePerSecond: p.Rate, Burst: p.Burst, MaskCards: p.MaskCards, People: p.People}
	if err := (partner.Partner{Mode: mode, Settings: settings}).CheckSize(); err != nil {
		return err
	}
	made, cred, err := a.Partners.CreatePartner(ctx, p.Name, mode, settings)
	if err != nil {
		return err
	}
	shown := viewPartner(made).withPairs("api_key", cred.APIKey, "salt", cred.Salt)
	err = o.showRecord(shown,
		"The key and the salt are shown this once: the service keeps a digest of the one and seals the other.")
	return errors.Join(err, recordNewKey(ctx, a, cred.Key))
}

// partnerListCmd is 'vigia partner list', suspended partners included.
type partnerListCmd struct{}

func (partnerListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Partners.ListPartners(ctx)
	if err != nil {
		return err
	}
	return o.listRecords(
		makeRecords(found, viewPartner),
		"No partner yet. Make one: vigia partner create NAME",
		"partner_id",
		"mode",
		"suspended",
		"created_at",
		"name",
	)
}

// partnerArg names a partner.
type partnerArg struct {
	ID partner.ID `arg:"" name:"partner" help:"The partner's id."`
}

// partnerShowCmd is 'vigia partner show', which shows the settings in force and no secrets.
type partnerShowCmd struct{ partnerArg }

func (p *partnerShowCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Partners.PartnerByID(ctx, p.ID)
	if err != nil {
		return err
	}
	return o.showRecord(viewPartner(found))
}

// partnerSuspendCmd is 'vigia partner suspend', which turns all keys of a partner off. Its data stay.
type partnerSuspendCmd struct {
	partnerArg
	confirmFlag
}

func (partnerSuspendCmd) Help() string {
	return "Shows which keys stop working and asks before it does so.\n\nExamples:\n  vigia partner suspend pt_...\n" +
		"  vigia partner suspend pt_... --yes --json"
}

func (p *partnerSuspendCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Partners.PartnerByID(ctx, p.ID)
	if err != nil {
		return err
	}
	if found.Suspended {
		return o.showRecord(viewPartner(found))
	}
	keys, err := a.Partners.ListKeys(ctx, p.ID)
	if err != nil {
		return err
	}
	var live []string
	for _, key := range keys {
		if key.IsLiveAt(a.Now()) {
			live = append(live, key.Preview)
		}
	}
	about := newRecord("partner_id", found.ID, "name", found.Name, "keys_turned_off", live)
	if err := p.confirm(o, "Refuse every request of this partner until 'vigia partner resume'?", about); err != nil {
		return err
	}
	if found, err = a.Partners.SuspendPartner(ctx, p.ID); err != nil {
		return err
	}
	return o.showRecord(viewPartner(found))
}

// partnerResumeCmd is 'vigia partner resume', which undoes suspend.
type partnerResumeCmd struct{ partnerArg }

func (p *partnerResumeCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Partners.ResumePartner(ctx, p.ID)
	if err != nil {
		return err
	}
	return o.showRecord(viewPartner(found))
}
