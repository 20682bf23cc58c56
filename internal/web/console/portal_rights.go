package console

import "github.com/vigiahq/vigia/internal/operator"

// Rights of a partner's people, and the lack of one, which is a decision too.
const (
	closed    = operator.NoRight
	look      = operator.Look
	integrate = operator.Integrate
	attend    = operator.Attend
	respond   = operator.Answer
)

// A partner's own people use the same console. The code that confines them to their partner is in portal_scope.go and
// own_rules.go, not in the pages: the table of routes says which right each route needs, confineToPartner refuses
// requests that name another partner, and the pages run with rules that reach the data of that partner only.

// tableKey returns the key of the route in tables: method and path.
func (rt route) tableKey() string { return rt.method + " " + rt.path }

// isOpenTo reports whether the operator may use the route.
func (rt route) isOpenTo(who operator.Operator) bool { return isAllowedTo(who, rt.role, rt.portal) }

// isAllowedTo reports whether an operator of the service has a role, or a partner's person a right.
func isAllowedTo(who operator.Operator, role operator.Role, right operator.Right) bool {
	return who.Partner != "" && who.Role.May(right) || who.Partner == "" && who.Role.Covers(role)
}
