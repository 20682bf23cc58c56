package partner

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
)

// What a key may do to its partner's keys. There is one rule: no privilege escalation. A key makes, rolls and ends only
// keys that may do no more than itself, and none that it makes outlives it.

// MaxOwnKeys bounds the keys in force of a partner that makes them itself.
const MaxOwnKeys = 100

// ErrTooManyKeys means that a partner has as many keys in force as it may make.
var ErrTooManyKeys = fault.New(fault.Conflict, "key.too_many")

// checkOwnScopes refuses scopes that the calling key does not have.
func (c Caller) checkOwnScopes(scopes []Scope) error {
	for _, s := range scopes {
		if !c.HasScope(s) {
			return ErrInvalid.With("scopes", fault.ScopeLacking, s)
		}
	}
	return nil
}

// limitToOwnEnd returns the earlier of a time and the end of the calling key; zero is never.
func (c Caller) limitToOwnEnd(t time.Time) time.Time {
	if end := c.key.ExpiresAt; !end.IsZero() && (t.IsZero() || t.After(end)) {
		return end
	}
	return t
}

// CreateKeyBy gives the caller's partner one more key. At least one scope is named. What has no end, or a later one than
// the calling key, ends with it.
func (r *Registry) CreateKeyBy(ctx context.Context, by Caller, label string, scopes []string, expires time.Time) (Key, string, error) {
	if len(scopes) == 0 {
		return Key{}, "", ErrInvalid.With("scopes", fault.NameAtLeastOne)
	}
	parsed, err := ParseScopes(scopes)
	if err != nil {
		return Key{}, "", err
	}
	if err := by.checkOwnScopes(parsed); err != nil {
		return Key{}, "", err
	}
	keys, err := r.store.ListKeys(ctx, by.Partner)
	if err != nil {
		return Key{}, "", err
	}
	now := r.now()
	if live := slices.DeleteFunc(keys, func(k Key) bool { return !k.IsLiveAt(now) }); len(live) >= MaxOwnKeys {
		return Key{}, "", ErrTooManyKeys.With("keys", fault.AtMostInForce, MaxOwnKeys)
	}
	return r.insertNewKey(ctx, by.Partner, label, parsed, by.limitToOwnEnd(expires), by.KeyID)
}

// RollKeyBy replaces a key of the caller's partner, or the calling key itself. The new one ends when the old one would
// have, at the latest: else one that was rolled could roll itself on for ever.
func (r *Registry) RollKeyBy(ctx context.Context, by Caller, old KeyID, overlap time.Duration) (Key, string, error) {
	return r.rollKeyOnTerms(ctx, by.Partner, old, overlap, func(k Key) (time.Time, KeyID, error) {
		return by.limitToOwnEnd(k.ExpiresAt), by.KeyID, by.checkOwnScopes(k.Scopes)
	})
}

// RevokeKeyBy ends a key of the caller's partner and its descendants. The calling key is among them, or is the named one,
// only when self says that this is meant.
func (r *Registry) RevokeKeyBy(ctx context.Context, by Caller, key KeyID, self bool) ([]Key, error) {
	if key == by.KeyID && !self {
		return nil, ErrInvalid.With("self", fault.ConfirmOwnKey)
	}
	return r.revokeKeys(ctx, by.Partner, key, func(keys []Key, named Key) ([]Key, error) {
		if err := by.checkOwnScopes(named.Scopes); err != nil {
			return nil, err
		}
		if !self { // one that was rolled ends the key before it, and lives on with what it made itself
			keys = slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.ID == by.KeyID })
		}
		return Descendants(keys, key), nil
	})
}
