package main

import (
	"context"

	"github.com/vigiahq/vigia/internal/app"
)

// migrateCmd is 'vigia migrate', which brings the database to the schema of this program.
type migrateCmd struct {
	Distribute bool `help:"On a PostgreSQL with Citus: spread partners' tables over its machines, by partner."`
}

// Run migrates and says what the database has now.
func (m migrateCmd) Run(ctx context.Context, a *app.App, o *output) error {
	status := newRecord("engine", a.Engine, "status", "up to date")
	if m.Distribute {
		spread, err := a.Store.Distribute(ctx)
		if err != nil {
			return err
		}
		status = status.withPairs("distributed", spread)
	}
	return o.showRecord(status)
}
