package stored_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// callerWith is who shows a new key with some scopes, ending after life; 0 is never.
func callerWith(
	t *testing.T,
	e *storetest.Env,
	id partner.ID,
	life time.Duration,
	scopes ...partner.Scope,
) partner.Caller {
	t.Helper()
	rules := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	var end time.Time
	if life > 0 {
		end = e.Clock.Now().Add(life)
	}
	_, text, err := rules.CreateKey(context.Background(), id, "", scopes, end)
	if err != nil {
		t.Fatal(err)
	}
	who, err := partner.NewKeyGate(e.Store.Partners, e.Clock.Now).Authenticate(context.Background(), text, partner.ScopeManage)
	if err != nil {
		t.Fatal(err)
	}
	return who
}

// TestKeysGainNothing: a key makes, rolls and revokes only keys that may do no more than itself, and none that outlives
// it; to end itself it has to say so.
func TestKeysGainNothing(t *testing.T) {
	t.Parallel()
	e := storetest.Open(t, "sqlite")
	ctx := context.Background()
	p, _ := e.NewPartner(t, partner.Live)
	other, _ := e.NewPartner(t, partner.Live)
	rules := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	narrow := callerWith(t, e, p.ID, 0, partner.ScopeManage, partner.ScopeCyberRead)
	for scopes, ok := range map[string]bool{"cyber:read": true, "manage": true, "manage:read": true, "cyber": false, "credentials": false, "subscriptions:read": false, "any:read": false, "": false} {
		k, text, err := rules.CreateKeyBy(ctx, narrow, "novo", []string{scopes}, time.Time{})
		if (err == nil) != ok || err != nil && !errors.Is(err, partner.ErrInvalid) ||
			ok && (text == "" || k.Label != "novo") {
			t.Errorf("%q: %+v %v", scopes, k, err)
		}
	}
	if _, _, err := rules.CreateKeyBy(ctx, narrow, "", nil, time.Time{}); !errors.Is(err, partner.ErrInvalid) {
		t.Error("no scopes became all of them:", err)
	}
	whole := callerWith(t, e, p.ID, 0, storetest.AllScopes...)
	foreign := callerWith(t, e, other.ID, 0, storetest.AllScopes...)
	for name, err := range map[string]error{
		"rolled a stronger key":  second(rules.RollKeyBy(ctx, narrow, whole.KeyID, 0)),
		"revoked a stronger key": first(rules.RevokeKeyBy(ctx, narrow, whole.KeyID, true)),
		"ended itself unasked":   first(rules.RevokeKeyBy(ctx, whole, whole.KeyID, false)),
	} {
		if !errors.Is(err, partner.ErrInvalid) {
			t.Errorf("a key %s: %v", name, err)
		}
	}
	if err := errors.Join(second(rules.RollKeyBy(ctx, whole, foreign.KeyID, 0)), first(rules.RevokeKeyBy(ctx, whole, foreign.KeyID, false))); !errors.Is(err, partner.ErrKeyNotFound) {
		t.Error("another partner's key:", err)
	}
	if _, err := rules.RevokeKeyBy(ctx, whole, whole.KeyID, true); err != nil {
		t.Error("a key may end itself if it says so:", err)
	}
	ending := callerWith(t, e, p.ID, time.Hour, storetest.AllScopes...)
	soon := e.Clock.Now().Add(time.Hour)
	lasting := callerWith(t, e, p.ID, 0, partner.ScopeManage)
	made, _, err := rules.CreateKeyBy(ctx, ending, "", []string{"manage"}, soon.Add(time.Hour))
	rolled, _, rerr := rules.RollKeyBy(ctx, ending, lasting.KeyID, 0)
	own, _, oerr := rules.RollKeyBy(ctx, ending, ending.KeyID, 24*time.Hour)
	if errors.Join(err, rerr, oerr) != nil || !made.ExpiresAt.Equal(soon) || !rolled.ExpiresAt.Equal(soon) ||
		!own.ExpiresAt.Equal(soon) {
		t.Errorf(
			"keys outlive the one that made them: %v %v %v, %v",
			made.ExpiresAt,
			rolled.ExpiresAt,
			own.ExpiresAt,
			errors.Join(err, rerr, oerr),
		)
	}
}

