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

// access is who may use a route or a list: operators of the service by their role, and a partner's people, of what is
// theirs, by a right.
type access struct {
	// role is the least role that may.
	role operator.Role
	// portal is the right by which a partner's people may; without one it is closed to them.
	portal operator.Right
}

var (
	everyone                = access{operator.Viewer, look}
	viewers                 = access{operator.Viewer, closed}
	supporters              = access{operator.Support, closed}
	supportersAndPartners   = access{operator.Support, look}
	supportersAndAttendants = access{operator.Support, attend}
	supportersAndDevelopers = access{operator.Support, integrate}
	admins                  = access{operator.Admin, closed}
	adminsAndDevelopers     = access{operator.Admin, integrate}
	adminsAndOfficers       = access{operator.Admin, respond}
)

// isOpenTo reports whether an operator of the service has the role, or a partner's person the right.
func (a access) isOpenTo(who operator.Operator) bool {
	return who.Partner != "" && who.Role.May(a.portal) || who.Partner == "" && who.Role.Covers(a.role)
}
