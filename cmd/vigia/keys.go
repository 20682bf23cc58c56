package main

import (
	"context"

	"github.com/vigiahq/vigia/internal/app"
)

// keysCmd groups the commands on the keys that seal personal data, not to be confused with keyCmd.
type keysCmd struct {
	Rotate keysRotateCmd `cmd:"" help:"Make a new primary key; what older keys sealed stays readable and is rewritten in the background by a running worker."`
	Drop   keysDropCmd   `cmd:"" help:"Remove older keys for good, once nothing needs them; says what does otherwise."`
	Status keysStatusCmd `cmd:"" help:"Show the keys and count what older ones still seal."`
}

// showKeys shows the state of the key file.
func (o *output) showKeys(ctx context.Context, a *app.App) error {
	current, old, err := a.Store.Upkeep.SealedUnder(ctx)
	if err != nil {
		return err
	}
	var notes []string
	if old > 0 {
		notes = append(notes, "A running worker rewrites the older ones; run 'vigia keys status' again to see it end.")
	}
	return o.showRecord(newRecord("file", a.Keys.Path(), "primary", a.Keys.PrimaryID(), "keys", a.Keys.IDs(), "sealed_by_primary", current, "sealed_by_older", old), notes...)
}

// keysRotateCmd is 'vigia keys rotate'. Old keys stay readable; a running worker seals their values again in the background.
type keysRotateCmd struct{}

// Run rotates.
func (keysRotateCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if err := a.RotateKeys(ctx); err != nil {
		return err
	}
	return o.showKeys(ctx, a)
}

// keysDropCmd is 'vigia keys drop'. It refuses while a value is still sealed with an old key.
type keysDropCmd struct{}

const oldBackups = "Backups made before need a copy of the key file of their time: keep one with them, apart from the data, for as long as you keep the backups."

// Help says what is not looked at.
func (keysDropCmd) Help() string { return "Looks at every sealed value of the database. " + oldBackups }

// Run drops.
func (keysDropCmd) Run(ctx context.Context, a *app.App, o *output) error {
	dropped, err := a.DropOldKeys(ctx)
	if err != nil {
		return err
	}
	return o.showRecord(newRecord("dropped", dropped), oldBackups)
}

// keysStatusCmd is 'vigia keys status'. It counts through the whole database.
type keysStatusCmd struct{}

// Run shows the status.
func (keysStatusCmd) Run(ctx context.Context, a *app.App, o *output) error { return o.showKeys(ctx, a) }
