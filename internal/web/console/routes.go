package console

import (
	"net/http"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
)

// route is one page or one action.
type route struct {
	method, path string
	run          handler
	// get and post are how the table names what runs: a path has a page, an action, or both for the same people.
	get, post handler
	// role is the least role that may; empty for pages that come before a session.
	role operator.Role
	// portal is the right by which a partner's people may; without one the route is closed to them.
	portal operator.Right
	// portalRun is the page that a partner's people see instead; nil when it is the same.
	portalRun handler
	// form shows the page again when an action refuses what was filled in; it is the page of the same path unless the
	// table names another.
	form handler
	// fresh asks for the password again unless it was given lately: before a secret is shown or access is changed.
	fresh bool
	// early is open to a session that has no second factor yet.
	early bool
	// upload reads its body itself, without a limit of time.
	upload bool
}

// splitRoutes returns the pages and the actions of the table, each by itself.
func splitRoutes(table []route) (all []route) {
	for _, rt := range table {
		if rt.get != nil {
			page := rt
			page.method, page.run, page.form = http.MethodGet, rt.get, nil
			all = append(all, page)
		}
		if rt.post != nil {
			rt.method, rt.run = http.MethodPost, rt.post
			if rt.get != nil {
				rt.form = rt.get
			}
			all = append(all, rt)
		}
	}
	return all
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
var routes = splitRoutes([]route{
	{path: "/login", get: showLogin, post: logInOperator},
	{path: "/login/passkey/begin", post: beginPasskeyLogin},
	{path: "/login/passkey", post: passkeyLogin, form: showLogin},
	{path: "/link/{token}", get: showInvitation, post: acceptInvitation},

	{
		path: "/second-factor", role: operator.Viewer, portal: look, early: true,
		get: showSecondFactor, post: confirmSecondFactor,
	},
	{path: "/logout", role: operator.Viewer, portal: look, early: true, post: logOutOperator},
	{path: "/secret", role: operator.Viewer, portal: look, early: true, get: showSecrets},
	{path: "/prove", role: operator.Viewer, portal: look, get: showProof, post: proveAgain},
	{path: "/account", role: operator.Viewer, portal: look, get: showAccount},
	{path: "/account/password", role: operator.Viewer, portal: look, post: changePassword, form: showAccount},
	{path: "/account/logout", role: operator.Viewer, portal: look, post: logoutEverywhere},
	{
		path: "/account/recovery", role: operator.Viewer, portal: look, fresh: true,
		post: renewRecovery, form: showAccount,
	},
	{path: "/account/passkeys/begin", role: operator.Viewer, portal: look, fresh: true, post: beginPasskey},
	{
		path: "/account/passkeys", role: operator.Viewer, portal: look, fresh: true,
		post: addPasskey, form: showAccount,
	},
	{
		path: "/account/passkeys/{passkey}/remove", role: operator.Viewer, portal: look, fresh: true,
		post: removePasskey, form: showAccount,
	},
	{path: "/account/noticed", role: operator.Viewer, portal: look, post: dismissNotices},

	{path: "/{$}", role: operator.Viewer, portal: look, get: showOverview, portalRun: showPortal},

	{path: "/partners", role: operator.Viewer, get: listPartners},
	{path: "/partners/new", role: operator.Admin, fresh: true, get: newPartner, post: createPartner},
	{path: "/partners/{id}", role: operator.Viewer, portal: look, get: showPartner},
	{path: "/partners/{id}/settings", role: operator.Admin, post: savePartner, form: showPartner},
	{path: "/partners/{id}/suspend", role: operator.Admin, post: suspendPartner, form: showPartner},
	{path: "/partners/{id}/resume", role: operator.Admin, post: resumePartner, form: showPartner},
	{path: "/partners/{id}/first-looks/grant", role: operator.Admin, post: grantLooks, form: showPartner},
	{
		path: "/partners/{id}/keys/new", role: operator.Admin, portal: integrate, fresh: true,
		get: newKey, post: createKey,
	},
	{
		path: "/partners/{id}/keys/{key}/roll", role: operator.Admin, portal: integrate, fresh: true,
		get: confirmRoll, post: replaceKey,
	},
	{
		path: "/partners/{id}/keys/{key}/revoke", role: operator.Admin, portal: integrate,
		post: revokeKey, form: showPartner,
	},
	{path: "/partners/{id}/theme", role: operator.Viewer, portal: look, get: showTheme},
	{path: "/partners/{id}/theme", role: operator.Admin, portal: integrate, post: saveTheme, form: showTheme},
	{path: "/partners/{id}/usage", role: operator.Viewer, portal: look, get: showUsage},
	{path: "/partners/{id}/requests", role: operator.Viewer, portal: look, get: showRequests},
	{
		path: "/partners/{id}/invite", role: operator.Admin, portal: integrate, fresh: true,
		get: newInvite, post: inviteOperator,
	},

	{path: "/sandbox", role: operator.Viewer, portal: look, post: switchSandbox},

	{path: "/services", role: operator.Viewer, get: listServices},
	{path: "/services", role: operator.Admin, post: addService, form: listServices},
	{path: "/services/{id}", role: operator.Viewer, get: showService},
	{path: "/services/{id}", role: operator.Admin, post: saveService, form: showService},
	{path: "/services/{id}/retire", role: operator.Admin, post: retireService, form: showService},

	{path: "/services/{id}/target", role: operator.Admin, post: setTarget, form: showService},
	{path: "/services/{id}/questions", role: operator.Admin, post: addQuestion, form: showService},
	{
		path: "/services/{id}/questions/{question}/remove", role: operator.Admin,
		post: removeQuestion, form: showService,
	},
	{path: "/services/{id}/slots", role: operator.Support, post: addServiceSlots, form: showService},
	{path: "/services/{id}/slots/{slot}/remove", role: operator.Support, post: removeSlot, form: showService},

	{
		path: "/webhooks/{partner}/new", role: operator.Admin, portal: integrate, fresh: true,
		get: newWebhook, post: createWebhook,
	},
	{path: "/webhooks/{partner}/{endpoint}", role: operator.Viewer, portal: look, get: showWebhook},
	{
		path: "/webhooks/{partner}/{endpoint}/test", role: operator.Support, portal: integrate,
		post: testWebhook, form: showWebhook,
	},
	{
		path: "/webhooks/{partner}/{endpoint}/rotate", role: operator.Admin, portal: integrate, fresh: true,
		get: confirmRotate, post: rotateWebhook,
	},
	{
		path: "/webhooks/{partner}/{endpoint}/enable", role: operator.Support, portal: integrate,
		post: enableWebhook, form: showWebhook,
	},
	{
		path: "/webhooks/{partner}/{endpoint}/disable", role: operator.Admin, portal: integrate,
		post: disableWebhook, form: showWebhook,
	},
	{
		path: "/webhooks/{partner}/{endpoint}/delete", role: operator.Admin, portal: integrate,
		post: deleteWebhook, form: showWebhook,
	},

	{path: "/plans", role: operator.Viewer, get: listPlans},
	{path: "/plans/{partner}/new", role: operator.Admin, get: showNewPlan, post: createPlan},
	{path: "/plans/{partner}/edit/{plan}", role: operator.Viewer, get: showPlanPage},
	{path: "/plans/{partner}/edit/{plan}", role: operator.Admin, post: savePlanForm, form: showPlanPage},

	{path: "/subscriptions", role: operator.Viewer, portal: look, get: subscriptionsList.showPage},
	{
		path: "/subscriptions/find", role: operator.Viewer, portal: look,
		post: findSubscriptions, form: subscriptionsList.showPage,
	},
	{path: "/subscriptions/import", role: operator.Support, get: showImport},
	{
		path: "/subscriptions/import", role: operator.Support, upload: true,
		post: importSubscriptions, form: showImport,
	},
	{
		path: "/subscriptions/import/{file}", role: operator.Support, upload: true,
		post: createChecked, form: showImport,
	},
	{path: "/subscriptions/move", role: operator.Support, get: showMoveForm},
	{path: "/subscriptions/move/holder", role: operator.Support, post: moveHolder, form: showMoveForm},
	{path: "/subscriptions/move/table", role: operator.Support, upload: true, post: moveTable, form: showMoveForm},
	{path: "/subscriptions/{partner}/{seq}", role: operator.Viewer, portal: look, get: showSubscription},
	{
		path: "/subscriptions/{partner}/{seq}/reveal", role: operator.Support, portal: attend,
		post: revealSubscription, form: showSubscription,
	},
	{
		path: "/subscriptions/{partner}/{seq}/end", role: operator.Support,
		post: endSubscription, form: showSubscription,
	},
	{
		path: "/subscriptions/{partner}/{seq}/suspend", role: operator.Support,
		post: suspendSubscription, form: showSubscription,
	},
	{
		path: "/subscriptions/{partner}/{seq}/resume", role: operator.Support,
		post: resumeSubscription, form: showSubscription,
	},

	{path: "/search", role: operator.Viewer, portal: look, get: showSearch, post: searchPeople},
	{path: "/people", role: operator.Viewer, portal: look, get: peopleList.showPage},
	{path: "/people/{partner}/{ref}", role: operator.Viewer, portal: look, get: showPerson},
	{
		path: "/people/{partner}/{ref}/reveal", role: operator.Support, portal: attend,
		post: revealPerson, form: showPerson,
	},
	{path: "/people/{partner}/{ref}/values", role: operator.Admin, post: watchValue, form: showPerson},
	{
		path: "/people/{partner}/{ref}/case", role: operator.Support, portal: attend,
		post: openCaseForPerson, form: showPerson,
	},

	{path: "/monitoring", role: operator.Viewer, portal: look, get: assetsList.showPage},
	{path: "/monitoring/find", role: operator.Viewer, portal: look, post: findPerson, form: assetsList.showPage},
	{path: "/monitoring/values", role: operator.Admin, post: watchValue, form: assetsList.showPage},
	{
		path: "/monitoring/{partner}/{asset}/reveal", role: operator.Support, portal: attend,
		post: revealAsset, form: assetsList.showPage,
	},
	{path: "/findings", role: operator.Viewer, portal: look, get: findingsList.showPage},
	{path: "/findings/{partner}/{finding}", role: operator.Viewer, portal: look, get: showFinding},
	{
		path: "/findings/{partner}/{finding}/steps/{step}", role: operator.Support, portal: attend,
		post: markFindingStep, form: showFinding,
	},
	{
		path: "/findings/{partner}/{finding}/recheck", role: operator.Support, portal: attend,
		post: recheckFinding, form: showFinding,
	},
	{
		path: "/findings/{partner}/{finding}/resolve", role: operator.Support, portal: attend,
		post: resolveFinding, form: showFinding,
	},
	{path: "/findings/{partner}/{finding}/retract", role: operator.Support, post: retractFinding, form: showFinding},

	{path: "/breaches", role: operator.Viewer, get: breachesList.showPage},
	{path: "/breaches/new", role: operator.Admin, get: newBreach, post: importBreach},
	{path: "/breaches/upload", role: operator.Admin, upload: true, post: importBreach, form: newBreach},
	{path: "/breaches/{name}", role: operator.Viewer, get: showBreach},
	{path: "/breaches/{name}/edit", role: operator.Admin, get: editBreach, post: saveBreach},
	{path: "/breaches/{name}/renew", role: operator.Admin, get: newRenewal, post: renewBreach},
	{path: "/breaches/{name}/renew/upload", role: operator.Admin, upload: true, post: renewBreach, form: newRenewal},
	{path: "/breaches/{name}/verify", role: operator.Admin, post: verifyBreach, form: showBreach},
	{path: "/breaches/{name}/retract", role: operator.Admin, post: retractBreach, form: showBreach},

	{path: "/feeds", role: operator.Viewer, get: listFeeds},
	{path: "/feeds/new", role: operator.Admin, fresh: true, get: showNewFeed, post: createFeed},
	{path: "/feeds/{name}/run", role: operator.Admin, post: startFeed, form: listFeeds},
	{path: "/feeds/{name}/pause", role: operator.Admin, post: pauseFeed, form: listFeeds},
	{path: "/feeds/{name}/resume", role: operator.Admin, post: resumeFeed, form: listFeeds},

	{path: "/passwords", role: operator.Viewer, get: showPasswords},
	{path: "/passwords/import", role: operator.Admin, post: importPasswords, form: showPasswords},
	{path: "/passwords/upload", role: operator.Admin, upload: true, post: importPasswords, form: showPasswords},
	{path: "/passwords/download", role: operator.Admin, post: downloadPasswords, form: showPasswords},
	{path: "/passwords/verify", role: operator.Admin, post: verifyPasswords, form: showPasswords},

	{path: "/cases", role: operator.Viewer, portal: look, get: casesList.showPage},
	{path: "/cases/{id}", role: operator.Viewer, portal: look, get: showCasePage},
	{path: "/cases/{id}/move", role: operator.Support, post: moveCaseStatus, form: showCasePage},
	{path: "/cases/{id}/assign", role: operator.Support, post: assignCase, form: showCasePage},
	{path: "/cases/{id}/take", role: operator.Support, post: takeOverCase, form: showCasePage},
	{path: "/cases/{id}/end", role: operator.Support, post: endCaseLater, form: showCasePage},
	{path: "/cases/{id}/undo", role: operator.Support, post: undoCaseEnd, form: showCasePage},
	{path: "/cases/{id}/write", role: operator.Support, portal: attend, post: writeCase, form: showCasePage},
	{path: "/cases/{id}/writing", role: operator.Support, portal: attend, post: writingCase},
	{path: "/cases/{id}/reveal", role: operator.Support, portal: attend, post: revealCase, form: showCasePage},
	{path: "/cases/assign", role: operator.Support, post: assignMarkedCases, form: casesList.showPage},
	{path: "/answers", role: operator.Support, get: showAnswers, post: saveAnswer},
	{path: "/answers/delete", role: operator.Support, post: deleteAnswer, form: showAnswers},

	{path: "/devices", role: operator.Viewer, portal: look, get: devicesList.showPage},
	{path: "/devices/find", role: operator.Support, portal: attend, post: findDevice, form: devicesList.showPage},
	{path: "/devices/pools/{system}/source", role: operator.Admin, post: setSource, form: devicesList.showPage},
	{
		path: "/devices/pools/{system}/load", role: operator.Admin, upload: true,
		post: loadKeyPool, form: devicesList.showPage,
	},
	{path: "/devices/pools/{system}/install", role: operator.Admin, post: setInstall, form: devicesList.showPage},
	{path: "/devices/{id}", role: operator.Viewer, portal: look, get: showDevice},
	{path: "/devices/{id}/reveal", role: operator.Support, portal: attend, post: revealDevice, form: showDevice},
	{path: "/devices/{id}/revoke", role: operator.Support, portal: attend, post: revokeDevice, form: showDevice},
	{path: "/devices/{id}/replace", role: operator.Support, portal: attend, post: replaceDevice, form: showDevice},

	{path: "/messages", role: operator.Viewer, get: listTexts},
	{path: "/messages/{event}/{channel}/{lang}", role: operator.Viewer, get: showTextPage},
	{path: "/messages/{event}/{channel}/{lang}", role: operator.Admin, post: saveTextForm, form: showTextPage},
	{path: "/messages/{event}/{channel}/{lang}/reset", role: operator.Admin, post: resetText, form: showTextPage},
	{path: "/content", role: operator.Viewer, get: listContent},
	{path: "/content/new", role: operator.Admin, get: newContent, post: createContent},
	{path: "/content/yaml", role: operator.Admin, post: importContent, form: newContent},
	{path: "/content/export", role: operator.Viewer, get: exportContent},
	{path: "/content/{id}", role: operator.Viewer, get: showContent},
	{path: "/content/{id}", role: operator.Admin, post: saveContent, form: showContent},
	{path: "/content/{id}/yaml", role: operator.Admin, post: saveContentYAML, form: showContent},
	{path: "/content/{id}/reset", role: operator.Admin, post: resetContent, form: showContent},
	{path: "/content/{id}/retire", role: operator.Admin, post: retireContent, form: showContent},
	{path: "/content/{id}/offer", role: operator.Admin, post: offerContent, form: showContent},

	{path: "/events", role: operator.Viewer, portal: look, get: eventsList.showPage},
	{path: "/events/report", role: operator.Viewer, portal: look, get: reportEvents},
	{path: "/events/types", role: operator.Viewer, portal: look, get: showEventTypes},
	{path: "/events/replay", role: operator.Support, portal: integrate, post: replayWindow, form: reportEvents},
	{path: "/events/{partner}/{event}", role: operator.Viewer, portal: look, get: showEvent},
	{
		path: "/events/{partner}/{event}/replay", role: operator.Support, portal: integrate,
		post: replayEvent, form: showEvent,
	},
	{path: "/deliveries", role: operator.Viewer, portal: look, get: deliveriesList.showPage},
	{
		path: "/deliveries/replay", role: operator.Support, portal: integrate,
		post: replayFailed, form: deliveriesList.showPage,
	},

	{path: "/lists/{list}/person", role: operator.Viewer, portal: look, post: pickPerson, form: showListAgain},
	{path: "/lists/{list}/export", role: operator.Viewer, portal: look, post: exportList},
	{path: "/lists/{list}/filters", role: operator.Viewer, portal: look, post: keepFilter, form: showListAgain},
	{path: "/lists/{list}/filters/{filter}/drop", role: operator.Viewer, portal: look, post: dropFilter},
	{path: "/lists/{list}/bulk", role: operator.Support, portal: look, post: previewBulk, form: showListAgain},
	{path: "/lists/{list}/bulk/run", role: operator.Support, portal: look, post: runBulkAction},
	{path: "/exports", role: operator.Viewer, portal: look, get: showExports},
	{path: "/exports/{id}", role: operator.Viewer, portal: look, get: downloadExport},

	{path: "/jobs", role: operator.Viewer, get: showJobs},
	{path: "/jobs/{id}/events", role: operator.Viewer, get: followJob},
	{path: "/jobs/{id}/cancel", role: operator.Admin, post: cancelJob, form: showJobs},

	{path: "/subjects", role: operator.Admin, portal: respond, fresh: true, get: showSubjects},
	{path: "/subjects/find", role: operator.Admin, portal: respond, post: findSubject, form: showSubjects},
	{path: "/subjects/access", role: operator.Admin, post: showAccesses, form: showSubjects},
	{
		path: "/subjects/export", role: operator.Admin, portal: respond, fresh: true,
		post: exportSubject, form: showSubjects,
	},
	{path: "/subjects/erase", role: operator.Admin, fresh: true, get: confirmErase, post: eraseSubject},
	{
		path: "/subjects/requests", role: operator.Admin, portal: respond, fresh: true,
		post: requestErasure, form: showErasureRequest,
	},
	{
		path: "/subjects/requests/{partner}/{request}/cancel", role: operator.Admin, portal: respond,
		post: cancelErasure, form: showSubjects,
	},
	{path: "/subjects/erasures", role: operator.Admin, get: erasureLog},
	{path: "/incidents", role: operator.Admin, portal: respond, get: newIncident, post: reportIncident},
	{
		path: "/incidents/download", role: operator.Admin, portal: respond, fresh: true,
		post: downloadIncident, form: newIncident,
	},
	{path: "/keys", role: operator.Admin, get: showKeysPage},
	{path: "/keys/count", role: operator.Admin, post: countKeys, form: showKeysPage},
	{path: "/keys/rotate", role: operator.Admin, fresh: true, post: rotateKeys, form: showKeysPage},

	{path: "/audit", role: operator.Admin, portal: integrate, get: auditList.showPage},
	{path: "/audit/verify", role: operator.Admin, post: verifyAudit, form: auditList.showPage},
	{path: "/operators", role: operator.Admin, portal: integrate, get: listOperators},
	{path: "/operators/new", role: operator.Admin, fresh: true, get: newOperator, post: createOperator},
	{path: "/operators/{id}", role: operator.Admin, portal: integrate, get: showOperator},
	{
		path: "/operators/{id}/role", role: operator.Admin, portal: integrate, fresh: true,
		post: changeRole, form: showOperator,
	},
	{
		path: "/operators/{id}/disable", role: operator.Admin, portal: integrate,
		post: disableOperator, form: showOperator,
	},
	{
		path: "/operators/{id}/enable", role: operator.Admin, portal: integrate, fresh: true,
		post: enableOperator, form: showOperator,
	},
	{path: "/operators/{id}/logout", role: operator.Admin, portal: integrate, post: endSessions, form: showOperator},
	{
		path: "/operators/{id}/reset", role: operator.Admin, portal: integrate, fresh: true,
		post: resetOperator, form: showOperator,
	},
})

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
