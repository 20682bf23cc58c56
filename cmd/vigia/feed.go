package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/feed"
)

type feedCmd struct {
	Add    feedAddCmd    `cmd:"" help:"Add a continuous source."`
	List   feedListCmd   `cmd:"" help:"List the sources and how they fare."`
	Pause  feedPauseCmd  `cmd:"" help:"Stop a source; nothing is lost."`
	Resume feedResumeCmd `cmd:"" help:"Let a paused source go on."`
	Run    feedRunCmd    `cmd:"" help:"Run a source now, in this process."`
	Show   feedShowCmd   `cmd:"" help:"Show one source, and of a receiver what was sent to it last."`
	Rotate feedRotateCmd `cmd:"" help:"Give a receiver a new secret; the one before is good for another day."`
	Remove feedRemoveCmd `cmd:"" help:"Forget a source, and what waits of a receiver. What it brought stays."`
}

type feedView struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Target   string `json:"target"`
	Paused   bool   `json:"paused"`
	Every    string `json:"every"`
	Items    int64  `json:"items"`
	Orphans  int64  `json:"files_without_manifest"`
	Refused  int64  `json:"refused_pushes"`
	LeftOut  int64  `json:"values_left_out"`
	Caught   int64  `json:"quarantined_files"`
	Failures int64  `json:"failures"`
	Error    string `json:"error"`
	LastAt   string `json:"last_at"`
	NextAt   string `json:"next_at"`
}

func viewFeed(f feed.Feed) feedView {
	return feedView{
		Name: f.Name, Kind: string(f.Kind), Target: f.Shown(), Paused: f.Paused, Every: f.Every.String(), Items: f.State.Items, Orphans: f.State.Orphans, Refused: f.State.Refused, LeftOut: f.State.LeftOut, Caught: f.State.Quarantined, Failures: f.Failures,
		Error: f.Error, LastAt: stamp(f.LastAt), NextAt: stamp(f.NextAt),
	}
}

func (o *output) feed(f feed.Feed) error {
	v := viewFeed(f)
	return o.print(v, v.text)
}

func (v feedView) text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "Feed      %s (%s, every %s, paused %t)\nTarget    %s\nTaken     %d items; %d files without a manifest; %d pushes refused\n"+
		"Left out  %d values that are none of their kind; %d files in quarantine\n"+
		"Last      %s\nNext      %s\nFailures  %d %s\n", v.Name, v.Kind, v.Every, v.Paused, v.Target, v.Items, v.Orphans, v.Refused, v.LeftOut, v.Caught, v.LastAt, v.NextAt, v.Failures, v.Error)
}

type feedAddCmd struct {
	Name      string        `required:"" placeholder:"NAME" help:"Short name: a-z, 0-9, '-', '_' and '.'."`
	Kind      string        `required:"" enum:"folder,list,hibp,push" placeholder:"KIND" help:"folder: a folder or bucket into which dumps and manifests are dropped; list: an address that answers with a JSON list of dumps; hibp: the Have I Been Pwned API for watched e-mails, by six characters of their hashes, which needs a plan with k-anonymity; push: a receiver of records that a vendor sends, signed with the secret that is shown once."`
	Target    string        `placeholder:"PATH|URL" help:"What to watch; nothing of a receiver, whose address is shown."`
	Every     time.Duration `default:"1h" placeholder:"TIME" help:"Pause between two runs; at least 1m."`
	Key       string        `env:"VIGIA_FEED_KEY" placeholder:"KEY" help:"API key; use the environment to keep it out of the process list. Sealed at rest."`
	PerMinute int           `placeholder:"N" help:"Calls a minute to an API; default is what the plan of the key allows."`
	NoPairs   bool          `help:"Keep nothing of the passwords that stand beside identifiers."`
	Mapping   string        `placeholder:"FILE" help:"A mapping of a vendor's fields, by which all that comes is read: see docs/formats/vigia-records.md."`
}

