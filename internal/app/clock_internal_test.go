package app

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestSkewedClocks: of two replicas on one PostgreSQL one's clock is ten minutes fast and the other's ten minutes slow.
// They agree on the time: no lease is broken, nothing due waits, nobody is taken for gone, and a key ends for both.
func TestSkewedClocks(t *testing.T) {
	ctx := context.Background()
	address := storetest.NewAddress(t, sqldb.PostgreSQL, "")
	c := config.Common{Data: filepath.Join(t.TempDir(), "data"), Database: address}
	var replicas [2]*App
	for i, skew := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		a, err := openFollowing(ctx, c, sqldb.Options{MaxConns: 4}, func() time.Time { return time.Now().Add(skew) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Close() })
		replicas[i] = a
	}
	fast, slow := replicas[0], replicas[1]
	if apart := fast.now().Sub(slow.now()).Abs(); apart > 2*time.Second {
		t.Fatalf("two replicas are %v apart", apart)
	}
	for _, pair := range [][2]*App{{fast, slow}, {slow, fast}} {
		one, other := pair[0], pair[1]
		if _, err := one.Store.Jobs.EnqueueJob(ctx, "test.kind", "subject", nil); err != nil {
			t.Fatal(err)
		}
		mine, err := other.Store.Jobs.ClaimJobs(ctx, "other", []string{"test.kind"}, 1)
		for try := 0; err == nil && len(mine) == 0 && try < 30; try++ { // the clocks agree to half a second each
			time.Sleep(100 * time.Millisecond)
			mine, err = other.Store.Jobs.ClaimJobs(ctx, "other", []string{"test.kind"}, 1)
		}
		if err != nil || len(mine) != 1 {
			t.Fatal("what one replica adds the other does not find due:", mine, err)
		}
		if stolen, err := one.Store.Jobs.ClaimJobs(ctx, "one", []string{"test.kind"}, 1); err != nil || len(stolen) != 0 {
			t.Error("a lease was broken:", stolen, err)
		}
		if err := other.Store.Jobs.FinishJob(ctx, "other", mine[0], "done", ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := fast.Store.Upkeep.NoteReplica(ctx, store.Replica{ID: "fast"}, ReplicaGone); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"slow", "fast"} {
		all, err := map[string]*App{"slow": slow, "fast": fast}[name].Store.Upkeep.NoteReplica(ctx, store.Replica{ID: name}, ReplicaGone)
		if err != nil || len(all) != 2 {
			t.Errorf("the %s one counts %d replicas: %v", name, len(all), err)
		}
	}
	p, _, err := fast.Partners.CreatePartner(ctx, "Banco Exemplo", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := OpenOutgoing(config.Outgoing{WebhookAllow: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fast.Webhooks.CreateEndpoint(ctx, p.ID, "http://127.0.0.1:9/x", nil, out.Guard); err != nil {
		t.Fatal(err)
	}
	e := alert.NewEvent(p.ID, alert.WebhookTest, "", fast.now(), map[string]int{})
	if err := fast.Store.Alerts.AddEvents(ctx, p.ID, e); err != nil {
		t.Fatal(err)
	}
	due, err := slow.Store.Alerts.DueEndpoints(ctx)
	for try := 0; err == nil && len(due) == 0 && try < 30; try++ {
		time.Sleep(100 * time.Millisecond)
		due, err = slow.Store.Alerts.DueEndpoints(ctx)
	}
	if err != nil || len(due) != 1 {
		t.Error("a delivery that the fast one made is not due for the slow one:", due, err)
	}
}
