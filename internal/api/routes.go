package api

import (
	"net/http"

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
	// query are the parameters of a route whose parameters change what is done or whose data is shown: other names are
	// refused. A route without any ignores whatever is there.
	query []string
	// secret is set where answers hold keys or tell about passwords: they are never compressed. An attacker who watches
	// the connection and controls a part of the content could guess the rest from the compressed length (BREACH).
	secret bool
	// outside is set where the endpoint reaches out, or writes more than one transaction should hold: it calls once itself.
	outside bool
	// vendor is set where the vendor of the antivirus may ask too, by a signature in place of a key.
	vendor bool
}

// endpoint is what a route does. It never sees the ResponseWriter: it returns what to encode, or a fault.
type endpoint func(s *Server, r *request) (any, error)

// bodyKind says how a route's body is read.
type bodyKind uint8

const (
	noBody     bodyKind = iota
	smallBody           // read whole before the endpoint runs, at most maxSmallBody
	listBody            // as smallBody, at most maxListBody: up to a thousand items that are charged one by one
	streamBody          // read by the endpoint, item by item, at most maxBulkBody
)

// maxBodyLength returns the most bytes that a body of the kind may have.
func (k bodyKind) maxBodyLength() int64 {
	switch k {
	case streamBody:
		return maxBulkBody
	case listBody:
		return maxListBody
	case noBody, smallBody:
	}
	return maxSmallBody
}

