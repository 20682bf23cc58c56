package partner

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// What a key may do to its partner's keys. There is one rule: no privilege escalation. A key makes, rolls and ends only
// keys that may do no more than itself, and none that it makes outlives it.

// MaxOwnKeys bounds the keys in force of a partner that makes them itself.
const MaxOwnKeys = 100

// ErrTooManyKeys means that a partner has as many keys in force as it may make.
var ErrTooManyKeys = fault.New(fault.Conflict, "key.too_many")

// checkOwnKeyLimit refuses one more key to a partner that has as many in force as it may make.
func checkOwnKeyLimit(keys []Key, now time.Time) error {
	live := 0
	for _, k := range keys {
		if k.IsLiveAt(now) {
			live++
		}
	}
	if live >= MaxOwnKeys {
		return ErrTooManyKeys.With("keys", fault.AtMostInForce, MaxOwnKeys)
	}
	return nil
}

// limitToHeldEnd returns the earlier of a time and the end of what the partner holds: for each of the scopes the last
// of its keys in force that has it. Otherwise a scope that the operator gave for a day would become one for ever. Zero
// is never.
func limitToHeldEnd(keys []Key, scopes []Scope, expires, now time.Time) time.Time {
	for _, scope := range scopes {
		var last time.Time
		endless := false
		for _, k := range keys {
			if !k.IsLiveAt(now) || !k.HasScope(scope) {
				continue
			}
			endless = endless || k.ExpiresAt.IsZero()
			if k.ExpiresAt.After(last) {
				last = k.ExpiresAt
			}
		}
		if !endless && !last.IsZero() && (expires.IsZero() || expires.After(last)) {
			expires = last
		}
	}
	return expires
}

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

// CreateKeyBy gives the caller's partner one more key. At least one scope is named. What has no end, or a later one
// than the calling key, ends with it.
func (r *Registry) CreateKeyBy(
	ctx context.Context, by Caller, label string, scopes []string, expires time.Time,
) (Key, string, error) {
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
	if err := checkOwnKeyLimit(keys, r.now()); err != nil {
		return Key{}, "", err
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

// RevokeKeyBy ends a key of the caller's partner and its descendants. The calling key is among them, or is the named
// one, only when self says that this is meant.
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
