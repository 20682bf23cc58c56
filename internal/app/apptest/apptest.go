// Package apptest starts the whole service for tests that stand outside of it: clients, guides and the reference. What
// they meet is what a partner meets: a real server on a loopback port, on a fresh SQLite folder, with one sandbox and
// one live partner.
package apptest

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// Service is a running service. It stops when its test ends.
type Service struct {
	App *app.App
	// URL is the address of the partner API, without a trailing slash.
	URL           string
	Sandbox, Live Tenant
}

// Tenant is a partner with its secrets.
type Tenant struct {
	partner.Partner
	partner.Credentials
}

// Start runs a service until the test ends.
func Start(t testing.TB) *Service {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	a, err := app.OpenApp(
		ctx, config.Common{Data: filepath.Join(sqldbtest.Folder(t), "data")}, sqldb.Options{MaxConns: 4},
	)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	cfg := config.Serve{
		Listen:         "127.0.0.1:0",
		ConsoleListen:  "127.0.0.1:0",
		Roles:          []string{"api", "worker"},
		MaxConnections: 8,
		StopTime:       time.Minute,
		WebhookAllow:   []string{"127.0.0.0/8"},
	}
	srv, err := app.NewServer(ctx, a, cfg, slog.New(slog.DiscardHandler), "test")
	if err != nil {
		cancel()
		t.Fatal(err, a.Close())
	}
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	select {
	case <-srv.Ready:
	case err := <-done:
		cancel()
		t.Fatal(err, a.Close())
	}
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &Service{App: a, URL: "http://" + srv.APIAddr.String()}
	s.Sandbox, s.Live = s.tenant(t, "Testes", partner.Sandbox), s.tenant(t, "Banco Exemplo", partner.Live)
	return s
}

// WideKey makes a key with every scope, as the operator makes it for a partner that asks for all of them. The first key
// of a partner is narrower; what a newcomer reads and runs has to work with that one.
func (s *Service) WideKey(t testing.TB, of Tenant) string {
	t.Helper()
	_, key, err := s.App.Partners.CreateKey(context.Background(), of.ID, "wide", storetest.AllScopes, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// tenant creates a partner with the first key that 'vigia partner create' prints, or fails the test.
func (s *Service) tenant(t testing.TB, name string, mode partner.Mode) Tenant {
	t.Helper()
	p, cred, err := s.App.Partners.CreatePartner(context.Background(), name, mode, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return Tenant{p, cred}
}
