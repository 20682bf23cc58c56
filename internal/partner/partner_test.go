package partner_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestUserHashVectors: all published spellings of a person's hash are two digests, and Digests makes both.
func TestUserHashVectors(t *testing.T) {
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []map[string]string
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 3 {
		t.Fatal("too few vectors")
	}
	for _, v := range vectors {
		d256, d512 := partner.Digests(v["cpf"], v["salt"])
		for name, want := range map[string][]byte{
			"blake2b512_hex": d512, "blake2b512_base64url": d512, "blake2b256_hex": d256, "blake2b256_base64": d256,
		} {
			for _, spelling := range []string{v[name], strings.ToUpper(v[name])} {
				if strings.Contains(name, "base64") && spelling != v[name] {
					continue // base64 has two cases
				}
				if got := partner.UserHash(spelling).Canonical(); string(got) != string(want) {
					t.Errorf("cpf %s: %s is not recognised", v["cpf"], name)
				}
			}
		}
	}
}

func TestUserHashSpellings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{32, 64}).Draw(t, "size")
		d := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "digest")
		want := string(partner.UserHash(hex.EncodeToString(d)).Canonical())
		for _, s := range []string{
			strings.ToUpper(hex.EncodeToString(d)), base64.StdEncoding.EncodeToString(d), base64.RawStdEncoding.EncodeToString(d),
			base64.URLEncoding.EncodeToString(d), base64.RawURLEncoding.EncodeToString(d),
		} {
			if string(partner.UserHash(s).Canonical()) != want {
				t.Fatalf("%s is another user", s)
			}
		}
	})
}

func TestUserHashOthers(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []string{
		"a", "A", "usuario-1", strings.Repeat("f", 63), strings.Repeat("f", 65), strings.Repeat("f", 64), strings.Repeat("g", 64),
		"d" + strings.Repeat("\x01", 32), strings.Repeat("A", 43), strings.Repeat("A", 44), strings.Repeat("A", 42) + "B",
	} {
		c := string(partner.UserHash(s).Canonical())
		if other, taken := seen[c]; taken {
			t.Errorf("%q and %q are one user", s, other)
		}
		seen[c] = s
	}
	for s, ok := range map[string]bool{
		"": false, "a b": true, "é": true, strings.Repeat("é", 256): true, strings.Repeat("x", 257): false, "a\nb": false, "a\x00": false, "\xff": false, "\u202e": false,
	} {
		if _, err := partner.ParseUserHash("userHash", s); (err == nil) != ok {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestParseScopes(t *testing.T) {
	if s, err := partner.ParseScopes(nil); err != nil || len(s) != 3 {
		t.Error(s, err)
	}
	if _, err := partner.ParseScopes([]string{"cyber", "admin"}); !errors.Is(err, partner.ErrInvalid) {
		t.Error(err)
	}
	reader := partner.Key{Scopes: []partner.Scope{partner.ScopeCyberRead}}
	if !reader.Allows(partner.ScopeCyberRead) || reader.Allows(partner.ScopeCyber) || reader.Allows(partner.ScopeSubscriptionsRead) {
		t.Error("a read-only key")
	}
	full := partner.Key{Scopes: []partner.Scope{partner.ScopeCyber}}
	if !full.Allows(partner.ScopeCyberRead) || !full.Allows(partner.ScopeCyber) || full.Allows(partner.ScopeSubscriptions) {
		t.Error("a full key")
	}
}

// TestGateForgets: a key that was just used is refused within two seconds of its revocation by another process, and one
// that was rolled works until its overlap ends.
func TestGateForgets(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		gate := partner.NewGate(e.Store.Partners, time.Now)
		go gate.Watch(ctx)
		// The command line is another process: another store on the same database.
		cli := partner.NewRegistry(storetest.Reopen(t, e.Address, e.Folder, e.Keys, e.Clock).Partners, time.Now, nil)
		p, cred, err := cli.Create(ctx, "Banco", partner.Live, partner.Settings{})
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
		keys, err := cli.Keys(ctx, p.ID)
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
		if _, err := cli.Suspend(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
		within("suspended partner", second, false)
		if _, err := cli.Resume(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
		within("resumed partner", second, true)
	})
}

// TestGateDistrustsItsMemory: when the epoch cannot be read, a remembered key is looked up again.
func TestGateDistrustsItsMemory(t *testing.T) {
	e := storetest.Open(t, "sqlite")
	counted := &countingStore{Store: e.Store.Partners}
	gate := partner.NewGate(counted, e.Clock.Now)
	_, cred := e.NewPartner(t, partner.Live)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { gate.Watch(ctx); close(done) }()
	ask := func() {
		t.Helper()
		if _, err := gate.Authenticate(context.Background(), cred.APIKey, partner.ScopeCyber); err != nil {
			t.Fatal(err)
		}
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
	for range 100 {
		ask()
	}
	if n := counted.lookups.Load() - known; n != 0 {
		t.Errorf("%d look-ups for 100 requests of a key that is known", n)
	}
	stop()
	<-done
	e.Clock.Advance(10 * time.Second) // no poll renews the trust
	ask()
	ask()
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
	gate := partner.NewGate(counted, e.Clock.Now)
	registry := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	p, cred := e.NewPartner(t, partner.Live)
	keys, err := registry.Keys(ctx, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	gate.Refresh(ctx)
	counted.meanwhile = func() {
		counted.meanwhile = nil
		if _, err := registry.RevokeKey(ctx, p.ID, keys[0].ID); err != nil {
			t.Error(err)
		}
		gate.Refresh(ctx)
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
	gate := partner.NewGate(counted, e.Clock.Now)
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
	_, other, err := reg.Create(context.Background(), "x", partner.Sandbox, partner.Settings{})
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
		_, err := reg.Change(ctx, p.ID, func(p *partner.Partner) { p.Settings.Sites = partner.JoinSites(hosts) })
		kept, kerr := reg.Partner(ctx, p.ID)
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
		if got, err := set(bad); !errors.Is(err, partner.ErrInvalid) || !strings.Contains(err.Error(), "site") || got != want {
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
