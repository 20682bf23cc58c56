package main

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
)

// breachCmd groups the commands on breaches.
type breachCmd struct {
	Import  breachImportCmd  `cmd:"" help:"Import a dump of any format and find watched values in it."`
	List    breachListCmd    `cmd:"" help:"List the breaches."`
	Show    breachShowCmd    `cmd:"" help:"Show one breach."`
	Append  breachAppendCmd  `cmd:"" help:"Add what is new in further files to a published breach; findings follow."`
	Edit    breachEditCmd    `cmd:"" help:"Change what is told of a breach; statuses follow."`
	Explain breachExplainCmd `cmd:"" help:"Tell what a breach says of one value, and what was known of it before."`
	Verify  breachVerifyCmd  `cmd:"" help:"Check every byte of a breach's segment."`
	Retract breachRetractCmd `cmd:"" help:"Take a breach back: its segment is deleted, its findings are withdrawn."`
}

// viewBreach shows a breach; "told" is how many identifiers stood in a record that could be told and "classes" what
// stood in those, "named_not_found" the classes that it is said to expose and that were not found.
func viewBreach(r leak.Record) record {
	t := r.Tally
	nowhere, unnamed := t.CompareClasses(r.Exposes)
	view := newRecord(
		"name", r.Name,
		"title", r.Title,
		"state", r.State,
		"kind", r.Kind,
		"date", r.Date.Format(time.DateOnly),
		"exposes", r.Exposes,
		"named_not_found", nowhere,
		"found_not_named", unnamed,
		"source", r.Source,
		"description", r.Description,
		"verified", r.Verified,
		"fabricated", r.Fabricated,
		"spam_list", r.SpamList,
		"vendor_words", r.HasVendorWords,
		"bytes", t.Bytes,
		"scanned", t.Scanned,
		"streams", t.Streams,
		"found", t.Found,
		"distinct", t.Distinct,
		"pairs", t.Pairs,
		"told", t.Told,
		"classes", t.Classes,
		"verdict", t.ReadVerdict(),
		"inputs", map[string]int64{"read": t.Read, "partly_read": t.Partly, "not_read": t.Unread},
		"problems", t.Problems,
		"reasons", t.Reasons,
		"segment", r.Segment,
		"digest", r.Digest,
		"added_at", r.AddedAt,
		"published_at", r.PublishedAt,
		"retracted_at", r.RetractedAt,
		"renewals", r.Renewals,
		"renewed_at", r.RenewedAt,
	)
	if t.Measured != nil {
		view = view.withPairs("measured", newRecord("known", t.Measured.Known, "from", t.Measured.From))
	}
	return view
}

// breachListCmd is 'vigia breach list', oldest first.
type breachListCmd struct{}

func (breachListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Leaks.Breaches.ListBreaches(ctx)
	if err != nil {
		return err
	}
	return o.listRecords(
		makeRecords(found, viewBreach),
		"No breach yet. Import one: vigia breach import --help",
		"name",
		"state",
		"kind",
		"date",
		"distinct",
		"exposes",
		"title",
	)
}

// breachName is how commands name a breach.
type breachName struct {
	Name string `arg:"" name:"name" help:"The breach's name."`
}

// breachShowCmd is 'vigia breach show'.
type breachShowCmd struct{ breachName }

func (b *breachShowCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Leaks.Breaches.FindBreach(ctx, b.Name)
	if err != nil {
		return err
	}
	return o.showRecord(viewBreach(found))
}

// breachEditCmd is 'vigia breach edit'. The statuses of findings follow the change.
type breachEditCmd struct {
	breachName
	breachFlags
	Approve bool `help:"Let people read title, source and description that a vendor wrote; a new --title does so too."`
}

func (breachEditCmd) Help() string {
	return "Examples:\n  vigia breach edit loja-exemplo --exposes email,password,cpf --verified\n  vigia " +
		"breach edit loja-exemplo --approve"
}

func (b *breachEditCmd) Run(ctx context.Context, a *app.App, o *output) error {
	var probe cyber.Breach
	if err := b.applyFlags(&probe); err != nil {
		return err
	}
	found, err := a.Leaks.Foreground.EditBreach(ctx, b.Name, func(t *cyber.Breach) {
		_ = b.applyFlags(t) // checked above
		t.HasVendorWords = t.HasVendorWords && !b.Approve && b.Title == nil
	})
	if err != nil {
		return err
	}
	return o.showRecord(viewBreach(found))
}

// breachVerifyCmd is 'vigia breach verify', which reads every byte of a breach's segment.
type breachVerifyCmd struct{ breachName }

// Run reads a segment from front to back.
func (b *breachVerifyCmd) Run(ctx context.Context, a *app.App, o *output) error {
	keys, err := a.Leaks.Library.VerifyBreach(ctx, b.Name)
	if err != nil {
		return err
	}
	return o.showRecord(newRecord("name", b.Name, "whole", true, "keys", keys))
}

// breachRetractCmd is 'vigia breach retract'. The segment is deleted and its findings are withdrawn.
type breachRetractCmd struct{ breachName }

func (b *breachRetractCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Leaks.Foreground.RetractBreach(ctx, b.Name)
	if err != nil {
		return err
	}
	return o.showRecord(viewBreach(found))
}
