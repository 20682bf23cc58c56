package main

import (
	"context"
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
)

type keysCmd struct {
	Rotate keysRotateCmd `cmd:"" help:"Make a new primary key; what older keys sealed stays readable and is rewritten in the background by a running worker."`
	Drop   keysDropCmd   `cmd:"" help:"Remove older keys for good, once nothing needs them; says what does otherwise."`
	Status keysStatusCmd `cmd:"" help:"Show the keys and count what older ones still seal."`
}

type keysView struct {
	File    string   `json:"file"`
	Primary uint32   `json:"primary"`
	Keys    []uint32 `json:"keys"`
	Current int64    `json:"sealed_by_primary"`
	Old     int64    `json:"sealed_by_older"`
}

func (o *output) keys(ctx context.Context, a *app.App) error {
	current, old, err := a.Store.Upkeep.SealedUnder(ctx)
	if err != nil {
		return err
	}
	v := keysView{File: a.Keys.Path(), Primary: a.Keys.PrimaryID(), Keys: a.Keys.IDs(), Current: current, Old: old}
	return o.print(v, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "Key file          %s\nPrimary key       %d\nAll keys          %v\nSealed by it      %d\nSealed by older   %d\n",
			v.File, v.Primary, v.Keys, v.Current, v.Old)
		if v.Old > 0 {
			_, _ = fmt.Fprintln(w, "\nA running worker rewrites the older ones; run 'vigia keys status' again to see it end.")
		}
	})
}

type keysRotateCmd struct{}

// Run rotates.
func (keysRotateCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		if err := a.RotateKeys(ctx); err != nil {
			return err
		}
		return o.keys(ctx, a)
	})
}

type keysDropCmd struct{}

// Help says what is not looked at.
func (keysDropCmd) Help() string {
	return "Looks at every sealed value of the database. Backups made before need a copy of the key file of their time:\n" +
		"keep one with them, apart from the data, for as long as you keep the backups.\n\nExample:\n  vigia keys drop"
}

// Run drops.
func (keysDropCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		dropped, err := a.DropKeys(ctx)
		if err != nil {
			return err
		}
		return o.print(map[string]any{"dropped": dropped}, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "Dropped           %v\nBackups made before need a copy of the key file of their time.\n", dropped)
		})
	})
}

type keysStatusCmd struct{}

// Run shows the status.
func (keysStatusCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error { return o.keys(ctx, a) })
}
