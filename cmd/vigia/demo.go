package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"vigia/internal/app"
	"vigia/internal/config"
	"vigia/internal/partner"
	"vigia/internal/sqldb"
)

type demoCmd struct {
	Listen        string `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of the partner API."`
	ConsoleListen string `name:"console-listen" default:"127.0.0.1:8081" placeholder:"ADDR" help:"Address of the operator's listener."`
}

// Help shows examples.
func (demoCmd) Help() string {
	return "Everything runs in one process on an embedded database. The folder (--data, by default ./data/demo) is kept between\n" +
		"runs, and so is the sandbox partner whose key is printed at each start.\n\nExample:\n  vigia demo --listen 127.0.0.1:9000"
}

// demoSecrets is kept beside the demo's database, because the service itself keeps no key it could print again.
type demoSecrets struct {
	PartnerID string `json:"partner_id"`
	APIKey    string `json:"api_key"`
	Salt      string `json:"salt"`
}

// Run starts the demo.
func (d *demoCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	common := *c
	if usual, err := filepath.Abs("data"); err == nil && common.Data == usual {
		common.Data = filepath.Join(usual, "demo") // a demo does not mix with an installation in the usual folder
	}
	serve := config.Serve{
		Listen: d.Listen, ConsoleListen: d.ConsoleListen, Roles: []string{"api", "worker", "console"}, LogLevel: "warn",
		LogFormat: "auto", MaxConnections: 8,
	}
	log, closeLog, err := openLog(o.err, serve)
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, common, sqldb.Options{})
	if err != nil {
		return errors.Join(err, closeLog())
	}
	secrets, err := demoPartner(ctx, a, filepath.Join(common.Data, "demo.json"))
	if err != nil {
		return errors.Join(err, a.Close(), closeLog())
	}
	srv, err := app.NewServer(ctx, a, serve, log, versionText())
	if err != nil {
		return errors.Join(err, a.Close(), closeLog())
	}
	go func() {
		select {
		case <-ctx.Done():
		case <-srv.Ready:
			tour(o.w, "http://"+srv.APIAddr.String(), "http://"+srv.ConsoleAddr.String(), secrets)
		}
	}()
	return errors.Join(srv.Run(ctx), a.Close(), closeLog())
}

// demoPartner returns the sandbox partner of an earlier run, or makes it.
func demoPartner(ctx context.Context, a *app.App, path string) (demoSecrets, error) {
	var s demoSecrets
	raw, err := os.ReadFile(path) //nolint:gosec // inside the data folder
	if err == nil {
		if err := json.Unmarshal(raw, &s); err != nil {
			return s, fmt.Errorf("read demo.json: %w", err)
		}
		_, err := a.Partners.Partner(ctx, partner.ID(s.PartnerID))
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, partner.ErrNotFound) {
			return s, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("read demo.json: %w", err)
	}
	p, cred, err := a.Partners.Create(ctx, "Parceiro de demonstração", partner.Sandbox, partner.Settings{})
	if err != nil {
		return s, err
	}
	s = demoSecrets{PartnerID: string(p.ID), APIKey: cred.APIKey, Salt: cred.Salt}
	raw, err = json.MarshalIndent(s, "", "  ")
	if err != nil {
		return s, err
	}
	return s, os.WriteFile(path, append(raw, '\n'), 0o600)
}

// tour prints what to try.
func tour(w io.Writer, api, console string, s demoSecrets) {
	_, _ = fmt.Fprintf(w, `Vigia is up. This is a demo: sandbox partner, embedded database, made-up people only.

  Partner API   %[1]s
  Reference     %[1]s/docs/
  Operator      %[2]s/metrics
  API key       %[3]s
  Salt          %[4]s

Paste any of these:

  curl -H 'x-api-key: %[3]s' %[1]s/v1/cyber/services

Stop with Ctrl-C; the same partner is there at the next start.
`, api, console, s.APIKey, s.Salt)
}
