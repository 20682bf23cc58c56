package partner

import (
	"context"
	"errors"
	"testing"
	"time"
)

// keysOfAll is a store that has a key for every partner.
type keysOfAll struct{ Store }

func (keysOfAll) ListKeys(_ context.Context, id ID) ([]Key, error) {
	return []Key{{ID: "key_1", Partner: id}}, nil
}

// TestOwnPartnerKeys: the store that a partner's own people work with lists the keys of no other partner.
func TestOwnPartnerKeys(t *testing.T) {
	var own Store = ownPartner{inner: keysOfAll{}, id: "pt_1"}
	if keys, err := own.ListKeys(t.Context(), "pt_1"); err != nil || len(keys) != 1 {
		t.Errorf("own keys: %v, %v", keys, err)
	}
	for _, id := range []ID{"pt_2", ""} {
		if keys, err := own.ListKeys(t.Context(), id); !errors.Is(err, ErrNotFound) || keys != nil {
			t.Errorf("keys of %q: %v, %v", id, keys, err)
		}
	}
}

// TestLimitToHeldEnd: a new key of a partner's people ends with the last of the keys that hold each of its scopes.
func TestLimitToHeldEnd(t *testing.T) {
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	day, week := now.Add(24*time.Hour), now.Add(7*24*time.Hour)
	keys := []Key{
		{Scopes: []Scope{ScopeCyber}},
		{Scopes: []Scope{ScopeManage}, ExpiresAt: day},
		{Scopes: []Scope{ScopeManageRead}, ExpiresAt: week},
		{Scopes: []Scope{ScopeManage}, RevokedAt: now.Add(-time.Hour)},
	}
	for _, c := range []struct {
		scopes        []Scope
		expires, want time.Time
	}{
		{scopes: []Scope{ScopeCyber}},
		{scopes: []Scope{ScopeCyberRead}, expires: week, want: week},
		{scopes: []Scope{ScopeManage}, want: day},
		{scopes: []Scope{ScopeManage}, expires: week, want: day},
		{scopes: []Scope{ScopeManage}, expires: now.Add(time.Hour), want: now.Add(time.Hour)},
		{scopes: []Scope{ScopeManageRead}, want: week},
		{scopes: []Scope{ScopeCyber, ScopeManage}, want: day},
	} {
		if got := limitToHeldEnd(keys, c.scopes, c.expires, now); !got.Equal(c.want) {
			t.Errorf("%v until %v: %v, not %v", c.scopes, c.expires, got, c.want)
		}
	}
}