// TestOwnKeysAreFew: a partner makes up to MaxOwnKeys; those that ended do not count.
func TestOwnKeysAreFew(t *testing.T) {
	t.Parallel()
	e := storetest.Open(t, "sqlite")
	ctx := context.Background()
	p, _ := e.NewPartner(t, partner.Live)
	rules := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	who := callerWith(t, e, p.ID, 0, partner.ScopeManage)
	var last partner.Key
	for range partner.MaxOwnKeys - 2 { // there are the first one and the caller's
		var err error
		if last, _, err = rules.CreateKeyBy(ctx, who, "", []string{"manage:read"}, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := rules.CreateKeyBy(ctx, who, "", []string{"manage:read"}, time.Time{}); !errors.Is(err, partner.ErrTooManyKeys) {
		t.Error("one key too many:", err)
	}
	if _, err := rules.RevokeKeyBy(ctx, who, last.ID, false); err != nil {
		t.Fatal(err)
	}
	if _, _, err := rules.CreateKeyBy(ctx, who, "", []string{"manage:read"}, time.Time{}); err != nil {
		t.Error("a revoked key counts:", err)
	}
}

func second(_ partner.Key, _ string, err error) error { return err }
func first(_ []partner.Key, err error) error          { return err }

// TestRevokeReachesDescendants: a key ends with all that descend from it; the operator alone may spare them; and a key
// that has just been revoked makes none, though a replica still remembers it.
func TestRevokeReachesDescendants(t *testing.T) {
	t.Parallel()
	e := storetest.Open(t, "sqlite")
	ctx := context.Background()
	p, _ := e.NewPartner(t, partner.Live)
	rules := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	enter := func(text string, err error) partner.Caller {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(time.Second)
		who, err := partner.NewKeyGate(e.Store.Partners, e.Clock.Now).Authenticate(ctx, text, partner.ScopeManage)
		if err != nil {
			t.Fatal(err)
		}
		return who
	}
	made := func(by partner.Caller) partner.Caller {
		t.Helper()
		_, text, err := rules.CreateKeyBy(ctx, by, "", []string{"manage"}, time.Time{})
		return enter(text, err)
	}
	parent := callerWith(t, e, p.ID, 0, partner.ScopeManage)
	child := made(parent)
	grandchild := made(child)
	_, text, err := rules.RollKey(ctx, p.ID, parent.KeyID, time.Hour) // by the operator
	next := enter(text, err)
	live := func() (ids string) {
		t.Helper()
		keys, err := rules.ListKeys(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		for name, who := range map[string]partner.Caller{"parent ": parent, "child ": child, "grandchild ": grandchild, "next ": next} {
			for _, k := range keys {
				if k.ID == who.KeyID && k.IsLiveAt(e.Clock.Now()) {
					ids += name
				}
			}
		}
		return ids
	}
	if ended, err := rules.RevokeKeyOnly(
		ctx,
		p.ID,
		child.KeyID,
	); err != nil || len(ended) != 1 ||
		len(live()) != len("parent grandchild next ") {
		t.Errorf("%d ended, %v; live are %s", len(ended), err, live())
	}
	if _, _, err := rules.CreateKeyBy(ctx, child, "", []string{"manage"}, time.Time{}); !errors.Is(err, partner.ErrUnauthorised) {
		t.Error("a revoked key made a key:", err)
	}
	if ended, err := rules.RevokeKey(ctx, p.ID, parent.KeyID); err != nil || len(ended) != 2 || live() != "next " {
		t.Errorf("%d ended, %v; live are %s", len(ended), err, live())
	}
	of := partner.Descendants(mustKeys(t, rules, p.ID), next.KeyID)
	if len(of) != 2 {
		t.Errorf("a rolled key stands for the one before it: %d", len(of))
	}
}

func mustKeys(t *testing.T, rules *partner.Registry, id partner.ID) []partner.Key {
	t.Helper()
	keys, err := rules.ListKeys(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestRolledKeyKeepsItsEnd: rolling by the operator or by a partner's people makes no temporary key permanent, and what
// a successor made lives on when the key before it is revoked.
func TestRolledKeyKeepsItsEnd(t *testing.T) {
	t.Parallel()
	e := storetest.Open(t, "sqlite")
	ctx := context.Background()
	p, _ := e.NewPartner(t, partner.Live)
	rules := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	for _, k := range mustKeys(t, rules, p.ID) { // so that no key without an end is left
		if _, err := rules.RevokeKey(ctx, p.ID, k.ID); err != nil {
			t.Fatal(err)
		}
	}
	end := e.Clock.Now().Add(24 * time.Hour)
	for name, by := range map[string]*partner.Registry{"operator": rules, "portal": rules.ForPartner(p.ID, true)} {
		old, _, err := rules.CreateKey(ctx, p.ID, "", []partner.Scope{partner.ScopeManage}, end)
		if err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(time.Second)
		next, text, err := by.RollKey(ctx, p.ID, old.ID, time.Hour)
		if err != nil || !next.ExpiresAt.Equal(end) {
			t.Errorf("%s: a key that ends at %v was rolled to one that ends at %v, %v", name, end, next.ExpiresAt, err)
		}
		made, _, err := by.CreateKey(ctx, p.ID, "", []partner.Scope{partner.ScopeManage}, time.Time{})
		if wants := name == "operator"; err != nil || made.ExpiresAt.IsZero() != wants {
			t.Errorf("%s: a new key ends at %v, %v", name, made.ExpiresAt, err)
		}
		if name == "operator" { // it made the scope one without end
			if _, err := rules.RevokeKey(ctx, p.ID, made.ID); err != nil {
				t.Fatal(err)
			}
		}
		e.Clock.Advance(time.Second)
		who, err := partner.NewKeyGate(e.Store.Partners, e.Clock.Now).Authenticate(ctx, text, partner.ScopeManage)
		if err != nil {
			t.Fatal(err)
		}
		child, _, err := rules.CreateKeyBy(ctx, who, "", []string{"manage"}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if ended, err := rules.RevokeKey(ctx, p.ID, old.ID); err != nil || len(ended) != 1 {
			t.Errorf("%s: %d keys ended with one that was rolled, %v", name, len(ended), err)
		}
		for _, k := range mustKeys(t, rules, p.ID) {
			if (k.ID == child.ID || k.ID == next.ID) && !k.IsLiveAt(e.Clock.Now()) {
				t.Errorf("%s: %s ended with the key before", name, k.ID)
			}
		}
	}
}

// TestPortalMakesNoMoreKeysThanTheAPI: the limit of own keys is one, by whichever door they are made.
func TestPortalMakesNoMoreKeysThanTheAPI(t *testing.T) {
	t.Parallel()
	e := storetest.Open(t, "sqlite")
	ctx := context.Background()
	p, _ := e.NewPartner(t, partner.Live)
	portal := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil).ForPartner(p.ID, true)
	var err error
	made := len(mustKeys(t, portal, p.ID))
	for ; err == nil && made <= partner.MaxOwnKeys; made++ {
		_, _, err = portal.CreateKey(ctx, p.ID, "", []partner.Scope{partner.ScopeCyber}, time.Time{})
	}
	if !errors.Is(err, partner.ErrTooManyKeys) || made != partner.MaxOwnKeys+1 {
		t.Errorf("%d keys: %v", made, err)
	}
}
