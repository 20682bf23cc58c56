package operator

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ForPartner returns a registry that is confined to a partner: it lists and changes the partner's people only, and
// refuses to make or change those who may do what a person of the role by may not.
func (r *Registry) ForPartner(id partner.ID, by Role) *Registry {
	return r.WithStore(ownPeople{inner: r.store, id: id, by: by})
}

// ownPeople is a store that knows only one partner's people. Every method is written out, so that one that is added to
// the interface is decided on before it compiles.
type ownPeople struct {
	inner Store
	id    partner.ID
	by    Role // whose person asks
}

var _ Store = ownPeople{}

var errRoleNotGiven = ErrInvalid.With("role", fault.RoleNotGiven)

// checkRoleChange refuses a change of people, or to a role, with rights that who asks does not have. Their one-time
// links, and the sessions behind them, would be theirs.
func (s ownPeople) checkRoleChange(roles ...Role) error {
	for _, role := range roles {
		if !s.by.MayGive(role) {
			return errRoleNotGiven
		}
	}
	return nil
}

// checkAccount returns ErrNotFound for the number of an operator who is not one of the partner's people.
func (s ownPeople) checkAccount(ctx context.Context, id ID) error {
	_, err := s.OperatorByID(ctx, id)
	return err
}

func (s ownPeople) TokenDigest(token string) []byte { return s.inner.TokenDigest(token) }

// InsertSession keeps a session of one of the partner's people.
func (s ownPeople) InsertSession(ctx context.Context, session Session) error {
	if err := s.checkAccount(ctx, session.Operator); err != nil {
		return err
	}
	return s.inner.InsertSession(ctx, session)
}

// SessionByDigest returns a session of one of the partner's people.
func (s ownPeople) SessionByDigest(ctx context.Context, digest []byte) (Session, Operator, error) {
	session, o, err := s.inner.SessionByDigest(ctx, digest)
	if o, err = s.checkOwn(o, err); err != nil {
		return Session{}, Operator{}, err
	}
	return session, o, nil
}

// UpdateSession changes a session of one of the partner's people.
func (s ownPeople) UpdateSession(ctx context.Context, session Session) error {
	if err := s.checkAccount(ctx, session.Operator); err != nil {
		return err
	}
	return s.inner.UpdateSession(ctx, session)
}

// ReplaceSession keeps a session of one of the partner's people under another digest.
func (s ownPeople) ReplaceSession(ctx context.Context, before []byte, session Session) error {
	if err := s.checkAccount(ctx, session.Operator); err != nil {
		return err
	}
	return s.inner.ReplaceSession(ctx, before, session)
}

// DeleteSession ends a session of one of the partner's people.
func (s ownPeople) DeleteSession(ctx context.Context, digest []byte) error {
	if _, _, err := s.SessionByDigest(ctx, digest); err != nil {
		return err
	}
	return s.inner.DeleteSession(ctx, digest)
}

// SweepSessions removes nothing: it is a chore over all operators.
func (ownPeople) SweepSessions(context.Context, time.Time, time.Time) (int64, error) {
	return 0, ErrNotFound
}

// InsertPasskey keeps a passkey of one of the partner's people.
func (s ownPeople) InsertPasskey(ctx context.Context, p Passkey) error {
	if err := s.checkAccount(ctx, p.Operator); err != nil {
		return err
	}
	return s.inner.InsertPasskey(ctx, p)
}

// UpdatePasskey changes a passkey of one of the partner's people.
func (s ownPeople) UpdatePasskey(ctx context.Context, p Passkey) error {
	if err := s.checkAccount(ctx, p.Operator); err != nil {
		return err
	}
	return s.inner.UpdatePasskey(ctx, p)
}

// InsertCeremony keeps a ceremony that has begun. It is found by a random token alone, and names nobody.
func (s ownPeople) InsertCeremony(ctx context.Context, digest, state []byte, until time.Time) error {
	return s.inner.InsertCeremony(ctx, digest, state, until)
}

