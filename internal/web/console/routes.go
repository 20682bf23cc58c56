package console

import (
	"net/http"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
)

// route is one page or one action.
type route struct {
	method, path string
	// role is the least role that may; empty for pages that come before a session.
	role operator.Role
	// portal is the right by which a partner's people may; without one the route is closed to them.
	portal operator.Right
	run    handler
	// portalRun is the page that a partner's people see instead; nil when it is the same.
	portalRun handler
	// form shows the page again when run refuses what was filled in.
	form handler
	// fresh asks for the password again unless it was given lately: before a secret is shown or access is changed.
	fresh bool
	// early is open to a session that has no second factor yet.
	early bool
	// upload reads its body itself, without a limit of time.
	upload bool
}

// proofPage returns where to go on after the password was given again: the page itself, or the page that leads to an
// action.
func (rt route) proofPage(r *http.Request) string {
	if r.Method == http.MethodGet {
		return r.URL.RequestURI()
	}
	for _, other := range routes {
		if other.method == http.MethodGet && other.path == rt.path {
			return r.URL.Path
		}
	}
	return r.URL.Path[:strings.LastIndexByte(r.URL.Path, '/')]
}

// routes is the whole console. The role of each row is the only place that says who may do what; for partners' own
// people it is the right. Which of the lists they may use, and what of many lines at once, is said by each list: see
// listing.portal and bulkAction.portal.
var routes = []route{
	{method: "GET", path: "/login", run: showLogin},
	{method: "POST", path: "/login", run: logInOperator, form: showLogin},
	{method: "POST", path: "/login/passkey/begin", run: beginPasskeyLogin},
	{method: "POST", path: "/login/passkey", run: passkeyLogin, form: showLogin},
	{method: "GET", path: "/link/{token}", run: showInvitation},
	{method: "POST", path: "/link/{token}", run: acceptInvitation, form: showInvitation},

	{method: "GET", path: "/second-factor", role: operator.Viewer, portal: look, early: true, run: showSecondFactor},
	{
		method: "POST", path: "/second-factor", role: operator.Viewer, portal: look, early: true,
		run: confirmSecondFactor, form: showSecondFactor,
	},
	{method: "POST", path: "/logout", role: operator.Viewer, portal: look, early: true, run: logOutOperator},
	{method: "GET", path: "/secret", role: operator.Viewer, portal: look, early: true, run: showSecrets},
	{method: "GET", path: "/prove", role: operator.Viewer, portal: look, run: showProof},
	{method: "POST", path: "/prove", role: operator.Viewer, portal: look, run: proveAgain, form: showProof},
	{method: "GET", path: "/account", role: operator.Viewer, portal: look, run: showAccount},
	{
		method: "POST", path: "/account/password", role: operator.Viewer, portal: look,
		run: changePassword, form: showAccount,
	},
	{method: "POST", path: "/account/logout", role: operator.Viewer, portal: look, run: logoutEverywhere},
	{
		method: "POST", path: "/account/recovery", role: operator.Viewer, portal: look, fresh: true,
		run: renewRecovery, form: showAccount,
	},
	{
		method: "POST", path: "/account/passkeys/begin", role: operator.Viewer, portal: look, fresh: true,
		run: beginPasskey,
	},
	{
		method: "POST", path: "/account/passkeys", role: operator.Viewer, portal: look, fresh: true,
		run: addPasskey, form: showAccount,
	},
	{
		method: "POST", path: "/account/passkeys/{passkey}/remove", role: operator.Viewer, portal: look, fresh: true,
		run: removePasskey, form: showAccount,
	},
	{method: "POST", path: "/account/noticed", role: operator.Viewer, portal: look, run: dismissNotices},

	{method: "GET", path: "/{$}", role: operator.Viewer, portal: look, run: showOverview, portalRun: showPortal},

	{method: "GET", path: "/partners", role: operator.Viewer, run: listPartners},
	{method: "GET", path: "/partners/new", role: operator.Admin, fresh: true, run: newPartner},
	{method: "POST", path: "/partners/new", role: operator.Admin, fresh: true, run: createPartner, form: newPartner},
	{method: "GET", path: "/partners/{id}", role: operator.Viewer, portal: look, run: showPartner},
	{method: "POST", path: "/partners/{id}/settings", role: operator.Admin, run: savePartner, form: showPartner},
	{method: "POST", path: "/partners/{id}/suspend", role: operator.Admin, run: suspendPartner, form: showPartner},
	{method: "POST", path: "/partners/{id}/resume", role: operator.Admin, run: resumePartner, form: showPartner},
	{
		method: "POST", path: "/partners/{id}/first-looks/grant", role: operator.Admin,
		run: grantLooks, form: showPartner,
	},
	{method: "GET", path: "/partners/{id}/keys/new", role: operator.Admin, portal: integrate, fresh: true, run: newKey},
	{
		method: "POST", path: "/partners/{id}/keys/new", role: operator.Admin, portal: integrate, fresh: true,
		run: createKey, form: newKey,
	},
	{
		method: "GET", path: "/partners/{id}/keys/{key}/roll", role: operator.Admin, portal: integrate, fresh: true,
		run: confirmRoll,
	},
	{
		method: "POST", path: "/partners/{id}/keys/{key}/roll", role: operator.Admin, portal: integrate, fresh: true,
		run: replaceKey, form: confirmRoll,
	},
	{
		method: "POST", path: "/partners/{id}/keys/{key}/revoke", role: operator.Admin, portal: integrate,
		run: revokeKey, form: showPartner,
	},
	{method: "GET", path: "/partners/{id}/theme", role: operator.Viewer, portal: look, run: showTheme},
	{
		method: "POST", path: "/partners/{id}/theme", role: operator.Admin, portal: integrate,
		run: saveTheme, form: showTheme,
	},
	{method: "GET", path: "/partners/{id}/usage", role: operator.Viewer, portal: look, run: showUsage},
	{method: "GET", path: "/partners/{id}/requests", role: operator.Viewer, portal: look, run: showRequests},
	{
		method: "GET", path: "/partners/{id}/invite", role: operator.Admin, portal: integrate, fresh: true,
		run: newInvite,
	},
	{
		method: "POST", path: "/partners/{id}/invite", role: operator.Admin, portal: integrate, fresh: true,
		run: inviteOperator, form: newInvite,
	},

	{method: "POST", path: "/sandbox", role: operator.Viewer, portal: look, run: switchSandbox},

	{method: "GET", path: "/services", role: operator.Viewer, run: listServices},
	{method: "POST", path: "/services", role: operator.Admin, run: addService, form: listServices},
	{method: "GET", path: "/services/{id}", role: operator.Viewer, run: showService},
	{method: "POST", path: "/services/{id}", role: operator.Admin, run: saveService, form: showService},
	{method: "POST", path: "/services/{id}/retire", role: operator.Admin, run: retireService, form: showService},

	{method: "POST", path: "/services/{id}/target", role: operator.Admin, run: setTarget, form: showService},
	{method: "POST", path: "/services/{id}/questions", role: operator.Admin, run: addQuestion, form: showService},
	{
		method: "POST", path: "/services/{id}/questions/{question}/remove", role: operator.Admin,
		run: removeQuestion, form: showService,
	},
	{method: "POST", path: "/services/{id}/slots", role: operator.Support, run: addServiceSlots, form: showService},
	{
		method: "POST", path: "/services/{id}/slots/{slot}/remove", role: operator.Support,
		run: removeSlot, form: showService,
	},

	{
		method: "GET", path: "/webhooks/{partner}/new", role: operator.Admin, portal: integrate, fresh: true,
		run: newWebhook,
	},
	{
		method: "POST", path: "/webhooks/{partner}/new", role: operator.Admin, portal: integrate, fresh: true,
		run: createWebhook, form: newWebhook,
	},
	{method: "GET", path: "/webhooks/{partner}/{endpoint}", role: operator.Viewer, portal: look, run: showWebhook},
	{
		method: "POST", path: "/webhooks/{partner}/{endpoint}/test", role: operator.Support, portal: integrate,
		run: testWebhook, form: showWebhook,
	},
	{
		method: "GET", path: "/webhooks/{partner}/{endpoint}/rotate", role: operator.Admin, portal: integrate,
		fresh: true, run: confirmRotate,
	},
	{
		method: "POST", path: "/webhooks/{partner}/{endpoint}/rotate", role: operator.Admin, portal: integrate,
		fresh: true, run: rotateWebhook, form: confirmRotate,
	},
	{
		method: "POST", path: "/webhooks/{partner}/{endpoint}/enable", role: operator.Support, portal: integrate,
		run: enableWebhook, form: showWebhook,
	},
	{
		method: "POST", path: "/webhooks/{partner}/{endpoint}/disable", role: operator.Admin, portal: integrate,
		run: disableWebhook, form: showWebhook,
	},
	{
		method: "POST", path: "/webhooks/{partner}/{endpoint}/delete", role: operator.Admin, portal: integrate,
		run: deleteWebhook, form: showWebhook,
	},

	{method: "GET", path: "/plans", role: operator.Viewer, run: listPlans},
	{method: "GET", path: "/plans/{partner}/new", role: operator.Admin, run: showNewPlan},
	{method: "POST", path: "/plans/{partner}/new", role: operator.Admin, run: createPlan, form: showNewPlan},
	{method: "GET", path: "/plans/{partner}/edit/{plan}", role: operator.Viewer, run: showPlanPage},
	{method: "POST", path: "/plans/{partner}/edit/{plan}", role: operator.Admin, run: savePlanForm, form: showPlanPage},

	{method: "GET", path: "/subscriptions", role: operator.Viewer, portal: look, run: subscriptionsList.showPage},
	{
		method: "POST", path: "/subscriptions/find", role: operator.Viewer, portal: look,
		run: findSubscriptions, form: subscriptionsList.showPage,
	},
	{method: "GET", path: "/subscriptions/import", role: operator.Support, run: showImport},
	{
		method: "POST", path: "/subscriptions/import", role: operator.Support, upload: true,
		run: importSubscriptions, form: showImport,
	},
	{
		method: "POST", path: "/subscriptions/import/{file}", role: operator.Support, upload: true,
		run: createChecked, form: showImport,
	},
	{method: "GET", path: "/subscriptions/move", role: operator.Support, run: showMoveForm},
	{method: "POST", path: "/subscriptions/move/holder", role: operator.Support, run: moveHolder, form: showMoveForm},
	{
		method: "POST", path: "/subscriptions/move/table", role: operator.Support, upload: true,
		run: moveTable, form: showMoveForm,
	},
	{method: "GET", path: "/subscriptions/{partner}/{seq}", role: operator.Viewer, portal: look, run: showSubscription},
	{
		method: "POST", path: "/subscriptions/{partner}/{seq}/reveal", role: operator.Support, portal: attend,
		run: revealSubscription, form: showSubscription,
	},
	{
		method: "POST", path: "/subscriptions/{partner}/{seq}/end", role: operator.Support,
		run: endSubscription, form: showSubscription,
	},
	{
		method: "POST", path: "/subscriptions/{partner}/{seq}/suspend", role: operator.Support,
		run: suspendSubscription, form: showSubscription,
	},
	{
		method: "POST", path: "/subscriptions/{partner}/{seq}/resume", role: operator.Support,
		run: resumeSubscription, form: showSubscription,
	},

	{method: "GET", path: "/search", role: operator.Viewer, portal: look, run: showSearch},
	{method: "POST", path: "/search", role: operator.Viewer, portal: look, run: searchPeople, form: showSearch},
	{method: "GET", path: "/people", role: operator.Viewer, portal: look, run: peopleList.showPage},
	{method: "GET", path: "/people/{partner}/{ref}", role: operator.Viewer, portal: look, run: showPerson},
	{
		method: "POST", path: "/people/{partner}/{ref}/reveal", role: operator.Support, portal: attend,
		run: revealPerson, form: showPerson,
	},
	{method: "POST", path: "/people/{partner}/{ref}/values", role: operator.Admin, run: watchValue, form: showPerson},
	{
		method: "POST", path: "/people/{partner}/{ref}/case", role: operator.Support, portal: attend,
		run: openCaseForPerson, form: showPerson,
	},

	{method: "GET", path: "/monitoring", role: operator.Viewer, portal: look, run: assetsList.showPage},
	{method: "POST", path: "/monitoring/find", role: operator.Viewer, portal: look, run: findPerson, form: assetsList.showPage},
	{method: "POST", path: "/monitoring/values", role: operator.Admin, run: watchValue, form: assetsList.showPage},
	{
		method: "POST", path: "/monitoring/{partner}/{asset}/reveal", role: operator.Support, portal: attend,
		run: revealAsset, form: assetsList.showPage,
	},
	{method: "GET", path: "/findings", role: operator.Viewer, portal: look, run: findingsList.showPage},
	{method: "GET", path: "/findings/{partner}/{finding}", role: operator.Viewer, portal: look, run: showFinding},
	{
		method: "POST", path: "/findings/{partner}/{finding}/steps/{step}", role: operator.Support, portal: attend,
		run: markFindingStep, form: showFinding,
	},
	{
		method: "POST", path: "/findings/{partner}/{finding}/recheck", role: operator.Support, portal: attend,
		run: recheckFinding, form: showFinding,
	},
	{
		method: "POST", path: "/findings/{partner}/{finding}/resolve", role: operator.Support, portal: attend,
		run: resolveFinding, form: showFinding,
	},
	{
		method: "POST", path: "/findings/{partner}/{finding}/retract", role: operator.Support,
		run: retractFinding, form: showFinding,
	},

	{method: "GET", path: "/breaches", role: operator.Viewer, run: breachesList.showPage},
	{method: "GET", path: "/breaches/new", role: operator.Admin, run: newBreach},
	{method: "POST", path: "/breaches/new", role: operator.Admin, run: importBreach, form: newBreach},
	{method: "POST", path: "/breaches/upload", role: operator.Admin, upload: true, run: importBreach, form: newBreach},
	{method: "GET", path: "/breaches/{name}", role: operator.Viewer, run: showBreach},
	{method: "GET", path: "/breaches/{name}/edit", role: operator.Admin, run: editBreach},
	{method: "POST", path: "/breaches/{name}/edit", role: operator.Admin, run: saveBreach, form: editBreach},
	{method: "GET", path: "/breaches/{name}/renew", role: operator.Admin, run: newRenewal},
	{method: "POST", path: "/breaches/{name}/renew", role: operator.Admin, run: renewBreach, form: newRenewal},
	{
		method: "POST", path: "/breaches/{name}/renew/upload", role: operator.Admin, upload: true,
		run: renewBreach, form: newRenewal,
	},
	{method: "POST", path: "/breaches/{name}/verify", role: operator.Admin, run: verifyBreach, form: showBreach},
	{method: "POST", path: "/breaches/{name}/retract", role: operator.Admin, run: retractBreach, form: showBreach},

	{method: "GET", path: "/feeds", role: operator.Viewer, run: listFeeds},
	{method: "GET", path: "/feeds/new", role: operator.Admin, fresh: true, run: showNewFeed},
	{method: "POST", path: "/feeds/new", role: operator.Admin, fresh: true, run: createFeed, form: showNewFeed},
	{method: "POST", path: "/feeds/{name}/run", role: operator.Admin, run: startFeed, form: listFeeds},
	{method: "POST", path: "/feeds/{name}/pause", role: operator.Admin, run: pauseFeed, form: listFeeds},
	{method: "POST", path: "/feeds/{name}/resume", role: operator.Admin, run: resumeFeed, form: listFeeds},

	{method: "GET", path: "/passwords", role: operator.Viewer, run: showPasswords},
	{method: "POST", path: "/passwords/import", role: operator.Admin, run: importPasswords, form: showPasswords},
	{
		method: "POST", path: "/passwords/upload", role: operator.Admin, upload: true,
		run: importPasswords, form: showPasswords,
	},
	{method: "POST", path: "/passwords/download", role: operator.Admin, run: downloadPasswords, form: showPasswords},
	{method: "POST", path: "/passwords/verify", role: operator.Admin, run: verifyPasswords, form: showPasswords},

	{method: "GET", path: "/cases", role: operator.Viewer, portal: look, run: casesList.showPage},
	{method: "GET", path: "/cases/{id}", role: operator.Viewer, portal: look, run: showCasePage},
	{method: "POST", path: "/cases/{id}/move", role: operator.Support, run: moveCaseStatus, form: showCasePage},
	{method: "POST", path: "/cases/{id}/assign", role: operator.Support, run: assignCase, form: showCasePage},
	{method: "POST", path: "/cases/{id}/take", role: operator.Support, run: takeOverCase, form: showCasePage},
	{method: "POST", path: "/cases/{id}/end", role: operator.Support, run: endCaseLater, form: showCasePage},
	{method: "POST", path: "/cases/{id}/undo", role: operator.Support, run: undoCaseEnd, form: showCasePage},
	{
		method: "POST", path: "/cases/{id}/write", role: operator.Support, portal: attend,
		run: writeCase, form: showCasePage,
	},
	{method: "POST", path: "/cases/{id}/writing", role: operator.Support, portal: attend, run: writingCase},
	{
		method: "POST", path: "/cases/{id}/reveal", role: operator.Support, portal: attend,
		run: revealCase, form: showCasePage,
	},
	{method: "POST", path: "/cases/assign", role: operator.Support, run: assignMarkedCases, form: casesList.showPage},
	{method: "GET", path: "/answers", role: operator.Support, run: showAnswers},
	{method: "POST", path: "/answers", role: operator.Support, run: saveAnswer, form: showAnswers},
	{method: "POST", path: "/answers/delete", role: operator.Support, run: deleteAnswer, form: showAnswers},

	{method: "GET", path: "/devices", role: operator.Viewer, portal: look, run: devicesList.showPage},
	{method: "POST", path: "/devices/find", role: operator.Support, portal: attend, run: findDevice, form: devicesList.showPage},
	{method: "POST", path: "/devices/pools/{system}/source", role: operator.Admin, run: setSource, form: devicesList.showPage},
	{
		method: "POST", path: "/devices/pools/{system}/load", role: operator.Admin, upload: true,
		run: loadKeyPool, form: devicesList.showPage,
	},
	{method: "POST", path: "/devices/pools/{system}/install", role: operator.Admin, run: setInstall, form: devicesList.showPage},
	{method: "GET", path: "/devices/{id}", role: operator.Viewer, portal: look, run: showDevice},
	{
		method: "POST", path: "/devices/{id}/reveal", role: operator.Support, portal: attend,
		run: revealDevice, form: showDevice,
	},
	{
		method: "POST", path: "/devices/{id}/revoke", role: operator.Support, portal: attend,
		run: revokeDevice, form: showDevice,
	},
	{
		method: "POST", path: "/devices/{id}/replace", role: operator.Support, portal: attend,
		run: replaceDevice, form: showDevice,
	},

	{method: "GET", path: "/messages", role: operator.Viewer, run: listTexts},
	{method: "GET", path: "/messages/{event}/{channel}/{lang}", role: operator.Viewer, run: showTextPage},
	{
		method: "POST", path: "/messages/{event}/{channel}/{lang}", role: operator.Admin,
		run: saveTextForm, form: showTextPage,
	},
	{
		method: "POST", path: "/messages/{event}/{channel}/{lang}/reset", role: operator.Admin,
		run: resetText, form: showTextPage,
	},
	{method: "GET", path: "/content", role: operator.Viewer, run: listContent},
	{method: "GET", path: "/content/new", role: operator.Admin, run: newContent},
	{method: "POST", path: "/content/new", role: operator.Admin, run: createContent, form: newContent},
	{method: "POST", path: "/content/yaml", role: operator.Admin, run: importContent, form: newContent},
	{method: "GET", path: "/content/export", role: operator.Viewer, run: exportContent},
	{method: "GET", path: "/content/{id}", role: operator.Viewer, run: showContent},
	{method: "POST", path: "/content/{id}", role: operator.Admin, run: saveContent, form: showContent},
	{method: "POST", path: "/content/{id}/yaml", role: operator.Admin, run: saveContentYAML, form: showContent},
	{method: "POST", path: "/content/{id}/reset", role: operator.Admin, run: resetContent, form: showContent},
	{method: "POST", path: "/content/{id}/retire", role: operator.Admin, run: retireContent, form: showContent},
	{method: "POST", path: "/content/{id}/offer", role: operator.Admin, run: offerContent, form: showContent},

	{method: "GET", path: "/events", role: operator.Viewer, portal: look, run: eventsList.showPage},
	{method: "GET", path: "/events/report", role: operator.Viewer, portal: look, run: reportEvents},
	{method: "GET", path: "/events/types", role: operator.Viewer, portal: look, run: showEventTypes},
	{
		method: "POST", path: "/events/replay", role: operator.Support, portal: integrate,
		run: replayWindow, form: reportEvents,
	},
	{method: "GET", path: "/events/{partner}/{event}", role: operator.Viewer, portal: look, run: showEvent},
	{
		method: "POST", path: "/events/{partner}/{event}/replay", role: operator.Support, portal: integrate,
		run: replayEvent, form: showEvent,
	},
	{method: "GET", path: "/deliveries", role: operator.Viewer, portal: look, run: deliveriesList.showPage},
	{
		method: "POST", path: "/deliveries/replay", role: operator.Support, portal: integrate,
		run: replayFailed, form: deliveriesList.showPage,
	},

	{
		method: "POST", path: "/lists/{list}/person", role: operator.Viewer, portal: look,
		run: pickPerson, form: showListAgain,
	},
	{method: "POST", path: "/lists/{list}/export", role: operator.Viewer, portal: look, run: exportList},
	{
		method: "POST", path: "/lists/{list}/filters", role: operator.Viewer, portal: look,
		run: keepFilter, form: showListAgain,
	},
	{method: "POST", path: "/lists/{list}/filters/{filter}/drop", role: operator.Viewer, portal: look, run: dropFilter},
	{
		method: "POST", path: "/lists/{list}/bulk", role: operator.Support, portal: look,
		run: previewBulk, form: showListAgain,
	},
	{method: "POST", path: "/lists/{list}/bulk/run", role: operator.Support, portal: look, run: runBulkAction},
	{method: "GET", path: "/exports", role: operator.Viewer, portal: look, run: showExports},
	{method: "GET", path: "/exports/{id}", role: operator.Viewer, portal: look, run: downloadExport},

	{method: "GET", path: "/jobs", role: operator.Viewer, run: showJobs},
	{method: "GET", path: "/jobs/{id}/events", role: operator.Viewer, run: followJob},
	{method: "POST", path: "/jobs/{id}/cancel", role: operator.Admin, run: cancelJob, form: showJobs},

	{method: "GET", path: "/subjects", role: operator.Admin, portal: respond, fresh: true, run: showSubjects},
	{
		method: "POST", path: "/subjects/find", role: operator.Admin, portal: respond,
		run: findSubject, form: showSubjects,
	},
	{method: "POST", path: "/subjects/access", role: operator.Admin, run: showAccesses, form: showSubjects},
	{
		method: "POST", path: "/subjects/export", role: operator.Admin, portal: respond, fresh: true,
		run: exportSubject, form: showSubjects,
	},
	{method: "GET", path: "/subjects/erase", role: operator.Admin, fresh: true, run: confirmErase},
	{method: "POST", path: "/subjects/erase", role: operator.Admin, fresh: true, run: eraseSubject, form: confirmErase},
	{
		method: "POST", path: "/subjects/requests", role: operator.Admin, portal: respond, fresh: true,
		run: requestErasure, form: showErasureRequest,
	},
	{
		method: "POST", path: "/subjects/requests/{partner}/{request}/cancel", role: operator.Admin, portal: respond,
		run: cancelErasure, form: showSubjects,
	},
	{method: "GET", path: "/subjects/erasures", role: operator.Admin, run: erasureLog},
	{method: "GET", path: "/incidents", role: operator.Admin, portal: respond, run: newIncident},
	{method: "POST", path: "/incidents", role: operator.Admin, portal: respond, run: reportIncident, form: newIncident},
	{
		method: "POST", path: "/incidents/download", role: operator.Admin, portal: respond, fresh: true,
		run: downloadIncident, form: newIncident,
	},
	{method: "GET", path: "/keys", role: operator.Admin, run: showKeysPage},
	{method: "POST", path: "/keys/count", role: operator.Admin, run: countKeys, form: showKeysPage},
	{method: "POST", path: "/keys/rotate", role: operator.Admin, fresh: true, run: rotateKeys, form: showKeysPage},

	{method: "GET", path: "/audit", role: operator.Admin, portal: integrate, run: auditList.showPage},
	{method: "POST", path: "/audit/verify", role: operator.Admin, run: verifyAudit, form: auditList.showPage},
	{method: "GET", path: "/operators", role: operator.Admin, portal: integrate, run: listOperators},
	{method: "GET", path: "/operators/new", role: operator.Admin, fresh: true, run: newOperator},
	{method: "POST", path: "/operators/new", role: operator.Admin, fresh: true, run: createOperator, form: newOperator},
	{method: "GET", path: "/operators/{id}", role: operator.Admin, portal: integrate, run: showOperator},
	{
		method: "POST", path: "/operators/{id}/role", role: operator.Admin, portal: integrate, fresh: true,
		run: changeRole, form: showOperator,
	},
	{
		method: "POST", path: "/operators/{id}/disable", role: operator.Admin, portal: integrate,
		run: disableOperator, form: showOperator,
	},
	{
		method: "POST", path: "/operators/{id}/enable", role: operator.Admin, portal: integrate, fresh: true,
		run: enableOperator, form: showOperator,
	},
	{
		method: "POST", path: "/operators/{id}/logout", role: operator.Admin, portal: integrate,
		run: endSessions, form: showOperator,
	},
	{
		method: "POST", path: "/operators/{id}/reset", role: operator.Admin, portal: integrate, fresh: true,
		run: resetOperator, form: showOperator,
	},
}

// Page is a row of the route table, for those who hold the table against something: tests, documents.
type Page struct {
	Method, Path string
	// Role is the least role that may; empty for what comes before a session.
	Role operator.Role
	// Portal is the right by which a partner's people may; NoRight where it is closed to them.
	Portal operator.Right
	// Fresh pages ask for the password again.
	Fresh bool
}

// ListPages returns the whole route table.
func ListPages() []Page {
	table := make([]Page, len(routes))
	for i, rt := range routes {
		table[i] = Page{Method: rt.method, Path: rt.path, Role: rt.role, Portal: rt.portal, Fresh: rt.fresh}
	}
	return table
}
