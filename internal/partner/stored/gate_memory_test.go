package stored_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestGateForgets: a key that was just used is refused within two seconds of its revocation by another process, and one
// that was rolled works until its overlap ends.
func TestGateForgets(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		gate := partner.NewKeyGate(e.Store.Partners, time.Now)
		go gate.WatchChanges(ctx)
		// The command line is another process: another store on the same database.
		cli := partner.NewRegistry(
			storetest.ReopenStore(t, e.Address, e.Folder, e.Keys.Root(), e.Clock).Partners,
			time.Now,
			nil,
		)
		p, cred, err := cli.CreatePartner(ctx, "Banco", partner.Live, partner.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		allowed := func(key string) bool {
			_, err := gate.Authenticate(ctx, key, partner.ScopeCyber)
			if err != nil && !errors.Is(err, partner.ErrUnauthorised) {
				t.Fatal(err)
			}
			return err == nil
		}
		if !allowed(cred.APIKey) {
			t.Fatal("a fresh key is refused")
		}
		// What counts is when a key is shown, not how long a starved machine takes to look at it.
		within := func(what, key string, want bool) {
			t.Helper()
			deadline := time.Now().Add(2 * time.Second)
			for shown := time.Now(); allowed(key) != want; shown = time.Now() {
				if shown.After(deadline) {
					t.Fatalf("%s: accepted: %t, after more than two seconds", what, !want)
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
		keys, err := cli.ListKeys(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, second, err := cli.RollKey(ctx, p.ID, keys[0].ID, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if !allowed(cred.APIKey) || !allowed(second) {
			t.Error("both keys work during the overlap")
		}
		if _, err := cli.RevokeKey(ctx, p.ID, keys[0].ID); err != nil {
			t.Fatal(err)
		}
		within("revoked key", cred.APIKey, false)
		if _, err := cli.SuspendPartner(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
		within("suspended partner", second, false)
		if _, err := cli.ResumePartner(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
		within("resumed partner", second, true)
	})
}

// TestGateDistrustsItsMemory: when the epoch cannot be read, a remembered key is looked up again.
func TestGateDistrustsItsMemory(t *testing.T) {
	e := storetest.Open(t, "sqlite")
	counted := &countingStore{Store: e.Store.Partners}
	gate := partner.NewKeyGate(counted, e.Clock.Now)
	_, cred := e.NewPartner(t, partner.Live)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { gate.WatchChanges(ctx); close(done) }()
	ask := func() (epoch int64) {
		t.Helper()
		caller, err := gate.Authenticate(context.Background(), cred.APIKey, partner.ScopeCyber)
		if err != nil {
			t.Fatal(err)
		}
		return caller.Epoch
	}
	known := int64(0) // look-ups before the first poll has made the memory count
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if ask(); counted.lookups.Load() == known {
			break
		}
		if known = counted.lookups.Load(); time.Now().After(deadline) {
			t.Fatal("every request is looked up")
		}
	}
	epoch, err := e.Store.Partners.AccessEpoch(context.Background())
	for range 100 {
		if got := ask(); got != epoch || err != nil {
			t.Fatalf("epoch %d of a key that is known, want %d (%v)", got, epoch, err)
		}
	}
	if n := counted.lookups.Load() - known; n != 0 {
		t.Errorf("%d look-ups for 100 requests of a key that is known", n)
	}
	stop()
	<-done
	e.Clock.Advance(10 * time.Second) // no poll renews the trust
	if first, second := ask(), ask(); first != 0 || second != 0 {
		t.Error("others would rely on what they remember:", first, second)
	}
	if n := counted.lookups.Load() - known; n != 2 {
		t.Errorf("%d look-ups for two requests: a memory that nobody renews must not be used", n)
	}
}

// TestGateKeepsNoOvertakenAnswer: a key is not remembered when it was revoked, and the gate learnt of that, between the
// database's answer and the remembering.
func TestGateKeepsNoOvertakenAnswer(t *testing.T) {
	ctx := context.Background()
	e := storetest.Open(t, "sqlite")
	counted := &countingStore{Store: e.Store.Partners}
	gate := partner.NewKeyGate(counted, e.Clock.Now)
	registry := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	p, cred := e.NewPartner(t, partner.Live)
	keys, err := registry.ListKeys(ctx, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	gate.RefreshMemory(ctx)
	counted.meanwhile = func() {
		counted.meanwhile = nil
		if _, err := registry.RevokeKey(ctx, p.ID, keys[0].ID); err != nil {
			t.Error(err)
		}
		gate.RefreshMemory(ctx)
	}
	if _, err := gate.Authenticate(ctx, cred.APIKey, partner.ScopeCyber); err != nil {
		t.Fatal("the key was live when it was read:", err)
	}
	if _, err := gate.Authenticate(ctx, cred.APIKey, partner.ScopeCyber); !errors.Is(err, partner.ErrUnauthorised) {
		t.Error("a revoked key was answered from memory:", err)
	}
}

func TestKeysAreRandomAndChecked(t *testing.T) {
	e := storetest.Open(t, "sqlite")
	counted := &countingStore{Store: e.Store.Partners}
	gate := partner.NewKeyGate(counted, e.Clock.Now)
	_, cred := e.NewPartner(t, partner.Live)
	key := []byte(cred.APIKey)
	for i := range key {
		for _, c := range []byte("aZ0-") {
			if key[i] == c {
				continue
			}
			wrong := append([]byte{}, key...)
			wrong[i] = c
			if _, err := gate.Authenticate(context.Background(), string(wrong), partner.ScopeCyber); !errors.Is(err, partner.ErrUnauthorised) {
				t.Fatalf("position %d: %v", i, err)
			}
		}
	}
	if n := counted.lookups.Load(); n != 0 {
		t.Errorf("%d mistyped keys reached the database", n)
	}
	reg := partner.NewRegistry(e.Store.Partners, e.Clock.Now, rand.Reader)
	_, other, err := reg.CreatePartner(context.Background(), "x", partner.Sandbox, partner.Settings{})
	if err != nil || !strings.HasPrefix(other.APIKey, "vg_test_") || !strings.HasPrefix(cred.APIKey, "vg_live_") {
		t.Error(other.APIKey[:8], err)
	}
}

// TestSites: hosts of the partner's own are kept in one spelling; what is no host is refused and named.
func TestSites(t *testing.T) {
	e := storetest.Open(t, "sqlite")
	ctx := context.Background()
	p, _ := e.NewPartner(t, partner.Live)
	reg := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	set := func(hosts ...string) (string, error) {
		_, err := reg.UpdatePartner(
			ctx,
			p.ID,
			func(p *partner.Partner) { p.Settings.Sites = partner.JoinSiteList(hosts) },
		)
		kept, kerr := reg.PartnerByID(ctx, p.ID)
		if kerr != nil {
			t.Fatal(kerr)
		}
		return kept.Settings.Sites, err
	}
	const want = "app.banco.com.br banco.com.br"
	if got, err := set("Banco.com.br", "app.banco.com.br banco.com.br"); err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"banco", "https://banco.com.br", "banco.com.br:443", "banco.com.br/x", ".banco.com", "-a.com", strings.Repeat("a", 64) + ".com"} {
		if got, err := set(bad); !errors.Is(err, partner.ErrInvalid) || !strings.Contains(err.Error(), "site") ||
			got != want {
			t.Errorf("%s: %q, %v", bad, got, err)
		}
	}
	many := make([]string, 51)
	for i := range many {
		many[i] = fmt.Sprintf("a%d.com", i)
	}
	if _, err := set(many...); !errors.Is(err, partner.ErrInvalid) {
		t.Error("51 sites:", err)
	}
	if got, err := set(""); err != nil || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}