// TakeCeremony returns what was kept and forgets it.
func (s ownPeople) TakeCeremony(ctx context.Context, digest []byte, now time.Time) ([]byte, error) {
	return s.inner.TakeCeremony(ctx, digest, now)
}

// checkOwn returns ErrNotFound for an operator who is not one of the partner's people.
func (s ownPeople) checkOwn(o Operator, err error) (Operator, error) {
	if err == nil && (s.id == "" || o.Partner != s.id) {
		return Operator{}, ErrNotFound
	}
	return o, err
}

// InsertOperator refuses an operator who is not one of the partner's people.
func (s ownPeople) InsertOperator(ctx context.Context, o Operator) error {
	if _, err := s.checkOwn(o, nil); err != nil {
		return err
	}
	if err := s.checkRoleChange(o.Role); err != nil {
		return err
	}
	return s.inner.InsertOperator(ctx, o)
}

// ListOperators returns the partner's people, oldest first.
func (s ownPeople) ListOperators(ctx context.Context) ([]Operator, error) {
	all, err := s.inner.ListOperators(ctx)
	return slices.DeleteFunc(all, func(o Operator) bool { return s.id == "" || o.Partner != s.id }), err
}

// OperatorByID returns one of the partner's people.
func (s ownPeople) OperatorByID(ctx context.Context, id ID) (Operator, error) {
	return s.checkOwn(s.inner.OperatorByID(ctx, id))
}

// OperatorByEmail returns one of the partner's people.
func (s ownPeople) OperatorByEmail(ctx context.Context, email string) (Operator, error) {
	return s.checkOwn(s.inner.OperatorByEmail(ctx, email))
}

// OperatorByInvite returns one of the partner's people.
func (s ownPeople) OperatorByInvite(ctx context.Context, digest []byte) (Operator, error) {
	return s.checkOwn(s.inner.OperatorByInvite(ctx, digest))
}

// UpdateOperator changes one of the partner's people.
func (s ownPeople) UpdateOperator(
	ctx context.Context, id ID, end EndSessions, change func(o *Operator, all []Operator) error,
) (Operator, error) {
	return s.inner.UpdateOperator(ctx, id, end, func(o *Operator, all []Operator) error {
		if _, err := s.checkOwn(*o, nil); err != nil {
			return err
		}
		before := o.Role
		if err := change(o, all); err != nil {
			return err
		}
		return s.checkRoleChange(before, o.Role)
	})
}

// checkMayEnd refuses to end the access of an operator who is not one of the partner's people.
func (s ownPeople) checkMayEnd(ctx context.Context, id ID) error {
	o, err := s.OperatorByID(ctx, id)
	if err != nil {
		return err
	}
	return s.checkRoleChange(o.Role)
}

// DeleteSessions ends the sessions of one of the partner's people.
func (s ownPeople) DeleteSessions(ctx context.Context, id ID) (int64, error) {
	if err := s.checkMayEnd(ctx, id); err != nil {
		return 0, err
	}
	return s.inner.DeleteSessions(ctx, id)
}

// ListSessions returns those of one of the partner's people.
func (s ownPeople) ListSessions(ctx context.Context, id ID) ([]Session, error) {
	if _, err := s.OperatorByID(ctx, id); err != nil {
		return nil, err
	}
	return s.inner.ListSessions(ctx, id)
}

// ListPasskeys returns those of one of the partner's people.
func (s ownPeople) ListPasskeys(ctx context.Context, id ID) ([]Passkey, error) {
	if _, err := s.OperatorByID(ctx, id); err != nil {
		return nil, err
	}
	return s.inner.ListPasskeys(ctx, id)
}

// DeletePasskeys forgets passkeys of one of the partner's people.
func (s ownPeople) DeletePasskeys(ctx context.Context, id ID, passkey []byte) (int64, error) {
	if err := s.checkMayEnd(ctx, id); err != nil {
		return 0, err
	}
	return s.inner.DeletePasskeys(ctx, id, passkey)
}
