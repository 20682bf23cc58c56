package api

import (
	"net/http"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
)

// route is one operation of the contract, or one extension.
type route struct {
	// op is the operation's number in the contract; 0 marks an extension.
	op     int
	method string
	// path is the template without the version prefix: every route answers at /v1 + path and at path.
	path  string
	area  *area
	scope partner.Scope
	body  bodyKind
	run   endpoint
}

// endpoint is what a route does. It never sees the ResponseWriter: it returns what to encode, or a fault.
type endpoint func(s *Server, r *request) (any, error)

// bodyKind says how a route's body is read.
type bodyKind uint8

const (
	noBody     bodyKind = iota
	smallBody           // read whole before the endpoint runs, at most maxSmallBody
	streamBody          // read by the endpoint, item by item, at most maxBulkBody
)

// routes is the whole partner API, in the contract's order.
var routes = []route{
	{1, http.MethodPost, "/cyber/monitoring", cyberArea, partner.ScopeCyber, smallBody, (*Server).addMonitoring},
	{2, http.MethodGet, "/cyber/monitoring/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listMonitoring},
	{3, http.MethodDelete, "/cyber/monitoring/{id}/{userhash}", cyberArea, partner.ScopeCyber, noBody, (*Server).removeMonitoring},
	{4, http.MethodPost, "/cyber/case", cyberArea, partner.ScopeCyber, smallBody, (*Server).openCase},
	{5, http.MethodGet, "/cyber/services", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listServices},
	{6, http.MethodPost, "/cyber/epp", cyberArea, partner.ScopeCyber, smallBody, (*Server).issueKey},
	{7, http.MethodGet, "/cyber/epp", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listDevices},
	{8, http.MethodPost, "/cyber/password-check", cyberArea, partner.ScopeCyberRead, smallBody, (*Server).checkPassword},
	{9, http.MethodGet, "/cyber/advise/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).advise},
	{10, http.MethodGet, "/cyber/score/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).score},
	{11, http.MethodGet, "/cyber/insurance/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).insurance},
	{12, http.MethodPost, "/subscriptions", subscriptionArea, partner.ScopeSubscriptions, streamBody, (*Server).createSubscriptions},
	{13, http.MethodGet, "/subscriptions", subscriptionArea, partner.ScopeSubscriptionsRead, noBody, (*Server).listSubscriptions},
	{14, http.MethodGet, "/subscriptions/{plan_id}/{beneficiary_cpf}", subscriptionArea, partner.ScopeSubscriptionsRead, noBody, (*Server).getSubscription},
	{0, http.MethodGet, eventsPath, cyberArea, partner.ScopeCyberRead, noBody, (*Server).listEvents},
	{0, http.MethodPost, "/cyber/advise/{userhash}/answers", cyberArea, partner.ScopeCyber, smallBody, (*Server).answerQuestion},
	{0, http.MethodGet, "/cyber/findings/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listFindings},
	{0, http.MethodPost, "/cyber/findings/{id}/resolve", cyberArea, partner.ScopeCyber, smallBody, (*Server).resolveFinding},
}

// eventsPath stands outside of both prefixes and speaks like the cyber area.
const eventsPath = "/events"

// versionPrefix is optional in every request.
const versionPrefix = "/v1"

// areaOf says in which shape an unknown path is refused; nil when it belongs to no area.
func areaOf(path string) *area {
	path = strings.TrimPrefix(path, versionPrefix)
	if path == eventsPath || strings.HasPrefix(path, eventsPath+"/") {
		return cyberArea
	}
	for _, a := range []*area{cyberArea, subscriptionArea} {
		if path == a.prefix || strings.HasPrefix(path, a.prefix+"/") {
			return a
		}
	}
	return nil
}
