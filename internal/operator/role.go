package operator

import "slices"

// Role is what an operator may do. Each of the service's own roles includes those before it; the roles of partners are
// in portal.go.
type Role string

// The roles, least powerful first: a viewer looks, support helps people, an admin changes the service.
const (
	Viewer  Role = "viewer"
	Support Role = "support"
	Admin   Role = "admin"
)

// ListRoles lists all of them, least powerful first.
func ListRoles() []Role { return []Role{Viewer, Support, Admin} }

// ParseRole reads a role's name.
func ParseRole(s string) (Role, error) {
	if r := Role(s); r.roleRank() > 0 {
		return r, nil
	}
	return "", errRole
}

// Covers reports whether the role may do what need may do. A role that is not in the list covers nothing.
func (r Role) Covers(need Role) bool {
	return need.roleRank() > 0 && r.roleRank() >= need.roleRank()
}

// roleRank returns the place of a role among those of the service, counted from 1; 0 for others.
func (r Role) roleRank() int { return slices.Index(ListRoles(), r) + 1 }
