package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/telemetry"
)

// serveCmd is 'vigia serve', which runs API, console and workers as its flags say.
type serveCmd struct {
	config.Serve
}

// Help shows examples.
func (serveCmd) Help() string {
	return "Examples:\n  vigia serve --data /var/lib/vigia --listen :8080\n" +
		"  VIGIA_DATABASE_FILE=/run/secrets/db vigia serve --roles api --listen :8080"
}

// Run serves until a signal comes.
func (s *serveCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	if err := s.CheckServe(*c); err != nil { // before anything is created
		return err
	}
	log, closeLog, err := openLogger(o.err, s.Serve)
	if err != nil {
		return err
	}
	a, err := app.OpenApp(ctx, *c, sqldb.Options{MaxConns: s.MaxConnections, ReadAddress: s.DatabaseRead})
	if err != nil {
		return errors.Join(err, closeLog())
	}
	a.WarnOfCustody(log, s.DatabaseRead)
	srv, err := app.NewServer(ctx, a, s.Serve, log, versionText())
	if err == nil {
		err = srv.Run(ctx)
	}
	return errors.Join(err, a.Close(), closeLog())
}

// openLogger writes to standard error, or appends to the configured file.
func openLogger(stderr io.Writer, s config.Serve) (*slog.Logger, func() error, error) {
	opts := telemetry.LogOptions{Level: s.SlogLevel(), Format: s.LogFormat}
	if s.LogFile == "" {
		return telemetry.NewLogger(stderr, opts), func() error { return nil }, nil
	}
	f, err := telemetry.OpenLogFile(s.LogFile)
	if err != nil {
		return nil, nil, fmt.Errorf("--log-file: %w", err)
	}
	return telemetry.NewLogger(f, opts), f.Close, nil
}

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
