package partner

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
)

// What a key may do to its partner's keys. The rule is one: nobody gains by it. A key makes, rolls and ends only keys
// that may do no more than itself, and none that it makes outlives it.

// MaxOwnKeys bounds the keys in force of a partner that makes them itself.
const MaxOwnKeys = 100

// ErrTooManyKeys means that a partner has as many keys in force as it may make.
var ErrTooManyKeys = fault.New(fault.Conflict, "key.too_many")

// within refuses scopes that the calling key does not have.
func (c Caller) within(scopes []Scope) error {
	for _, s := range scopes {
		if !c.Allows(s) {
			return ErrInvalid.With("scopes: no more than the calling key has; it lacks %s", s)
		}
	}
	return nil
}

// latest is the earlier of a time and the end of the calling key; zero is never.
func (c Caller) latest(t time.Time) time.Time {
	if end := c.key.ExpiresAt; !end.IsZero() && (t.IsZero() || t.After(end)) {
		return end
	}
	return t
}

// CreateKeyBy gives the caller's partner one more key. At least one scope is named. What has no end, or a later one than
// the calling key, ends with it.
func (r *Registry) CreateKeyBy(ctx context.Context, by Caller, label string, scopes []string, expires time.Time) (Key, string, error) {
	if len(scopes) == 0 {
		return Key{}, "", ErrInvalid.With("scopes: name at least one")
	}
	parsed, err := ParseScopes(scopes)
	if err != nil {
		return Key{}, "", err
	}
	if err := by.within(parsed); err != nil {
		return Key{}, "", err
	}
	keys, err := r.store.Keys(ctx, by.Partner)
	if err != nil {
		return Key{}, "", err
	}
	now := r.now()
	if live := slices.DeleteFunc(keys, func(k Key) bool { return !k.LiveAt(now) }); len(live) >= MaxOwnKeys {
		return Key{}, "", ErrTooManyKeys.With("keys: at most %d in force", MaxOwnKeys)
	}
	return r.CreateKey(ctx, by.Partner, label, parsed, by.latest(expires))
}

// RollKeyBy replaces a key of the caller's partner, or the calling key itself. The new one ends when the old one would
// have, at the latest: else one that was rolled could roll itself on for ever.
func (r *Registry) RollKeyBy(ctx context.Context, by Caller, old KeyID, overlap time.Duration) (Key, string, error) {
	return r.roll(ctx, by.Partner, old, overlap, func(k Key) (time.Time, error) {
		return by.latest(k.ExpiresAt), by.within(k.Scopes)
	})
}

// RevokeKeyBy ends a key of the caller's partner; its own only when self says that this is meant.
func (r *Registry) RevokeKeyBy(ctx context.Context, by Caller, key KeyID, self bool) (Key, error) {
	if key == by.KeyID && !self {
		return Key{}, ErrInvalid.With("self: must be true to revoke the key that this request shows")
	}
	return r.store.UpdateKey(ctx, by.Partner, key, func(k *Key) error {
		if err := by.within(k.Scopes); err != nil {
			return err
		}
		if k.RevokedAt.IsZero() {
			k.RevokedAt = r.now()
		}
		return nil
	})
}
