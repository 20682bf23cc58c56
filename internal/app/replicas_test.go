package app_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestStoppingServerSendsClientsAway: while a server drains it still answers, and asks each client to come back on
// another connection, so that a balancer of connections can take it elsewhere.
func TestStoppingServerSendsClientsAway(t *testing.T) {
	t.Parallel()
	whileDraining(t, 2*time.Second, sentAway)
}

func sentAway(t *testing.T, drain time.Duration) (inTime bool) {
	t.Helper()
	srv := serve(t, open(t, common(t, sqldb.SQLite)), func(s *config.Serve) { s.DrainTime = drain })
	asked := func(path string) *http.Response {
		res, err := http.Get("http://" + srv.APIAddr.String() + path)
		if err != nil {
			return nil
		}
		_ = res.Body.Close()
		return res
	}
	if res := asked("/healthz"); res == nil || res.Close {
		t.Error("a server that is not stopping closes connections")
	}
	stopped := make(chan error, 1)
	signal := time.Now()
	go func() { stopped <- srv.stop() }()
	for res := asked("/readyz"); res != nil && res.StatusCode != http.StatusServiceUnavailable; res = asked("/readyz") {
		if time.Since(signal) > drain+time.Minute {
			t.Fatal("readiness stayed on")
		}
		time.Sleep(time.Millisecond)
	}
	res := asked("/v1/cyber/services")
	if res != nil && (!res.Close || res.StatusCode != http.StatusForbidden) {
		t.Error("a stopping server keeps its connections:", res.Status)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	return res != nil
}

// TestForeignStandby: a standby of another installation is refused, one that is not there is not.
func TestForeignStandby(t *testing.T) {
	ctx := context.Background()
	own, stranger := common(t, sqldb.PostgreSQL), common(t, sqldb.PostgreSQL)
	open(t, own)
	open(t, stranger)
	if a, err := app.OpenApp(ctx, own, sqldb.Options{ReadAddress: stranger.Database}); err == nil {
		_ = a.Close()
		t.Error("the lists of another installation would be answered")
	}
	for _, address := range []string{own.Database, storetest.NewAddress(t, sqldb.PostgreSQL, ""), "postgres://nobody@127.0.0.1:1/x?connect_timeout=1"} {
		a, err := app.OpenApp(ctx, own, sqldb.Options{ReadAddress: address})
		if err != nil {
			t.Fatal(address, err)
		}
		p, _, err := a.Partners.CreatePartner(ctx, "Banco", partner.Live, partner.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if page, err := a.Store.Subscriptions.ActivePage(ctx, p.ID, 0, 10); err != nil || page.Total != 0 {
			t.Error("a standby that has nothing to say:", err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}
