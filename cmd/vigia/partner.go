package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
)

type partnerCmd struct {
	Create       partnerCreateCmd       `cmd:"" help:"Register a partner; its key and salt are shown once."`
	List         partnerListCmd         `cmd:"" help:"List all partners."`
	Show         partnerShowCmd         `cmd:"" help:"Show one partner."`
	Suspend      partnerSuspendCmd      `cmd:"" help:"Turn all keys of a partner off; nothing is lost."`
	Resume       partnerResumeCmd       `cmd:"" help:"Undo suspend."`
	Set          partnerSetCmd          `cmd:"" help:"Change a partner's name or settings."`
	GrantLooks   partnerGrantLooksCmd   `cmd:"" help:"Let more new values of a partner be looked up in past breaches, for onboarding."`
	ReleaseLooks partnerReleaseLooksCmd `cmd:"" help:"Let first looks of a partner go on that the brake stopped."`
	Theme        partnerThemeCmd        `cmd:"" help:"How the pages of a partner's people look."`
}

// partnerView is a partner as machines read it.
type partnerView struct {
	ID          string `json:"partner_id"`
	Name        string `json:"name"`
	Mode        string `json:"mode"`
	Suspended   bool   `json:"suspended"`
	Rate        int    `json:"rate_per_second"`
	Burst       int    `json:"burst"`
	DefaultPlan string `json:"default_plan"`
	MaskCards   bool   `json:"mask_cards"`
	// Sites are hosts of the partner's own.
	Sites   []string `json:"sites"`
	Watched []string `json:"watched_sites"`
	// FirstLooks is how many new values may be looked up in past breaches in an hour; 0 where the default holds.
	FirstLooks int `json:"first_looks_per_hour"`
	// SandboxOf is the live partner that this is the sandbox of.
	SandboxOf string `json:"sandbox_of,omitempty"`

	CreatedAt string `json:"created_at"`
}

func viewPartner(p partner.Partner) partnerView {
	rate, burst := p.Settings.Rate()
	return partnerView{
		ID: string(p.ID), Name: p.Name, Mode: string(p.Mode), Suspended: p.Suspended, Rate: rate, Burst: burst,
		DefaultPlan: p.Settings.DefaultPlan, MaskCards: p.Settings.MaskCards, Sites: append([]string{}, p.Settings.SiteList()...), Watched: append([]string{}, p.Settings.WatchedList()...), CreatedAt: stamp(p.CreatedAt),
		FirstLooks: p.Settings.FirstLooksPerHour, SandboxOf: string(p.Settings.SandboxOf),
	}
}

func (o *output) partner(p partner.Partner) error {
	v := viewPartner(p)
	return o.print(v, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "Partner       %s\nName          %s\nMode          %s\nSuspended     %t\nRate          %d/s, burst %d\n"+
			"Default plan  %s\nMask cards    %t\nSites         %s\nWatched       %s\nFirst looks   %s an hour\nCreated       %s\n",
			v.ID, v.Name, v.Mode, v.Suspended, v.Rate, v.Burst, v.DefaultPlan, v.MaskCards, strings.Join(v.Sites, ", "), strings.Join(v.Watched, ", "),
			orDefault(v.FirstLooks, "200"), v.CreatedAt)
	})
}

type partnerCreateCmd struct {
	Name      string `required:"" placeholder:"NAME" help:"The partner's name."`
	Sandbox   bool   `help:"A partner that tries the service out: made-up documents are accepted and nothing meets real corpora."`
	Rate      int    `placeholder:"N" help:"Requests a second; 0 means 200."`
	Burst     int    `placeholder:"N" help:"Requests at once; 0 means twice the rate."`
	MaskCards bool   `help:"Answer card numbers with all but the last four digits hidden."`
}

// Help shows examples.
func (partnerCreateCmd) Help() string {
	return "Examples:\n  vigia partner create --name 'Banco Exemplo'\n  vigia partner create --name Testes --sandbox --json"
}

// Run creates a partner.
func (p *partnerCreateCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		mode := partner.Live
		if p.Sandbox {
			mode = partner.Sandbox
		}
		made, cred, err := a.Partners.Create(ctx, p.Name, mode,
			partner.Settings{RatePerSecond: p.Rate, Burst: p.Burst, MaskCards: p.MaskCards})
		if err != nil {
			return err
		}
		view := struct {
			partnerView
			APIKey string `json:"api_key"`
			Salt   string `json:"salt"`
		}{viewPartner(made), cred.APIKey, cred.Salt}
		return o.print(view, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "Partner  %s (%s, %s)\nAPI key  %s\nSalt     %s\n\n"+
				"The key and the salt are shown this once: the service keeps a digest of the one and seals the other.\n",
				made.ID, made.Name, made.Mode, cred.APIKey, cred.Salt)
		})
	})
}

type partnerListCmd struct{}

// Run lists the partners.
func (partnerListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		all, err := a.Partners.Partners(ctx)
		if err != nil {
			return err
		}
		t := table[partnerView]{heading: "PARTNER\tMODE\tSUSPENDED\tCREATED\tNAME", none: "No partner yet. Make one: vigia partner create --name NAME"}
		for _, p := range all {
			v := viewPartner(p)
			t.add(v, v.ID, v.Mode, v.Suspended, v.CreatedAt, v.Name)
		}
		return t.print(o)
	})
}

