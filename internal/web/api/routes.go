package api

import (
	"net/http"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
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
	// unknown is the answer to an {id}, {key} or {name} in the path that can be none.
	unknown *fault.Error
	// query are the parameters of a route whose parameters change what is done or whose data is shown: other names are
	// refused. A route without any ignores whatever is there.
	query []string
	// secret is set where answers hold keys or tell about passwords: they are never compressed. An attacker who watches
	// the connection and controls a part of the content could guess the rest from the compressed length (BREACH).
	secret bool
	// outside is set where the endpoint reaches out, or writes more than one transaction should hold: it calls
	// runIdempotently itself.
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
	{op: 1, method: http.MethodPost, path: "/cyber/monitoring", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).addMonitoring)},
	{op: 2, method: http.MethodGet, path: "/cyber/monitoring/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listMonitoring},
	{op: 3, method: http.MethodDelete, path: "/cyber/monitoring/{id}/{userhash}", area: cyberArea, scope: partner.ScopeCyber, run: (*Server).removeMonitoring, unknown: cyber.ErrAssetNotFound},
	{op: 4, method: http.MethodPost, path: "/cyber/case", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).openSupportCase)},
	{op: 5, method: http.MethodGet, path: "/cyber/services", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listServices},
	{op: 6, method: http.MethodPost, path: "/cyber/epp", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).issueDeviceKey), secret: true},
	{op: 7, method: http.MethodGet, path: "/cyber/epp", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listDevices, query: []string{"userHash"}, secret: true},
	{op: 8, method: http.MethodPost, path: "/cyber/password-check", area: cyberArea, scope: partner.ScopeCyberRead, body: smallBody, run: withBody((*Server).checkPassword), secret: true},
	{op: 9, method: http.MethodGet, path: "/cyber/advise/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listAdvice},
	{op: 10, method: http.MethodGet, path: "/cyber/score/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).showScore},
	{op: 11, method: http.MethodGet, path: "/cyber/insurance/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).insurance},
	{op: 12, method: http.MethodPost, path: "/subscriptions", area: subscriptionArea, scope: partner.ScopeSubscriptions, body: streamBody, run: (*Server).createSubscriptions, query: []string{"dry_run"}},
	{op: 13, method: http.MethodGet, path: "/subscriptions", area: subscriptionArea, scope: partner.ScopeSubscriptionsRead, run: (*Server).listSubscriptions, query: []string{"page", "page_size"}},
	{op: 14, method: http.MethodGet, path: "/subscriptions/{plan_id}/{beneficiary_cpf}", area: subscriptionArea, scope: partner.ScopeSubscriptionsRead, run: (*Server).getSubscription},
	{method: http.MethodPost, path: "/cyber/monitoring/extra", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).addExtraAsset)},
	{method: http.MethodGet, path: "/cyber/monitoring/extra/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listExtra},
	{method: http.MethodDelete, path: "/cyber/monitoring/extra/{id}/{userhash}", area: cyberArea, scope: partner.ScopeCyber, run: (*Server).removeExtra, unknown: cyber.ErrAssetNotFound},
	{method: http.MethodGet, path: eventsPath, area: cyberArea, scope: partner.ScopeAnyRead, run: (*Server).listEvents, query: []string{"after", "limit", "newest"}},
	{method: http.MethodGet, path: eventsPath + "/{id}/message", area: cyberArea, scope: partner.ScopeAnyRead, run: (*Server).messageOfEvent, unknown: alert.ErrEventNotFound, query: []string{"channel", "lang"}},
	{method: http.MethodPost, path: "/cyber/advise/{userhash}/answers", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).answerQuestion)},
	{method: http.MethodGet, path: "/cyber/findings/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listFindings},
	{method: http.MethodPost, path: "/cyber/findings/{id}/resolve", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).resolveFinding), unknown: cyber.ErrFindingNotFound},
	{method: http.MethodGet, path: "/cyber/findings/{id}/plan/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).showFindingPlan, unknown: cyber.ErrFindingNotFound, query: []string{"lang"}},
	{method: http.MethodPost, path: "/cyber/findings/{id}/steps/{step}", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).markFindingStep), unknown: cyber.ErrFindingNotFound},
	{method: http.MethodPost, path: "/cyber/findings/{id}/recheck", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).recheckFinding), unknown: cyber.ErrFindingNotFound},
	{method: http.MethodPost, path: "/cyber/credential-check", area: cyberArea, scope: partner.ScopeCredentials, body: smallBody, run: withBody((*Server).checkCredential), secret: true},
	{method: http.MethodGet, path: "/cyber/cover/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listCover},
	{method: http.MethodGet, path: "/cyber/services/{id}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).showService, unknown: errServiceUnknown},
	{method: http.MethodGet, path: "/cyber/cases/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listCases},
	{method: http.MethodGet, path: "/cyber/case/{id}/history/{userhash}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).showPersonCase, unknown: cyber.ErrCaseNotFound},
	{method: http.MethodPost, path: "/cyber/case/{id}/messages", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).addCaseMessage), unknown: cyber.ErrCaseNotFound},
	{method: http.MethodPost, path: "/cyber/case/{id}/cancel", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).cancelCase), unknown: cyber.ErrCaseNotFound},
	{method: http.MethodPost, path: "/cyber/case/{id}/rebook", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).rebookCase), unknown: cyber.ErrCaseNotFound},
	{method: http.MethodPost, path: "/cyber/case/{id}/rate", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).ratePersonCase), unknown: cyber.ErrCaseNotFound},
	{method: http.MethodGet, path: "/cyber/epp/{key}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).showProtection, unknown: cyber.ErrDeviceUnknown, secret: true},
	{method: http.MethodPost, path: "/cyber/epp/{key}/activate", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).activateProtection), unknown: cyber.ErrDeviceUnknown, vendor: true},
	{method: http.MethodPost, path: "/cyber/epp/{key}/heartbeat", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).heartbeatProtection), unknown: cyber.ErrDeviceUnknown, vendor: true},
	{method: http.MethodPost, path: "/cyber/epp/{key}/revoke", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).revokeProtection), unknown: cyber.ErrDeviceUnknown},
	{method: http.MethodPost, path: "/cyber/epp/{key}/move", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).moveProtection), unknown: cyber.ErrDeviceUnknown, secret: true},
	{method: http.MethodGet, path: "/cyber/score/{userhash}/history", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).scoreHistory},
	{method: http.MethodPost, path: "/cyber/portal-session", area: cyberArea, scope: partner.ScopeCyber, body: smallBody, run: withBody((*Server).openPortal), secret: true},
	{method: http.MethodGet, path: "/cyber/breaches", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).listBreaches, query: []string{"page", "page_size"}},
	{method: http.MethodGet, path: "/cyber/breaches/{name}", area: cyberArea, scope: partner.ScopeCyberRead, run: (*Server).showBreach, unknown: cyber.ErrBreachUnknown},
	{method: http.MethodPost, path: "/cyber/assets", area: cyberArea, scope: partner.ScopeCyber, body: listBody, run: withBody((*Server).addAssets), outside: true},
	{method: http.MethodPost, path: "/cyber/scores", area: cyberArea, scope: partner.ScopeCyberRead, body: listBody, run: withBody((*Server).listScores), outside: true},
	{method: http.MethodPost, path: movesPath, area: subscriptionArea, scope: partner.ScopeSubscriptions, body: smallBody, run: withBody((*Server).moveSubscriptions)},
	{method: http.MethodPost, path: editsPath, area: subscriptionArea, scope: partner.ScopeSubscriptions, body: listBody, run: withBody((*Server).editSubscriptions), outside: true},
	{method: http.MethodPost, path: "/subscriptions/{plan_id}/{beneficiary_cpf}/changes", area: subscriptionArea, scope: partner.ScopeSubscriptions, body: smallBody, run: withBody((*Server).changeSubscription)},
	{method: http.MethodGet, path: "/webhooks", area: cyberArea, scope: partner.ScopeManageRead, run: (*Server).listWebhooks},
	{method: http.MethodPost, path: "/webhooks", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: withBody((*Server).createWebhook), secret: true, outside: true},
	{method: http.MethodGet, path: "/webhooks/{id}", area: cyberArea, scope: partner.ScopeManageRead, run: (*Server).showWebhook, unknown: alert.ErrEndpointNotFound},
	{method: http.MethodDelete, path: "/webhooks/{id}", area: cyberArea, scope: partner.ScopeManage, run: (*Server).removeWebhook, unknown: alert.ErrEndpointNotFound},
	{method: http.MethodPost, path: "/webhooks/{id}/state", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: withBody((*Server).setWebhook), unknown: alert.ErrEndpointNotFound, outside: true},
	{method: http.MethodPost, path: "/webhooks/{id}/rotate", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: withBody((*Server).rotateWebhook), unknown: alert.ErrEndpointNotFound, secret: true},
	{method: http.MethodPost, path: "/webhooks/{id}/test", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: withBody((*Server).testWebhook), unknown: alert.ErrEndpointNotFound, outside: true},
	{method: http.MethodPost, path: "/webhooks/{id}/replay", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: withBody((*Server).replayWebhook), unknown: alert.ErrEndpointNotFound, outside: true},
	{method: http.MethodGet, path: "/keys", area: cyberArea, scope: partner.ScopeManageRead, run: (*Server).listPartnerKeys},
	{method: http.MethodPost, path: "/keys", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: withBody((*Server).createKey), secret: true},
	{method: http.MethodPost, path: "/keys/{id}/roll", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: withBody((*Server).rollPartnerKey), unknown: partner.ErrKeyNotFound, secret: true},
	{method: http.MethodDelete, path: "/keys/{id}", area: cyberArea, scope: partner.ScopeManage, run: (*Server).revokeKey, unknown: partner.ErrKeyNotFound, query: []string{"self"}},
	{method: http.MethodGet, path: "/erasures", area: cyberArea, scope: partner.ScopePrivacy, run: (*Server).listErasures, query: []string{"page", "page_size"}},
	{method: http.MethodPost, path: "/erasures", area: cyberArea, scope: partner.ScopePrivacy, body: smallBody, run: withBody((*Server).requestErasure)},
	{method: http.MethodGet, path: "/erasures/{id}", area: cyberArea, scope: partner.ScopePrivacy, run: (*Server).showErasure, unknown: subject.ErrRequestNotFound},
	{method: http.MethodDelete, path: "/erasures/{id}", area: cyberArea, scope: partner.ScopePrivacy, run: (*Server).cancelErasure, unknown: subject.ErrRequestNotFound},
	{method: http.MethodPost, path: "/sandbox/clock", area: cyberArea, scope: partner.ScopeManage, body: smallBody, run: withBody((*Server).advanceClock), outside: true},
	{method: http.MethodGet, path: "/statistics", area: cyberArea, scope: partner.ScopeManageRead, run: (*Server).statistics, query: []string{"days"}},
	{method: http.MethodGet, path: usagePath, area: cyberArea, scope: partner.ScopeAny, run: (*Server).showUsage, query: []string{"days"}},
}

// eventsPath stands outside of both prefixes and speaks like the cyber area. Each key sees the events of the areas it
// may read.
const eventsPath = "/events"

// movesPath and editsPath stand beside the subscriptions, whose paths the contract gives a meaning to, and speak like
// them.
const (
	movesPath = "/subscription-moves"
	editsPath = "/subscription-changes"
)

// usagePath is for every key: whoever sends requests may know the limits on them, and how many values wait.
const usagePath = "/usage"

// managed are the first segments of what a partner sees to itself. They speak like the cyber area too.
var managed = []string{"webhooks", "keys", "erasures", "statistics", "sandbox"}

// versionPrefix is optional in every request.
const versionPrefix = "/v1"
