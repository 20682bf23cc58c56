package partner

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// One is a view of Of with a single partner: every other ID is answered with ErrNotFound.
type One struct {
	Of interface {
		PartnerByID(ctx context.Context, id ID) (Partner, error)
	}
	ID ID
}

func (o One) PartnerByID(ctx context.Context, id ID) (Partner, error) {
	if o.ID == "" || id != o.ID {
		return Partner{}, ErrNotFound
	}
	return o.Of.PartnerByID(ctx, id)
}

func (o One) ListPartners(ctx context.Context) ([]Partner, error) {
	p, err := o.PartnerByID(ctx, o.ID)
	return []Partner{p}, err
}

// ForPartner returns the same rules for a partner's own people: to them there is no other partner. Keys that show
// people are created only where approves is set; those that there are can be rolled and revoked by all.
func (r *Registry) ForPartner(id ID, approves bool) *Registry {
	own := *r
	own.store = ownPartner{inner: r.store, id: id, now: r.now, approves: approves}
	return &own
}

// ownPartner is a store that knows one partner. Every method is written out, so that one that is added to the interface
// is decided on before it compiles.
type ownPartner struct {
	inner Store
	id    ID
	now   func() time.Time
	// approves says that keys which show people can be created.
	approves bool
}

var _ Store = ownPartner{}

// checkOwn refuses every partner but the one.
func (s ownPartner) checkOwn(id ID) error {
	if s.id == "" || id != s.id {
		return ErrNotFound
	}
	return nil
}

// InsertPartner keeps nothing.
func (ownPartner) InsertPartner(context.Context, Partner, string, Key) error { return ErrNotFound }

func (s ownPartner) PartnerByID(ctx context.Context, id ID) (Partner, error) {
	return One{s.inner, s.id}.PartnerByID(ctx, id)
}

func (s ownPartner) ListPartners(ctx context.Context) ([]Partner, error) {
	return One{s.inner, s.id}.ListPartners(ctx)
}

// UpdatePartner changes nothing: settings are the operator's.
func (ownPartner) UpdatePartner(context.Context, ID, func(*Partner) error) (Partner, error) {
	return Partner{}, ErrNotFound
}

// AgeSandbox changes nothing: the clock of a sandbox is moved by the API.
func (ownPartner) AgeSandbox(context.Context, ID, int) error { return ErrNotFound }

func (ownPartner) AccessEpoch(context.Context) (int64, error) { return 0, ErrNotFound }

// InsertKey keeps a key of the one partner that may do no more than those in force.
func (s ownPartner) InsertKey(ctx context.Context, id ID, k Key) error {
	held, err := s.heldScopes(ctx, id)
	if err != nil {
		return err
	}
	isReplacement := k.Line != k.ID
	for _, scope := range k.Scopes {
		switch {
		case !slices.Contains(held, scope):
			return ErrInvalid.With("scope", fault.ScopeOperatorGives, scope)
		case scope.showsPeople() && !s.approves && !isReplacement:
			return ErrInvalid.With("scope", fault.ScopeNeedsApproval, scope)
		}
	}
	return s.inner.InsertKey(ctx, id, k)
}

func (s ownPartner) ListKeys(ctx context.Context, id ID) ([]Key, error) {
	if err := s.checkOwn(id); err != nil {
		return nil, err
	}
	return s.inner.ListKeys(ctx, id)
}

func (s ownPartner) UpdateKeys(ctx context.Context, id ID, change func([]Key) error) error {
	if err := s.checkOwn(id); err != nil {
		return err
	}
	return s.inner.UpdateKeys(ctx, id, change)
}

// KeyByDigest finds nothing: who calls the API by a key is asked elsewhere.
func (ownPartner) KeyByDigest(context.Context, []byte) (Key, Partner, error) {
	return Key{}, Partner{}, ErrKeyNotFound
}

// OpenSalt opens nothing: it was shown once, to the operator.
func (ownPartner) OpenSalt(context.Context, ID) (string, error) { return "", ErrNotFound }

func (s ownPartner) GetTheme(ctx context.Context, id ID) (Theme, error) {
	if err := s.checkOwn(id); err != nil {
		return Theme{}, err
	}
	return s.inner.GetTheme(ctx, id)
}

func (s ownPartner) UpdateTheme(ctx context.Context, id ID, change func(*Theme) error) (Theme, error) {
	if err := s.checkOwn(id); err != nil {
		return Theme{}, err
	}
	return s.inner.UpdateTheme(ctx, id, change)
}

// heldScopes returns the scopes of the partner's keys in force.
func (s ownPartner) heldScopes(ctx context.Context, id ID) ([]Scope, error) {
	keys, err := s.ListKeys(ctx, id)
	if err != nil {
		return nil, err
	}
	var held []Scope
	for _, scope := range knownScopes() {
		if slices.ContainsFunc(keys, func(k Key) bool { return k.IsLiveAt(s.now()) && k.HasScope(scope) }) {
			held = append(held, scope)
		}
	}
	return held, nil
}