type partnerShowCmd struct {
	ID string `arg:"" name:"partner" help:"The partner's id."`
}

// Run shows a partner.
func (p *partnerShowCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		found, err := a.Partners.Partner(ctx, partner.ID(p.ID))
		if err != nil {
			return err
		}
		return o.partner(found)
	})
}

type partnerSuspendCmd struct {
	ID string `arg:"" name:"partner" help:"The partner's id."`
}

// Run suspends a partner.
func (p *partnerSuspendCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		changed, err := a.Partners.Suspend(ctx, partner.ID(p.ID))
		if err != nil {
			return err
		}
		return o.partner(changed)
	})
}

type partnerResumeCmd struct {
	ID string `arg:"" name:"partner" help:"The partner's id."`
}

// Run resumes a partner.
func (p *partnerResumeCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		changed, err := a.Partners.Resume(ctx, partner.ID(p.ID))
		if err != nil {
			return err
		}
		return o.partner(changed)
	})
}

type partnerSetCmd struct {
	ID                string  `arg:"" name:"partner" help:"The partner's id."`
	Name              *string `placeholder:"NAME" help:"New name."`
	Rate              *int    `placeholder:"N" help:"Requests a second; 0 means 200."`
	Burst             *int    `placeholder:"N" help:"Requests at once; 0 means twice the rate."`
	DefaultPlan       *string `placeholder:"PLAN" help:"Plan that covers people without a subscription; '' means none."`
	MaskCards         *bool   `negatable:"" help:"Answer card numbers with all but the last four digits hidden."`
	FirstLooksPerHour *int    `placeholder:"N" help:"New values that are looked up in past breaches in an hour; 0 means 200."`
	SandboxOf         *string `placeholder:"PARTNER" help:"The live partner whose people may switch to this sandbox partner in the console; '' means none."`
	// Site replaces the list.
	Site []string `placeholder:"HOST" help:"Hosts of the partner's own, in place of those before; '' means none. A stolen credential for one is critical."`
	// WatchSite replaces the list.
	WatchSite []string `placeholder:"HOST" help:"Hosts of others to watch for the partner, in place of those before; '' means none. Everybody whose credential for one was taken is told."`
}

// Help shows examples.
func (partnerSetCmd) Help() string {
	return "Example:\n  vigia partner set pt_... --rate 500 --mask-cards\n  vigia partner set pt_... --site banco.com.br --site app.banco.com.br"
}

// Run changes what was given and leaves the rest.
func (p *partnerSetCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		changed, err := a.Partners.Change(ctx, partner.ID(p.ID), func(q *partner.Partner) {
			set(&q.Name, p.Name)
			set(&q.Settings.RatePerSecond, p.Rate)
			set(&q.Settings.Burst, p.Burst)
			set(&q.Settings.DefaultPlan, p.DefaultPlan)
			set(&q.Settings.MaskCards, p.MaskCards)
			set(&q.Settings.FirstLooksPerHour, p.FirstLooksPerHour)
			if p.SandboxOf != nil {
				q.Settings.SandboxOf = partner.ID(*p.SandboxOf)
			}
			if p.Site != nil {
				q.Settings.Sites = partner.JoinSites(p.Site)
			}
			if p.WatchSite != nil {
				q.Settings.WatchedSites = partner.JoinSites(p.WatchSite)
			}
		})
		if err != nil {
			return err
		}
		return o.partner(changed)
	})
}

type partnerGrantLooksCmd struct {
	ID    string `arg:"" name:"partner" help:"The partner's id."`
	Count int64  `required:"" placeholder:"N" help:"How many more first looks."`
}

// Run grants first looks.
func (p *partnerGrantLooksCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		if err := a.FirstLooks.Grant(ctx, partner.ID(p.ID), p.Count); err != nil {
			return err
		}
		return o.firstLooks(ctx, a, partner.ID(p.ID))
	})
}

type partnerReleaseLooksCmd struct {
	ID string `arg:"" name:"partner" help:"The partner's id."`
}

// Run releases first looks.
func (p *partnerReleaseLooksCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		if err := a.FirstLooks.Release(ctx, partner.ID(p.ID)); err != nil {
			return err
		}
		return o.firstLooks(ctx, a, partner.ID(p.ID))
	})
}

// firstLooks prints how a partner stands with its first looks.
func (o *output) firstLooks(ctx context.Context, a *app.App, id partner.ID) error {
	p, err := a.Partners.Partner(ctx, id)
	if err != nil {
		return err
	}
	l, err := a.FirstLooks.Status(ctx, id, p.Settings)
	if err != nil {
		return err
	}
	v := struct {
		ID      string `json:"partner_id"`
		Left    int64  `json:"left"`
		Granted int64  `json:"granted"`
		Waiting int64  `json:"waiting"`
		Until   string `json:"until"`
		Stopped bool   `json:"stopped"`
	}{string(id), l.Left(), l.Granted, l.Waiting, stamp(l.Until), l.Stop.Stopped()}
	return o.print(v, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "Partner  %s\nLeft     %d first looks, %d of them granted\nWaiting  %d values\nUntil    %s\nStopped  %t\n", v.ID, v.Left, v.Granted, v.Waiting, v.Until, v.Stopped)
	})
}

// set takes a flag over when it was given.
func set[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}
