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
	options
}

// options are what sets some routes apart.
type options struct {
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
	{1, http.MethodPost, "/cyber/monitoring", cyberArea, partner.ScopeCyber, smallBody, (*Server).addMonitoring, options{}},
	{2, http.MethodGet, "/cyber/monitoring/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listMonitoring, options{}},
	{3, http.MethodDelete, "/cyber/monitoring/{id}/{userhash}", cyberArea, partner.ScopeCyber, noBody, (*Server).removeMonitoring, options{}},
	{4, http.MethodPost, "/cyber/case", cyberArea, partner.ScopeCyber, smallBody, (*Server).openSupportCase, options{}},
	{5, http.MethodGet, "/cyber/services", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listServices, options{}},
	{6, http.MethodPost, "/cyber/epp", cyberArea, partner.ScopeCyber, smallBody, (*Server).issueDeviceKey, options{secret: true}},
	{7, http.MethodGet, "/cyber/epp", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listDevices, options{query: []string{"userHash"}, secret: true}},
	{8, http.MethodPost, "/cyber/password-check", cyberArea, partner.ScopeCyberRead, smallBody, (*Server).checkPassword, options{secret: true}},
	{9, http.MethodGet, "/cyber/advise/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listAdvice, options{}},
	{10, http.MethodGet, "/cyber/score/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).showScore, options{}},
	{11, http.MethodGet, "/cyber/insurance/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).insurance, options{}},
	{12, http.MethodPost, "/subscriptions", subscriptionArea, partner.ScopeSubscriptions, streamBody, (*Server).createSubscriptions, options{query: []string{"dry_run"}}},
	{13, http.MethodGet, "/subscriptions", subscriptionArea, partner.ScopeSubscriptionsRead, noBody, (*Server).listSubscriptions, options{query: []string{"page", "page_size"}}},
	{14, http.MethodGet, "/subscriptions/{plan_id}/{beneficiary_cpf}", subscriptionArea, partner.ScopeSubscriptionsRead, noBody, (*Server).getSubscription, options{}},
	{0, http.MethodPost, "/cyber/monitoring/extra", cyberArea, partner.ScopeCyber, smallBody, (*Server).addExtraAsset, options{}},
	{0, http.MethodGet, "/cyber/monitoring/extra/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listExtra, options{}},
	{0, http.MethodDelete, "/cyber/monitoring/extra/{id}/{userhash}", cyberArea, partner.ScopeCyber, noBody, (*Server).removeExtra, options{}},
	{0, http.MethodGet, eventsPath, cyberArea, partner.ScopeAnyRead, noBody, (*Server).listEvents, options{query: []string{"after", "limit", "newest"}}},
	{0, http.MethodGet, eventsPath + "/{id}/message", cyberArea, partner.ScopeAnyRead, noBody, (*Server).messageOfEvent, options{query: []string{"channel", "lang"}}},
	{0, http.MethodPost, "/cyber/advise/{userhash}/answers", cyberArea, partner.ScopeCyber, smallBody, (*Server).answerQuestion, options{}},
	{0, http.MethodGet, "/cyber/findings/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listFindings, options{}},
	{0, http.MethodPost, "/cyber/findings/{id}/resolve", cyberArea, partner.ScopeCyber, smallBody, (*Server).resolveFinding, options{}},
	{0, http.MethodGet, "/cyber/findings/{id}/plan/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).showFindingPlan, options{query: []string{"lang"}}},
	{0, http.MethodPost, "/cyber/findings/{id}/steps/{step}", cyberArea, partner.ScopeCyber, smallBody, (*Server).markFindingStep, options{}},
	{0, http.MethodPost, "/cyber/findings/{id}/recheck", cyberArea, partner.ScopeCyber, smallBody, (*Server).recheckFinding, options{}},
	{0, http.MethodPost, "/cyber/credential-check", cyberArea, partner.ScopeCredentials, smallBody, (*Server).checkCredential, options{secret: true}},
	{0, http.MethodGet, "/cyber/cover/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listCover, options{}},
	{0, http.MethodGet, "/cyber/services/{id}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).showService, options{}},
	{0, http.MethodGet, "/cyber/cases/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listCases, options{}},
	{0, http.MethodGet, "/cyber/case/{id}/history/{userhash}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).showPersonCase, options{}},
	{0, http.MethodPost, "/cyber/case/{id}/messages", cyberArea, partner.ScopeCyber, smallBody, (*Server).addCaseMessage, options{}},
	{0, http.MethodPost, "/cyber/case/{id}/cancel", cyberArea, partner.ScopeCyber, smallBody, (*Server).cancelCase, options{}},
	{0, http.MethodPost, "/cyber/case/{id}/rebook", cyberArea, partner.ScopeCyber, smallBody, (*Server).rebookCase, options{}},
	{0, http.MethodPost, "/cyber/case/{id}/rate", cyberArea, partner.ScopeCyber, smallBody, (*Server).ratePersonCase, options{}},
	{0, http.MethodGet, "/cyber/epp/{key}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).showProtection, options{secret: true}},
	{0, http.MethodPost, "/cyber/epp/{key}/activate", cyberArea, partner.ScopeCyber, smallBody, (*Server).activateProtection, options{vendor: true}},
	{0, http.MethodPost, "/cyber/epp/{key}/heartbeat", cyberArea, partner.ScopeCyber, smallBody, (*Server).heartbeatProtection, options{vendor: true}},
	{0, http.MethodPost, "/cyber/epp/{key}/revoke", cyberArea, partner.ScopeCyber, smallBody, (*Server).revokeProtection, options{}},
	{0, http.MethodPost, "/cyber/epp/{key}/move", cyberArea, partner.ScopeCyber, smallBody, (*Server).moveProtection, options{secret: true}},
	{0, http.MethodGet, "/cyber/score/{userhash}/history", cyberArea, partner.ScopeCyberRead, noBody, (*Server).scoreHistory, options{}},
	{0, http.MethodPost, "/cyber/portal-session", cyberArea, partner.ScopeCyber, smallBody, (*Server).openPortal, options{secret: true}},
	{0, http.MethodGet, "/cyber/breaches", cyberArea, partner.ScopeCyberRead, noBody, (*Server).listBreaches, options{query: []string{"page", "page_size"}}},
	{0, http.MethodGet, "/cyber/breaches/{name}", cyberArea, partner.ScopeCyberRead, noBody, (*Server).showBreach, options{}},
	{0, http.MethodPost, "/cyber/assets", cyberArea, partner.ScopeCyber, listBody, (*Server).addAssets, options{outside: true}},
	{0, http.MethodPost, "/cyber/scores", cyberArea, partner.ScopeCyberRead, listBody, (*Server).showScoreHistory, options{outside: true}},
	{0, http.MethodPost, movesPath, subscriptionArea, partner.ScopeSubscriptions, smallBody, (*Server).moveSubscriptions, options{}},
	{0, http.MethodPost, editsPath, subscriptionArea, partner.ScopeSubscriptions, listBody, (*Server).editSubscriptions, options{outside: true}},
	{0, http.MethodPost, "/subscriptions/{plan_id}/{beneficiary_cpf}/changes", subscriptionArea, partner.ScopeSubscriptions, smallBody, (*Server).changeSubscription, options{}},
	{0, http.MethodGet, "/webhooks", cyberArea, partner.ScopeManageRead, noBody, (*Server).listWebhooks, options{}},
	{0, http.MethodPost, "/webhooks", cyberArea, partner.ScopeManage, smallBody, (*Server).createWebhook, options{secret: true, outside: true}},
	{0, http.MethodGet, "/webhooks/{id}", cyberArea, partner.ScopeManageRead, noBody, (*Server).showWebhook, options{}},
	{0, http.MethodDelete, "/webhooks/{id}", cyberArea, partner.ScopeManage, noBody, (*Server).removeWebhook, options{}},
	{0, http.MethodPost, "/webhooks/{id}/state", cyberArea, partner.ScopeManage, smallBody, (*Server).setWebhook, options{outside: true}},
	{0, http.MethodPost, "/webhooks/{id}/rotate", cyberArea, partner.ScopeManage, smallBody, (*Server).rotateWebhook, options{secret: true}},
	{0, http.MethodPost, "/webhooks/{id}/test", cyberArea, partner.ScopeManage, smallBody, (*Server).testWebhook, options{outside: true}},
	{0, http.MethodPost, "/webhooks/{id}/replay", cyberArea, partner.ScopeManage, smallBody, (*Server).replayWebhook, options{outside: true}},
	{0, http.MethodGet, "/keys", cyberArea, partner.ScopeManageRead, noBody, (*Server).listPartnerKeys, options{}},
	{0, http.MethodPost, "/keys", cyberArea, partner.ScopeManage, smallBody, (*Server).createKey, options{secret: true}},
	{0, http.MethodPost, "/keys/{id}/roll", cyberArea, partner.ScopeManage, smallBody, (*Server).rollPartnerKey, options{secret: true}},
	{0, http.MethodDelete, "/keys/{id}", cyberArea, partner.ScopeManage, noBody, (*Server).revokeKey, options{query: []string{"self"}}},
	{0, http.MethodPost, "/sandbox/clock", cyberArea, partner.ScopeManage, smallBody, (*Server).advanceClock, options{outside: true}},
	{0, http.MethodGet, "/statistics", cyberArea, partner.ScopeManageRead, noBody, (*Server).statistics, options{query: []string{"days"}}},
	{0, http.MethodGet, "/usage", cyberArea, partner.ScopeManageRead, noBody, (*Server).showUsage, options{query: []string{"days"}}},
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
