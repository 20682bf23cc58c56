package app_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestAlertReachesPartner runs a whole server, registers an endpoint and writes events beside it the way an admin
// command does, and verifies what arrives with the public client: one by the secret, one by the public key that the
// server publishes.
func TestAlertReachesPartner(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type request struct {
		header http.Header
		body   []byte
	}
	got := make(chan request, 4)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			got <- request{r.Header, body}
		}
	}))
	defer receiver.Close()

	common := config.Common{Data: t.TempDir() + "/data"}
	serve := config.Serve{
		Listen:         "127.0.0.1:0",
		ConsoleListen:  "127.0.0.1:0",
		Roles:          []string{"api", "worker"},
		WebhookAllow:   []string{"127.0.0.0/8"},
		MaxConnections: 4,
		StopTime:       time.Minute,
	}
	service, err := app.OpenApp(ctx, common, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = service.Close() }()
	server, err := app.NewServer(ctx, service, serve, slog.New(slog.DiscardHandler), "test")
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()
	<-server.Ready

	admin, err := app.OpenApp(ctx, common, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close() }()
	p, _, err := admin.Partners.CreatePartner(ctx, "Banco Exemplo", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := app.OpenOutgoing(serve.OutgoingSettings())
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := admin.Webhooks.CreateEndpoint(ctx, p.ID, receiver.URL, nil, out.Guard)
	if err != nil {
		t.Fatal(err)
	}
	public, err := service.Webhooks.PublicKeys(ctx, endpoint.ID)
	if err != nil || len(public) != 1 {
		t.Fatal(public, err)
	}
	for _, key := range []string{endpoint.Secret(), public[0]} {
		event := alert.NewEvent(p.ID, alert.StatusChanged, "abc", time.Now(), alert.StatusChange{Status: "alerta"})
		if err := admin.Store.Alerts.AddEvents(ctx, p.ID, event); err != nil {
			t.Fatal(err)
		}
		select {
		case r := <-got:
			for r.header.Get("webhook-id") != string(event.ID) { // one that came late is sent again
				r = <-got
			}
			verified, err := client.VerifyWebhook([]string{key}, r.header, r.body, time.Now())
			if err != nil || verified.ID != string(event.ID) || verified.Body.Type != "monitoring.status_changed" {
				t.Errorf("%v %v", verified, err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("nothing arrived")
		}
	}
	cancel()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
