package main

import (
	"context"
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/feed"
)

// receiverView is a receiver with its secret, which is shown once.
type receiverView struct {
	feedView
	Secret string `json:"secret"`
}

// receiver prints a receiver and its new secret.
func (o *output) receiver(f feed.Feed, secret string) error {
	v := receiverView{viewFeed(f), secret}
	return o.print(v, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "Receiver  %s\nAddress   POST %s below the address of the partner API\nSecret    %s\n\n"+
			"The secret is not shown again. The vendor signs as Standard Webhooks do: see docs/leaks.md.\n", v.Name, v.Target, v.Secret)
	})
}

type pushView struct {
	ReceivedAt string `json:"received_at"`
	Breach     string `json:"breach"`
	Records    int64  `json:"records"`
	Bytes      int64  `json:"bytes"`
	State      string `json:"state"`
	Error      string `json:"error"`
	EndedAt    string `json:"ended_at"`
}

// shownPushes is how many of a receiver's last pushes are shown.
const shownPushes = 20

type feedShowCmd struct {
	Name string `arg:"" help:"The feed's name."`
}

// Run shows a feed.
func (f *feedShowCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		found, err := a.Store.Feeds.FeedByName(ctx, f.Name)
		if err != nil {
			return err
		}
		pushes, err := a.Store.Feeds.PushesOf(ctx, f.Name, shownPushes)
		if err != nil {
			return err
		}
		view := struct {
			feedView
			Pushes []pushView `json:"pushes"`
		}{viewFeed(found), make([]pushView, len(pushes))}
		rows := make([][]string, len(pushes))
		for i, p := range pushes {
			v := pushView{stamp(p.ReceivedAt), p.Breach, p.Records, p.Bytes, string(p.State), p.Error, stamp(p.EndedAt)}
			view.Pushes[i] = v
			rows[i] = []string{v.ReceivedAt, v.State, v.Breach, fmt.Sprint(v.Records), fmt.Sprint(v.Bytes), v.Error}
		}
		return o.print(view, func(w io.Writer) {
			view.text(w)
			if len(rows) > 0 {
				_, _ = fmt.Fprintln(w)
				o.table(w, "RECEIVED\tSTATE\tBREACH\tRECORDS\tBYTES\tERROR", rows)
			}
		})
	})
}

type feedRotateCmd struct {
	Name string `arg:"" help:"The receiver's name."`
}

// Run makes a new secret.
func (f *feedRotateCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		feeds, err := a.Feeds(config.Outgoing{})
		if err != nil {
			return err
		}
		rotated, secret, err := feeds.Rotate(ctx, f.Name)
		if err != nil {
			return err
		}
		return o.receiver(rotated, secret)
	})
}

type feedRemoveCmd struct {
	Name string `arg:"" help:"The feed's name."`
}

// Run removes a feed.
func (f *feedRemoveCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		feeds, err := a.Feeds(config.Outgoing{})
		if err != nil {
			return err
		}
		if err := feeds.Remove(ctx, f.Name); err != nil {
			return err
		}
		return o.print(map[string]any{"name": f.Name, "removed": true}, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "The feed %s is removed; what it brought stays.\n", f.Name)
		})
	})
}