// routes is the whole partner API, in the contract's order.
var routes = []route{
	{op: 1, method: http.MethodPost, path: "/cyber/monitoring", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).addMonitoring},
	{op: 2, method: http.MethodGet, path: "/cyber/monitoring/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listMonitoring},
	{op: 3, method: http.MethodDelete, path: "/cyber/monitoring/{id}/{userhash}", area: cyberArea, scope: partner.ScopeCyber, run: (*Server).removeMonitoring},
	{op: 4, method: http.MethodPost, path: "/cyber/case", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).openSupportCase},
	{op: 5, method: http.MethodGet, path: "/cyber/services", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listServices},
	{op: 6, method: http.MethodPost, path: "/cyber/epp", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).issueDeviceKey, secret: true},
	{op: 7, method: http.MethodGet, path: "/cyber/epp", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listDevices, query: []string{"userHash"}, secret: true},
	{op: 8, method: http.MethodPost, path: "/cyber/password-check", area: cyberArea, scope: partner.ScopeCyberRead, body: smallBody, run: (*Server).checkPassword, secret: true},
	{op: 9, method: http.MethodGet, path: "/cyber/advise/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listAdvice},
	{op: 10, method: http.MethodGet, path: "/cyber/score/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).showScore},
	{op: 11, method: http.MethodGet, path: "/cyber/insurance/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).insurance},
	{op: 12, method: http.MethodPost, path: "/subscriptions", area: subscriptionArea, scope: partner.ScopeSubscriptions, body: streamBody, run: (*Server).createSubscriptions, query: []string{"dry_run"}},
	{op: 13, method: http.MethodGet, path: "/subscriptions", area: subscriptionArea, scope: partner.ScopeSubscriptionsRead, run: (*Server).listSubscriptions, query: []string{"page", "page_size"}},
	{op: 14, method: http.MethodGet, path: "/subscriptions/{plan_id}/{beneficiary_cpf}", area: subscriptionArea, scope: partner.ScopeSubscriptionsRead, run: (*Server).getSubscription},
	{method: http.MethodPost, path: "/cyber/monitoring/extra", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).addExtraAsset},
	{method: http.MethodGet, path: "/cyber/monitoring/extra/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listExtra},
	{method: http.MethodDelete, path: "/cyber/monitoring/extra/{id}/{userhash}", area: cyberArea, scope: partner.ScopeCyber, run: (*Server).removeExtra},
	{method: http.MethodGet, path: eventsPath, area: cyberArea, scope: partner.ScopeAnyRead, run: (*Server).listEvents, query: []string{"after", "limit", "newest"}},
	{method: http.MethodGet, path: eventsPath + "/{id}/message", area: cyberArea, scope: partner.ScopeAnyRead, run: (*Server).messageOfEvent, query: []string{"channel", "lang"}},
	{method: http.MethodPost, path: "/cyber/advise/{userhash}/answers", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).answerQuestion},
	{method: http.MethodGet, path: "/cyber/findings/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listFindings},
	{method: http.MethodPost, path: "/cyber/findings/{id}/resolve", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).resolveFinding},
	{method: http.MethodGet, path: "/cyber/findings/{id}/plan/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).showFindingPlan, query: []string{"lang"}},
	{method: http.MethodPost, path: "/cyber/findings/{id}/steps/{step}", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).markFindingStep},
	{method: http.MethodPost, path: "/cyber/findings/{id}/recheck", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).recheckFinding},
	{method: http.MethodPost, path: "/cyber/credential-check", area: cyberArea, scope: partner.ScopeCredentials, body: smallBody, run: (*Server).checkCredential, secret: true},
	{method: http.MethodGet, path: "/cyber/cover/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listCover},
	{method: http.MethodGet, path: "/cyber/services/{id}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).showService},
	{method: http.MethodGet, path: "/cyber/cases/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listCases},
	{method: http.MethodGet, path: "/cyber/case/{id}/history/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).showPersonCase},
	{method: http.MethodPost, path: "/cyber/case/{id}/messages", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).addCaseMessage},
	{method: http.MethodPost, path: "/cyber/case/{id}/cancel", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).cancelCase},
	{method: http.MethodPost, path: "/cyber/case/{id}/rebook", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).rebookCase},
	{method: http.MethodPost, path: "/cyber/case/{id}/rate", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).ratePersonCase},
	{method: http.MethodGet, path: "/cyber/epp/{key}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).showProtection, secret: true},
	{method: http.MethodPost, path: "/cyber/epp/{key}/activate", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).activateProtection, vendor: true},
	{method: http.MethodPost, path: "/cyber/epp/{key}/heartbeat", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).heartbeatProtection, vendor: true},
	{method: http.MethodPost, path: "/cyber/epp/{key}/revoke", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).revokeProtection},
	{method: http.MethodPost, path: "/cyber/epp/{key}/move", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).moveProtection, secret: true},
	{method: http.MethodGet, path: "/cyber/score/{userhash}/history", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).scoreHistory},
	{method: http.MethodPost, path: "/cyber/portal-session", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: (*Server).openPortal, secret: true},
	{method: http.MethodGet, path: "/cyber/breaches", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listBreaches, query: []string{"page", "page_size"}},
	{method: http.MethodGet, path: "/cyber/breaches/{name}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).showBreach},
	{method: http.MethodPost, path: "/cyber/assets", area: cyberArea, scope: partner.ScopeCyber, body: listBody, run: (*Server).addAssets, outside: true},
	{method: http.MethodPost, path: "/cyber/scores", area: cyberArea, scope: partner.ScopeCyberRead, body: listBody, run: (*Server).showScoreHistory, outside: true},
	{method: http.MethodPost, path: movesPath, area: subscriptionArea, scope: partner.ScopeSubscriptions, body: smallBody, run: (*Server).moveSubscriptions},
	{method: http.MethodPost, path: editsPath, area: subscriptionArea, scope: partner.ScopeSubscriptions, body: listBody, run: (*Server).editSubscriptions, outside: true},
	{method: http.MethodPost, path: "/subscriptions/{plan_id}/{beneficiary_cpf}/changes", area: subscriptionArea, scope: partner.ScopeSubscriptions, body: smallBody, run: (*Server).changeSubscription},
	{method: http.MethodGet, path: "/webhooks", area: cyberArea, scope: partner.ScopeManageRead, run: (*Server).listWebhooks},
	{method: http.MethodPost, path: "/webhooks", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: (*Server).createWebhook, secret: true, outside: true},
	{method: http.MethodGet, path: "/webhooks/{id}", area: cyberArea, scope: partner.ScopeManageRead, run: (*Server).showWebhook},
	{method: http.MethodDelete, path: "/webhooks/{id}", area: cyberArea, scope: partner.ScopeManage, run: (*Server).removeWebhook},
	{method: http.MethodPost, path: "/webhooks/{id}/state", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: (*Server).setWebhook, outside: true},
	{method: http.MethodPost, path: "/webhooks/{id}/rotate", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: (*Server).rotateWebhook, secret: true},
	{method: http.MethodPost, path: "/webhooks/{id}/test", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: (*Server).testWebhook, outside: true},
	{method: http.MethodPost, path: "/webhooks/{id}/replay", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: (*Server).replayWebhook, outside: true},
	{method: http.MethodGet, path: "/keys", area: cyberArea, scope: partner.ScopeManageRead, run: (*Server).listPartnerKeys},
	{method: http.MethodPost, path: "/keys", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: (*Server).createKey, secret: true},
	{method: http.MethodPost, path: "/keys/{id}/roll", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: (*Server).rollPartnerKey, secret: true},
	{method: http.MethodDelete, path: "/keys/{id}", area: cyberArea, scope: partner.ScopeManage, run: (*Server).revokeKey, query: []string{"self"}},
	{method: http.MethodPost, path: "/sandbox/clock", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: (*Server).advanceClock, outside: true},
	{method: http.MethodGet, path: "/statistics", area: cyberArea, scope: partner.ScopeManageRead, run: (*Server).statistics, query: []string{"days"}},
	{method: http.MethodGet, path: "/usage", area: cyberArea, scope: partner.ScopeManageRead, run: (*Server).showUsage, query: []string{"days"}},
}

// eventsPath stands outside of both prefixes and speaks like the cyber area. Each key sees the events of the areas it
// may read.
const eventsPath = "/events"

// movesPath and editsPath stand beside the subscriptions, whose paths the contract gives a meaning to, and speak like them.
const (
	movesPath = "/subscription-moves"
	editsPath = "/subscription-changes"
)

// managed are the first segments of what a partner sees to itself. They speak like the cyber area too.
var managed = []string{"webhooks", "keys", "usage", "statistics", "sandbox"}

// versionPrefix is optional in every request.
const versionPrefix = "/v1"
