package partner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// CreateKey gives a partner one more key. The text is shown once. A partner's own people make no more keys than the API
// does, and none that outlives those in force: see ownPartner.
func (r *Registry) CreateKey(
	ctx context.Context, id ID, label string, scopes []Scope, expires time.Time,
) (Key, string, error) {
	if own, confined := r.store.(ownPartner); confined {
		keys, err := own.ListKeys(ctx, id)
		if err != nil {
			return Key{}, "", err
		}
		if err := checkOwnKeyLimit(keys, r.now()); err != nil {
			return Key{}, "", err
		}
		expires = limitToHeldEnd(keys, scopes, expires, r.now())
	}
	return r.insertNewKey(ctx, id, label, scopes, expires, "")
}

// insertNewKey makes a key, as child of madeBy if that is given, and keeps it.
func (r *Registry) insertNewKey(
	ctx context.Context, id ID, label string, scopes []Scope, expires time.Time, madeBy KeyID,
) (Key, string, error) {
	if !expires.IsZero() && !expires.After(r.now()) {
		return Key{}, "", ErrInvalid.With("expires", fault.InTheFuture)
	}
	if !IsPrintableLine(label, 0, maxName) {
		return Key{}, "", ErrInvalid.With("label", fault.PlainAtMost, maxName)
	}
	p, err := r.store.PartnerByID(ctx, id)
	if err != nil {
		return Key{}, "", err
	}
	key, text, err := r.generateKey(p, label, scopes, expires, madeBy)
	if err != nil {
		return Key{}, "", err
	}
	if err := r.store.InsertKey(ctx, id, key); err != nil {
		return Key{}, "", fmt.Errorf("create key: %w", err)
	}
	return key, text, nil
}

// ListKeys lists a partner's keys, oldest first.
func (r *Registry) ListKeys(ctx context.Context, id ID) ([]Key, error) {
	if _, err := r.store.PartnerByID(ctx, id); err != nil {
		return nil, err
	}
	return r.store.ListKeys(ctx, id)
}

// RollKey replaces a key: the new one has the same label, scopes and end, the old one ends after overlap.
func (r *Registry) RollKey(ctx context.Context, id ID, old KeyID, overlap time.Duration) (Key, string, error) {
	return r.rollKeyOnTerms(ctx, id, old, overlap, func(k Key) (time.Time, KeyID, error) {
		return k.ExpiresAt, k.MadeBy, nil
	})
}

// rollKeyOnTerms replaces a key; terms says when the new one ends and which key makes it, or refuses.
func (r *Registry) rollKeyOnTerms(
	ctx context.Context, id ID, old KeyID, overlap time.Duration, terms func(Key) (time.Time, KeyID, error),
) (Key, string, error) {
	if overlap < 0 || overlap > maxRollHours*time.Hour {
		return Key{}, "", ErrInvalid.With("overlap", fault.HoursUpTo, maxRollHours)
	}
	p, err := r.store.PartnerByID(ctx, id)
	if err != nil {
		return Key{}, "", err
	}
	keys, err := r.store.ListKeys(ctx, id)
	if err != nil {
		return Key{}, "", err
	}
	i := slices.IndexFunc(keys, func(k Key) bool { return k.ID == old })
	if i < 0 || !keys[i].IsLiveAt(r.now()) {
		return Key{}, "", ErrKeyNotFound.With("key", fault.NotALiveKey)
	}
	expires, madeBy, err := terms(keys[i])
	if err != nil {
		return Key{}, "", err
	}
	key, text, err := r.generateKey(p, keys[i].Label, keys[i].Scopes, expires, madeBy)
	if err != nil {
		return Key{}, "", err
	}
	key.Line = keys[i].Line
	// The new key first: if the second step fails the partner has two good keys, never none.
	if err := r.store.InsertKey(ctx, id, key); err != nil {
		return Key{}, "", fmt.Errorf("roll key: %w", err)
	}
	end := r.now().Add(overlap)
	err = r.store.UpdateKeys(ctx, id, func(keys []Key) error {
		for i := range keys {
			if k := &keys[i]; k.ID == old && (k.ExpiresAt.IsZero() || k.ExpiresAt.After(end)) {
				k.ExpiresAt = end
			}
		}
		return nil
	})
	return key, text, err
}

// RevokeKey ends a key and its descendants at once; every replica refuses them within two seconds. It returns the keys
// that it ended, the named one first.
func (r *Registry) RevokeKey(ctx context.Context, id ID, key KeyID) ([]Key, error) {
	return r.revokeKeys(ctx, id, key, func(keys []Key, _ Key) ([]Key, error) { return Descendants(keys, key), nil })
}

// RevokeKeyOnly ends a key and lets those that it made live on.
func (r *Registry) RevokeKeyOnly(ctx context.Context, id ID, key KeyID) ([]Key, error) {
	return r.revokeKeys(ctx, id, key, func([]Key, Key) ([]Key, error) { return nil, nil })
}

// revokeKeys ends a key and the others that with names.
func (r *Registry) revokeKeys(
	ctx context.Context, id ID, key KeyID, with func(keys []Key, named Key) ([]Key, error),
) (ended []Key, err error) {
	err = r.store.UpdateKeys(ctx, id, func(keys []Key) error {
		named := slices.IndexFunc(keys, func(k Key) bool { return k.ID == key })
		if named < 0 {
			return ErrKeyNotFound
		}
		others, err := with(keys, keys[named])
		if err != nil {
			return err
		}
		end := func(k *Key) {
			if k.RevokedAt.IsZero() {
				k.RevokedAt = r.now()
			}
			ended = append(ended, *k)
		}
		ended = nil // the transaction may run again
		end(&keys[named])
		for i := range keys {
			if slices.ContainsFunc(others, func(o Key) bool { return o.ID == keys[i].ID }) &&
				keys[i].IsLiveAt(r.now()) {
				end(&keys[i])
			}
		}
		return nil
	})
	return ended, err
}

// JoinKeyIDs joins the IDs of keys, for a line of the audit trail.
func JoinKeyIDs(keys []Key) string {
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = string(k.ID)
	}
	return strings.Join(ids, " ")
}

// Descendants returns the keys that a key made by the API, and those that they made, and so on. A rolled key stands for
// those before it in its line: what they made counts as made by it.
func Descendants(keys []Key, of KeyID) []Key {
	byID := make(map[KeyID]Key, len(keys))
	for _, k := range keys {
		byID[k.ID] = k
	}
	found := map[KeyID]bool{of: true}
	var list []Key
	for next := []Key{byID[of]}; len(next) > 0; next = next[1:] {
		for _, k := range keys {
			maker, made := byID[k.MadeBy]
			stoodFor := maker.Line == next[0].Line && !maker.CreatedAt.After(next[0].CreatedAt)
			if made && stoodFor && !found[k.ID] {
				found[k.ID] = true
				list, next = append(list, k), append(next, k)
			}
		}
	}
	return list
}
