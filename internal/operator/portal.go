package operator

import (
	"context"
	"slices"
	"strings"

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
	ctx context.Context, id partner.ID, email string, role Role,
) (Operator, string, error) {
	if !role.ofPartner() {
		return Operator{}, "", errPartnerRole
	}
	if id == "" {
		return Operator{}, "", partner.ErrNotFound
	}
	return r.insertOperator(ctx, id, email, role)
}
