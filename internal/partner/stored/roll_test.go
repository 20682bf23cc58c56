package stored_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestMoreKeys: a partner's second key opens what it is for, until it ends.
func TestMoreKeys(t *testing.T) {
	e := storetest.Open(t, "sqlite")
	ctx, now := context.Background(), e.Clock.Now()
	p, _ := e.NewPartner(t, partner.Live)
	rules, gate := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil), partner.NewKeyGate(e.Store.Partners, e.Clock.Now)
	key, text, err := rules.CreateKey(ctx, p.ID, "app", []partner.Scope{partner.ScopeCyberRead}, now.Add(time.Hour))
	if err != nil || key.Label != "app" || !strings.HasPrefix(text, key.Preview) {
		t.Fatalf("%+v: %v", key, err)
	}
	opens := func(need partner.Scope) bool {
		c, err := gate.Authenticate(ctx, text, need)
		// A live key is told what it lacks, and one that has ended nothing.
		lacks := errors.Is(err, partner.ErrScopeMissing)
		if err != nil && !lacks && !errors.Is(err, partner.ErrUnauthorised) {
			t.Fatal(err)
		}
		if isKnown := c.KeyID == key.ID; isKnown != (err == nil || lacks) {
			t.Errorf("the caller is %q with %v", c.KeyID, err)
		}
		return err == nil
	}
	if !opens(partner.ScopeCyberRead) || opens(partner.ScopeCyber) || opens(partner.ScopeSubscriptionsRead) {
		t.Error("a read-only key opens too much or too little")
	}
	e.Clock.Advance(time.Hour)
	if opens(partner.ScopeCyberRead) {
		t.Error("a key opens after its end")
	}
	if _, err := gate.Authenticate(ctx, text, partner.ScopeManage); !errors.Is(err, partner.ErrUnauthorised) {
		t.Error("a key that has ended is told what it lacks:", err)
	}
	for name, make := range map[string]func() error{
		"ends now": func() error {
			_, _, err := rules.CreateKey(ctx, p.ID, "", nil, e.Clock.Now())
			return err
		},
		"label of two lines": func() error {
			_, _, err := rules.CreateKey(ctx, p.ID, "a\nb", nil, time.Time{})
			return err
		},
	} {
		if err := make(); !errors.Is(err, partner.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := rules.CreateKey(ctx, "pt_other", "", nil, time.Time{}); !errors.Is(err, partner.ErrNotFound) {
		t.Errorf("a key for nobody: %v", err)
	}
	dry := partner.NewRegistry(e.Store.Partners, e.Clock.Now, strings.NewReader("dry"))
	if _, _, err := dry.CreateKey(ctx, p.ID, "", nil, time.Time{}); err == nil {
		t.Error("a key was made of three random bytes")
	}
	if keys, err := rules.ListKeys(ctx, p.ID); err != nil || len(keys) != 2 {
		t.Errorf("%d keys: %v", len(keys), err)
	}
}

// TestRollOverlap: the old key ends at once or up to seven days later, and never later than it would have; the new one
// ends when the old one would have.
func TestRollOverlap(t *testing.T) {
	e := storetest.Open(t, "sqlite")
	ctx, now := context.Background(), e.Clock.Now()
	p, _ := e.NewPartner(t, partner.Live)
	rules := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	week := 7 * 24 * time.Hour
	for _, c := range []struct{ overlap, life, want time.Duration }{
		{0, 0, 0}, {time.Hour, 0, time.Hour}, {week, 0, week}, {time.Hour, 2 * time.Hour, time.Hour}, {2 * time.Hour, time.Hour, time.Hour},
	} {
		var expires time.Time
		if c.life > 0 {
			expires = now.Add(c.life)
		}
		old, _, err := rules.CreateKey(ctx, p.ID, "old", partner.ContractScopes(), expires)
		if err != nil {
			t.Fatal(err)
		}
		next, _, err := rules.RollKey(ctx, p.ID, old.ID, c.overlap)
		if err != nil || !next.IsLiveAt(now) {
			t.Fatalf("%s: %+v, %v", c.overlap, next, err)
		}
		want := next
		want.Label, want.ExpiresAt = "old", expires
		difftest.Must(t, c.overlap.String()+", the next key", next, want)
		keys, err := rules.ListKeys(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if k.ID == old.ID && !k.ExpiresAt.Equal(now.Add(c.want)) {
				t.Errorf("rolled with %s of %s: the old key ends in %s", c.overlap, c.life, k.ExpiresAt.Sub(now))
			}
		}
	}
	keys, err := rules.ListKeys(ctx, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, overlap := range []time.Duration{-1, week + 1} {
		if _, _, err := rules.RollKey(ctx, p.ID, keys[0].ID, overlap); !errors.Is(err, partner.ErrInvalid) {
			t.Errorf("an overlap of %s: %v", overlap, err)
		}
	}
}
