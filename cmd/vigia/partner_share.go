package main

import (
	"context"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// partnerShareCmd is 'vigia partner share', which keeps one partner from taking all keys or appointments.
type partnerShareCmd struct {
	partnerArg
	Of      string `required:"" enum:"android,ios,windows,macos,appointments" help:"What is shared: antivirus keys of android, ios, windows or macos, or appointments."`
	Quota   *int64 `placeholder:"N" help:"How many the partner may take in all; 0 means half while there are several live partners."`
	Reserve *int64 `placeholder:"N" help:"How many keys of the pool are kept for the partner, those it took included."`
}

func (partnerShareCmd) Help() string {
	return "Examples:\n  vigia partner share pt_... --of android --quota 5000 --reserve 1000\n  vigia partner share " +
		"pt_... --of appointments --quota 40"
}

// Run sets a share and shows all of the partner's.
func (p *partnerShareCmd) Run(ctx context.Context, a *app.App, o *output) error {
	of := cyber.SlotResource
	if p.Of != "appointments" {
		of = cyber.PoolResource(cyber.System(p.Of))
	}
	if p.Quota != nil || p.Reserve != nil {
		if err := a.Endpoints.UpdateShare(ctx, p.ID, of, p.Quota, p.Reserve); err != nil {
			return err
		}
	}
	shares, err := a.Endpoints.ListShares(ctx)
	if err != nil {
		return err
	}
	var rows []record
	for _, s := range shares {
		if s.Partner == p.ID {
			rows = append(rows, newRecord("of", s.Resource, "used", s.Used, "quota", s.Quota, "reserved", s.Reserved))
		}
	}
	return o.listRecords(rows, "The partner has no share of its own.")
}

// partnerGrantLooksCmd is 'vigia partner grant-looks', for the time when a partner brings its customers.
type partnerGrantLooksCmd struct {
	partnerArg
	Count int64 `required:"" placeholder:"N" help:"How many more first looks."`
}

func (p *partnerGrantLooksCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if err := a.FirstLooks.GrantLooks(ctx, p.ID, p.Count); err != nil {
		return err
	}
	return o.firstLooks(ctx, a, p.ID)
}

// firstLooks prints how many first looks a partner has left.
func (o *output) firstLooks(ctx context.Context, a *app.App, id partner.ID) error {
	p, err := a.Partners.PartnerByID(ctx, id)
	if err != nil {
		return err
	}
	l, err := a.FirstLooks.LookStatus(ctx, id, p.Settings)
	if err != nil {
		return err
	}
	return o.showRecord(newRecord(
		"partner_id", id,
		"left", l.Left,
		"granted", l.Granted,
		"waiting", l.Waiting,
		"overdue", l.Overdue,
		"until", l.Until,
		"stopped", l.Pace.IsStopped(),
	))
}
