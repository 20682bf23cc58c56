package partner

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
)

// One is a view of Of with a single partner: every other ID is answered with ErrNotFound.
type One struct {
	Of interface {
		PartnerByID(ctx context.Context, id ID) (Partner, error)
	}
	ID ID
}

// PartnerByID returns the one partner.
func (o One) PartnerByID(ctx context.Context, id ID) (Partner, error) {
	if o.ID == "" || id != o.ID {
		return Partner{}, ErrNotFound
	}
	return o.Of.PartnerByID(ctx, id)
}

// ListPartners returns the one partner.
func (o One) ListPartners(ctx context.Context) ([]Partner, error) {
	p, err := o.PartnerByID(ctx, o.ID)
	return []Partner{p}, err
}

// ForPartner returns the same rules for a partner's own people: to them there is no other partner. Keys that show
// people in clear are made and rolled only where clear is set.
func (r *Registry) ForPartner(id ID, clear bool) *Registry {
	own := *r
	own.store = ownPartner{r.store, id, r.now, clear}
	return &own
}

// showsPeople reports whether a key of a scope reads people's data in clear, without knowing who they are before.
func (s Scope) showsPeople() bool { return s == ScopeSubscriptions || s == ScopeSubscriptionsRead }

// ownPartner is a store that knows one partner.
type ownPartner struct {
	Store
	id    ID
	now   func() time.Time
	clear bool
}

// checkOwn refuses every partner but the one.
func (s ownPartner) checkOwn(id ID) error {
	if s.id == "" || id != s.id {
		return ErrNotFound
	}
	return nil
}

// NextPartner hands out nothing: a partner makes no partners.
func (ownPartner) NextPartner(context.Context) (int64, error) { return 0, ErrNotFound }

// InsertPartner keeps nothing.
func (ownPartner) InsertPartner(context.Context, Partner, string, Key) error { return ErrNotFound }

// PartnerByID returns the one partner.
func (s ownPartner) PartnerByID(ctx context.Context, id ID) (Partner, error) {
	return One{s.Store, s.id}.PartnerByID(ctx, id)
}

// ListPartners returns the one partner.
func (s ownPartner) ListPartners(ctx context.Context) ([]Partner, error) {
	return One{s.Store, s.id}.ListPartners(ctx)
}

// UpdatePartner changes nothing: settings are the operator's.
func (ownPartner) UpdatePartner(context.Context, ID, func(*Partner) error) (Partner, error) {
	return Partner{}, ErrNotFound
}

// InsertKey keeps a key of the one partner that may do no more than those in force.
func (s ownPartner) InsertKey(ctx context.Context, id ID, k Key) error {
	held, err := s.heldScopes(ctx, id)
	if err != nil {
		return err
	}
	for _, scope := range k.Scopes {
		if scope.showsPeople() && !s.clear {
			return ErrInvalid.With("scope", fault.ScopeShowsPeople, scope)
		}
		if !slices.Contains(held, scope) {
			return ErrInvalid.With("scope", fault.ScopeOperatorGives, scope)
		}
	}
	return s.Store.InsertKey(ctx, id, k)
}

// Keys returns those of the one partner.
func (s ownPartner) Keys(ctx context.Context, id ID) ([]Key, error) {
	if err := s.checkOwn(id); err != nil {
		return nil, err
	}
	return s.Store.ListKeys(ctx, id)
}

// UpdateKeys changes keys of the one partner.
func (s ownPartner) UpdateKeys(ctx context.Context, id ID, change func([]Key) error) error {
	if err := s.checkOwn(id); err != nil {
		return err
	}
	return s.Store.UpdateKeys(ctx, id, change)
}

// KeyByDigest finds nothing: who calls the API by a key is asked elsewhere.
func (ownPartner) KeyByDigest(context.Context, []byte) (Key, Partner, error) {
	return Key{}, Partner{}, ErrKeyNotFound
}

// OpenSalt opens nothing: it was shown once, to the operator.
func (ownPartner) OpenSalt(context.Context, ID) (string, error) { return "", ErrNotFound }

// GetTheme returns that of the one partner.
func (s ownPartner) GetTheme(ctx context.Context, id ID) (Theme, error) {
	if err := s.checkOwn(id); err != nil {
		return Theme{}, err
	}
	return s.Store.GetTheme(ctx, id)
}

// UpdateTheme changes that of the one partner.
func (s ownPartner) UpdateTheme(ctx context.Context, id ID, change func(*Theme) error) (Theme, error) {
	if err := s.checkOwn(id); err != nil {
		return Theme{}, err
	}
	return s.Store.UpdateTheme(ctx, id, change)
}

// GrantableScopes returns the scopes that a new key may have: all, or, for a partner's own people, those of its keys in
// force, so that a partner cannot regain with a new key what the operator has taken away.
func (r *Registry) GrantableScopes(ctx context.Context, id ID) ([]Scope, error) {
	if s, own := r.store.(ownPartner); own {
		return s.heldScopes(ctx, id)
	}
	return knownScopes(), nil
}

// heldScopes returns the scopes of the partner's keys in force.
func (s ownPartner) heldScopes(ctx context.Context, id ID) ([]Scope, error) {
	keys, err := s.Keys(ctx, id)
	var held []Scope
	for _, scope := range knownScopes() {
		if (s.clear || !scope.showsPeople()) && slices.ContainsFunc(keys, func(k Key) bool { return k.IsLiveAt(s.now()) && k.HasScope(scope) }) {
			held = append(held, scope)
		}
	}
	return held, err
}
