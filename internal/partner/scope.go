package partner

import (
	"context"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Scope is what a key may do.
type Scope string

// The scopes. A full scope includes its read-only variant.
const (
	ScopeCyber             Scope = "cyber"
	ScopeCyberRead         Scope = "cyber:read"
	ScopeSubscriptions     Scope = "subscriptions"
	ScopeSubscriptionsRead Scope = "subscriptions:read"
	// ScopeCredentials lets a key ask whether a password is known together with a person's values. No other scope
	// includes it: it tells more of a person than all they watch.
	ScopeCredentials Scope = "credentials"
	// ScopeManage lets a key manage the partner's own webhooks and keys, and read statistics. No other scope
	// includes it: its holder decides where events go and who else may call.
	ScopeManage     Scope = "manage"
	ScopeManageRead Scope = "manage:read"
	// ScopePrivacy lets a key ask for the erasure of people. No key has it unless it is asked for, the first key of a
	// sandbox neither: what it does cannot be undone.
	ScopePrivacy Scope = "privacy"
	// ScopeAnyRead is what a route asks for that shows each key what it may see; no key is given it.
	ScopeAnyRead Scope = "any:read"
	// ScopeAny is what a route asks for that is for every key of the partner; no key is given it.
	ScopeAny Scope = "any"
)

// ContractScopes returns the default scopes of a key: the 14 operations of the contract. Managing keys, checking
// passwords and erasing people are not among them and must be asked for.
func ContractScopes() []Scope { return []Scope{ScopeCyber, ScopeSubscriptions} }

// firstScopes returns the scopes of the key that a partner is created with. A sandbox key opens everything that a
// developer tries on the first day, and no more than made-up data; only checks of passwords and erasures have to be
// asked for, as they have to be later.
func firstScopes(mode Mode) []Scope {
	if mode == Sandbox {
		return append(ContractScopes(), ScopeManage)
	}
	return ContractScopes()
}

// knownScopes returns all that a key can be given.
func knownScopes() []Scope {
	return []Scope{
		ScopeCyber,
		ScopeCyberRead,
		ScopeSubscriptions,
		ScopeSubscriptionsRead,
		ScopeCredentials,
		ScopeManage,
		ScopeManageRead,
		ScopePrivacy,
	}
}

// ParseScopes checks a list of scope names.
func ParseScopes(names []string) ([]Scope, error) {
	if len(names) == 0 {
		return ContractScopes(), nil
	}
	known := knownScopes()
	scopes := make([]Scope, 0, len(names))
	for _, n := range names {
		s := Scope(strings.TrimSpace(n))
		if !slices.Contains(known, s) {
			return nil, ErrInvalid.With("scopes", fault.UnknownScope)
		}
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes, nil
}

// Describe returns the scope as a refusal names it.
func (s Scope) Describe() string {
	if s == ScopeAnyRead {
		return string(ScopeCyberRead + " or " + ScopeSubscriptionsRead)
	}
	return string(s)
}

// showsPeople reports whether a key of a scope reads or confirms people's data, or erases people: among a partner's
// people an administrator gives it. GET /events names every person's hash, so a scope that asks by hash shows
// everybody.
func (s Scope) showsPeople() bool { return s != ScopeManage && s != ScopeManageRead }

// ScopeGivers says of each scope who can create a key with it.
type ScopeGivers struct {
	// Self are those that the account itself can give, PartnerAdmin those for which it asks an administrator of its
	// partner.
	Self, PartnerAdmin []Scope
	// Operator are those that no key in force of the partner has, so that a partner cannot regain with a new key what
	// the operator has taken away.
	Operator []Scope
}

// ListScopeGivers returns who can create keys with which scope. Those who run the service give every scope.
func (r *Registry) ListScopeGivers(ctx context.Context, id ID) (ScopeGivers, error) {
	s, own := r.store.(ownPartner)
	if !own {
		return ScopeGivers{Self: knownScopes()}, nil
	}
	held, err := s.heldScopes(ctx, id)
	if err != nil {
		return ScopeGivers{}, err
	}
	var givers ScopeGivers
	for _, scope := range knownScopes() {
		switch {
		case !slices.Contains(held, scope):
			givers.Operator = append(givers.Operator, scope)
		case scope.showsPeople() && !s.approves:
			givers.PartnerAdmin = append(givers.PartnerAdmin, scope)
		default:
			givers.Self = append(givers.Self, scope)
		}
	}
	return givers, nil
}
