package operator

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// The roles of a partner's own people. None includes a role of the service, so a check for one of those refuses them
// without knowing of partners. An administrator is a developer who may also give keys that show people in clear, and
// invite and change attendants, officers and other administrators.
const (
	PartnerAdmin  Role = "partner.admin"
	Developer     Role = "partner.developer"
	Attendant     Role = "partner.attendant"
	PartnerViewer Role = "partner.viewer"
	// Officer is the partner's data protection officer, whom the law calls encarregado.
	Officer Role = "partner.officer"
)

// partnerPrefix tells roles of partners' people from those of the operator's own in the database.
const partnerPrefix = "partner."

// PartnerRoles lists the roles of partners' people.
func PartnerRoles() []Role { return []Role{PartnerAdmin, Developer, Attendant, Officer, PartnerViewer} }

var errPartnerRole = ErrInvalid.With("role", fault.OneOf, "admin, developer, attendant, officer, viewer")

// ParsePartnerRole reads the name of a role of a partner's person: admin, developer, attendant, officer or viewer.
func ParsePartnerRole(s string) (Role, error) {
	if r := Role(partnerPrefix + s); r.ofPartner() {
		return r, nil
	}
	return "", errPartnerRole
}

// ParseRole reads the name of a role that the person may be given.
func (o Operator) ParseRole(s string) (Role, error) {
	if o.Partner != "" {
		return ParsePartnerRole(s)
	}
	return ParseRole(s)
}

// Name returns the name of the role in commands and forms.
func (r Role) Name() string { return strings.TrimPrefix(string(r), partnerPrefix) }

// ofPartner reports whether the role is one of a partner's people.
func (r Role) ofPartner() bool { return slices.Contains(PartnerRoles(), r) }

// checkOwner refuses a role of the service for a partner's person, and the other way round.
func (r Role) checkOwner(id partner.ID) error {
	switch {
	case id == "" && r.roleRank() == 0:
		return errRole
	case id != "" && !r.ofPartner():
		return errPartnerRole
	}
	return nil
}

// Right is what a partner's person does on a page of the console.
type Right int

// The rights. No role has the zero value, so a route without a decision is refused.
const (
	NoRight Right = iota
	// Look is to see the partner's own data, personal values masked. All roles of partners have it.
	Look
	// Integrate is to change keys and webhooks, to send again, and to invite colleagues with no other rights: a
	// developer's and an administrator's.
	Integrate
	// Attend is to see personal values with a reason, and to work on people's cases and findings: an attendant's.
	Attend
	// Approve is to give keys that show people in clear, and to make and change attendants and administrators: an
	// administrator's.
	Approve
	// Answer is to give people the copy of their data, to have them erased, and to report incidents: an officer's.
	Answer
)

// May reports whether a role of a partner has a right. Roles of the service have none: theirs are in Covers.
func (r Role) May(right Right) bool {
	switch right {
	case Look:
		return r.ofPartner()
	case Integrate:
		return r == Developer || r == PartnerAdmin
	case Attend:
		return r == Attendant
	case Approve:
		return r == PartnerAdmin
	case Answer:
		return r == Officer
	case NoRight:
	}
	return false
}

// MayGive reports whether who has the role may give another one, or change who has it: no account gives a right that it
// does not hold. An administrator of the partner answers for its people and gives every role of theirs.
func (r Role) MayGive(other Role) bool {
	if r.May(Approve) {
		return other.ofPartner()
	}
	for _, right := range []Right{Look, Integrate, Attend, Approve, Answer} {
		if other.May(right) && !r.May(right) {
			return false
		}
	}
	return other.ofPartner()
}

// InvitePartnerOperator makes an account for a partner's person, who chooses a password through the one-time link whose
// token is returned. That there is such a partner is for the caller to know.
func (r *Registry) InvitePartnerOperator(
	ctx context.Context,
	id partner.ID,
	email string,
	role Role,
) (Operator, string, error) {
	if !role.ofPartner() {
		return Operator{}, "", errPartnerRole
	}
	if id == "" {
		return Operator{}, "", partner.ErrNotFound
	}
	return r.insertOperator(ctx, id, email, role)
}

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
	ctx context.Context,
	id ID,
	end EndSessions,
	change func(o *Operator, all []Operator) error,
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
