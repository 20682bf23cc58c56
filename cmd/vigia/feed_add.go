package main

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/config"
)

// feedAddCmd is 'vigia feed add'.
type feedAddCmd struct {
	Name      string        `arg:"" help:"Short name: a-z, 0-9, '-', '_' and '.'."`
	Kind      string        `required:"" enum:"folder,list,hibp" placeholder:"KIND" help:"folder: a folder or bucket into which dumps and manifests are dropped; list: an address that answers with a JSON list of dumps; hibp: the Have I Been Pwned API for watched e-mails, by six characters of their hashes, which needs a plan with k-anonymity, and without a key the titles and dates of its breaches alone."`
	Target    string        `placeholder:"PATH|URL" help:"What to watch."`
	Every     time.Duration `default:"1h" placeholder:"TIME" help:"Pause between two runs; at least 1m."`
	Key       string        `env:"VIGIA_FEED_KEY" placeholder:"KEY" help:"API key; use the environment to keep it out of the process list. Sealed at rest."`
	PerMinute int           `placeholder:"N" help:"Calls a minute to an API; default is what the plan of the key allows."`
	Vendor    bool          `help:"A vendor writes the manifests in the folder: titles and descriptions wait for an operator's approval."`
	NoPairs   bool          `help:"Keep nothing of the passwords that stand beside identifiers."`
	Unchecked bool          `help:"Add it although its folder cannot be read or its address does not answer now."`
	Mapping   string        `placeholder:"FILE" help:"A mapping of a vendor's fields, by which all that comes is read: see docs/formats/vigia-records.md."`
	config.Outgoing
}

func (feedAddCmd) Help() string {
	return "A manifest is a JSON file beside the dump, dropped after it: loja.csv.gz and loja.json with\n" +
		`  {"title": "Loja Exemplo", "date": "2026-03-01", "exposes": ["email", "password"], "kind": "breach"}` +
		"\n\nExamples:\n" +
		"  vigia feed add caixa --kind folder --target /srv/dumps --every 1m\n" +
		"  VIGIA_FEED_KEY=... vigia feed add hibp --kind hibp --target https://haveibeenpwned.com/api/v3 " +
		"--every 24h\n" +
		"  vigia feed add titulos --kind hibp --target https://haveibeenpwned.com/api/v3 --every 24h\n" +
		"  vigia feed add nimbo --kind folder --target s3://entrega-nimbo --vendor --mapping nimbo.yaml"
}

func (c *feedAddCmd) Run(ctx context.Context, a *app.App, o *output) error {
	mapping, err := readMapping(c.Mapping)
	if err != nil {
		return err
	}
	f := feed.Feed{
		Name: c.Name, Kind: feed.Kind(c.Kind), Target: c.Target, Secret: c.Key, Every: c.Every,
		Settings: feed.Settings{Mapping: mapping.Text(), PerMinute: c.PerMinute, Vendor: c.Vendor, NoPairs: c.NoPairs},
	}
	out, err := app.OpenOutgoing(c.Outgoing)
	if err != nil {
		return err
	}
	feeds := a.Feeds(out.Downloads)
	if !c.Unchecked {
		if err := feeds.CheckTarget(ctx, f); err != nil {
			return explainTarget(f.Target, err)
		}
		if err := feeds.CheckAccess(ctx, f); err != nil {
			return err
		}
	}
	found, err := feeds.AddFeed(ctx, f)
	if err != nil {
		return err
	}
	return o.showRecord(viewFeed(found))
}

// explainTarget says which folder of a refused feed cannot be read, or why its address did not answer. The rule that
// was broken says neither, because pages show it too.
func explainTarget(target string, err error) error {
	var folder *fs.PathError
	var address *url.Error
	switch {
	case errors.As(err, &folder):
		return unreadableFile(target, err)
	case errors.Is(err, webhook.ErrAddress):
		return feed.ErrInvalid.Because(err).
			Note("target: the address is not public; --webhook-allow opens ranges of addresses inside your network")
	case errors.As(err, &address):
		return feed.ErrInvalid.Because(err).Note("target: the address did not answer: %v", address.Err)
	}
	return err
}