// Help shows examples.
func (feedAddCmd) Help() string {
	return "A manifest is a JSON file beside the dump, dropped after it: loja.csv.gz and loja.json with\n" +
		`  {"title": "Loja Exemplo", "date": "2026-03-01", "exposes": ["email", "password"], "kind": "breach"}` + "\n\nExamples:\n" +
		"  vigia feed add --name caixa --kind folder --target /srv/dumps --every 1m\n" +
		"  VIGIA_FEED_KEY=... vigia feed add --name hibp --kind hibp --target https://haveibeenpwned.com/api/v3 --every 24h\n" +
		"  vigia feed add --name nimbo --kind push --mapping nimbo.yaml"
}

// Run adds a feed.
func (c *feedAddCmd) Run(ctx context.Context, common *config.Common, o *output) error {
	mapping, err := readMapping(c.Mapping)
	if err != nil {
		return err
	}
	return withApp(ctx, common, func(a *app.App) error {
		feeds, err := a.Feeds(config.Outgoing{})
		if err != nil {
			return err
		}
		f := feed.Feed{
			Name: c.Name, Kind: feed.Kind(c.Kind), Target: c.Target, Secret: c.Key, Every: c.Every,
			Settings: feed.Settings{
				Mapping: mapping.Text(), PerMinute: c.PerMinute, NoPairs: c.NoPairs,
			},
		}
		if f.Kind == feed.Pushed {
			added, secret, err := feeds.AddReceiver(ctx, f)
			if err != nil {
				return err
			}
			return o.receiver(added, secret)
		}
		if f, err = feeds.Add(ctx, f); err != nil {
			return err
		}
		return o.feed(f)
	})
}

type feedListCmd struct{}

// Run lists the feeds.
func (feedListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		all, err := a.Store.Feeds.Feeds(ctx)
		if err != nil {
			return err
		}
		views, rows := make([]feedView, len(all)), make([][]string, len(all))
		for i, f := range all {
			v := viewFeed(f)
			views[i] = v
			rows[i] = []string{v.Name, v.Kind, v.Every, fmt.Sprint(v.Paused), fmt.Sprint(v.Items), fmt.Sprint(v.Failures), v.LastAt, v.NextAt, v.Target}
		}
		return o.print(views, func(w io.Writer) {
			if len(rows) == 0 {
				_, _ = fmt.Fprintln(w, "No feed yet. Add one: vigia feed add --help")
				return
			}
			o.table(w, "NAME\tKIND\tEVERY\tPAUSED\tITEMS\tFAILURES\tLAST\tNEXT\tTARGET", rows)
		})
	})
}

// pauseFeed pauses or resumes.
func pauseFeed(ctx context.Context, c *config.Common, o *output, name string, paused bool) error {
	return withApp(ctx, c, func(a *app.App) error {
		feeds, err := a.Feeds(config.Outgoing{})
		if err != nil {
			return err
		}
		f, err := feeds.Pause(ctx, name, paused)
		if err != nil {
			return err
		}
		return o.feed(f)
	})
}

type feedPauseCmd struct {
	Name string `arg:"" help:"The feed's name."`
}

// Run pauses a feed.
func (f *feedPauseCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return pauseFeed(ctx, c, o, f.Name, true)
}

type feedResumeCmd struct {
	Name string `arg:"" help:"The feed's name."`
}

// Run resumes a feed.
func (f *feedResumeCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return pauseFeed(ctx, c, o, f.Name, false)
}

type feedRunCmd struct {
	Name string `arg:"" help:"The feed's name."`
	config.Outgoing
}

// Run runs a feed.
func (f *feedRunCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	if err := f.Outgoing.Check(); err != nil {
		return err
	}
	return withApp(ctx, c, func(a *app.App) error {
		done, err := a.RunFeed(ctx, f.Outgoing, f.Name)
		if err != nil {
			return err
		}
		if err := o.feed(done); err != nil {
			return err
		}
		if done.Failures > 0 {
			return fmt.Errorf("the feed failed: %s", done.Error)
		}
		return nil
	})
}
