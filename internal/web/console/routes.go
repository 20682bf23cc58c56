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
	// access is who may; empty for pages that come before a session.
	access
	// portalRun is the page that a partner's people see instead; nil when it is the same.
	portalRun handler
	// form shows the page again when an action refuses what was filled in: the page of the same path, or of the next
	// one above, unless the table names another or says that there is none.
	form     handler
	formless bool
	// fresh asks for the password again unless it was given lately: before a secret is shown or access is changed.
	fresh bool
	// early is open to a session that has no second factor yet.
	early bool
	// upload reads its body itself, without a limit of time.
	upload bool
}

// splitRoutes returns the pages and the actions of the table, each by itself.
func splitRoutes(table []route) (all []route) {
	shown := map[string]handler{}
	for _, rt := range table {
		if rt.get != nil {
			shown[rt.path] = rt.get
		}
	}
	for _, rt := range table {
		if rt.get != nil {
			page := rt
			page.method, page.run = http.MethodGet, rt.get
			all = append(all, page)
		}
		if rt.post != nil {
			rt.method, rt.run = http.MethodPost, rt.post
			for path := rt.path; path != "" && rt.form == nil && !rt.formless; {
				rt.form = shown[path]
				path = path[:strings.LastIndexByte(path, '/')]
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
	if findRoute("GET "+rt.path) != nil {
		return r.URL.Path
	}
	return r.URL.Path[:strings.LastIndexByte(r.URL.Path, '/')]
}

// routes is the whole console. The access of each row is the only place that says who may do what: operators of the
// service, and partners' own people. Which of the lists they may use, and what of many lines at once, is said by each
// list: see listing.access and bulkAction.portal.
var routes = splitRoutes([]route{
	{path: "/login", get: showLogin, post: logInOperator},
	{path: "/login/passkey/begin", post: beginPasskeyLogin, formless: true},
	{path: "/login/passkey", post: passkeyLogin},
	{path: "/link/{token}", get: showInvitation, post: acceptInvitation},

	{path: "/second-factor", access: everyone, early: true, get: showSecondFactor, post: confirmSecondFactor},
	{path: "/logout", access: everyone, early: true, post: logOutOperator},
	{path: "/secret", access: everyone, early: true, get: showSecrets},
	{path: "/prove", access: everyone, get: showProof, post: proveAgain},
	{path: "/account", access: everyone, get: showAccount},
	{path: "/account/password", access: everyone, post: changePassword},
	{path: "/account/logout", access: everyone, post: logoutEverywhere, formless: true},
	{path: "/account/recovery", access: everyone, fresh: true, post: renewRecovery},
	{path: "/account/passkeys/begin", access: everyone, fresh: true, post: beginPasskey, formless: true},
	{path: "/account/passkeys", access: everyone, fresh: true, post: addPasskey},
	{path: "/account/passkeys/{passkey}/remove", access: everyone, fresh: true, post: removePasskey},
	{path: "/account/noticed", access: everyone, post: dismissNotices, formless: true},

	{path: "/{$}", access: everyone, get: showOverview, portalRun: showPortal},

	{path: "/partners", access: viewers, get: listPartners},
	{path: "/partners/new", access: admins, fresh: true, get: newPartner, post: createPartner},
	{path: "/partners/{id}", access: everyone, get: showPartner},
	{path: "/partners/{id}/settings", access: admins, post: savePartner},
	{path: "/partners/{id}/suspend", access: admins, post: suspendPartner},
	{path: "/partners/{id}/resume", access: admins, post: resumePartner},
	{path: "/partners/{id}/first-looks/grant", access: admins, post: grantLooks},
	{path: "/partners/{id}/keys/new", access: adminsAndDevelopers, fresh: true, get: newKey, post: createKey},
	{
		path: "/partners/{id}/keys/{key}/roll", access: adminsAndDevelopers, fresh: true,
		get: confirmRoll, post: replaceKey,
	},
	{path: "/partners/{id}/keys/{key}/revoke", access: adminsAndDevelopers, post: revokeKey},
	{path: "/partners/{id}/theme", access: everyone, get: showTheme},
	{path: "/partners/{id}/theme", access: adminsAndDevelopers, post: saveTheme},
	{path: "/partners/{id}/usage", access: everyone, get: showUsage},
	{path: "/partners/{id}/requests", access: everyone, get: showRequests},
	{path: "/partners/{id}/invite", access: adminsAndDevelopers, fresh: true, get: newInvite, post: inviteOperator},

	{path: "/sandbox", access: everyone, post: switchSandbox},

	{path: "/services", access: viewers, get: listServices},
	{path: "/services", access: admins, post: addService},
	{path: "/services/{id}", access: viewers, get: showService},
	{path: "/services/{id}", access: admins, post: saveService},
	{path: "/services/{id}/retire", access: admins, post: retireService},

	{path: "/services/{id}/target", access: admins, post: setTarget},
	{path: "/services/{id}/questions", access: admins, post: addQuestion},
	{path: "/services/{id}/questions/{question}/remove", access: admins, post: removeQuestion},
	{path: "/services/{id}/slots", access: supporters, post: addServiceSlots},
	{path: "/services/{id}/slots/{slot}/remove", access: supporters, post: removeSlot},

	{path: "/webhooks/{partner}/new", access: adminsAndDevelopers, fresh: true, get: newWebhook, post: createWebhook},
	{path: "/webhooks/{partner}/{endpoint}", access: everyone, get: showWebhook},
	{path: "/webhooks/{partner}/{endpoint}/test", access: supportersAndDevelopers, post: testWebhook},
	{
		path: "/webhooks/{partner}/{endpoint}/rotate", access: adminsAndDevelopers, fresh: true,
		get: confirmRotate, post: rotateWebhook,
	},
	{path: "/webhooks/{partner}/{endpoint}/enable", access: supportersAndDevelopers, post: enableWebhook},
	{path: "/webhooks/{partner}/{endpoint}/disable", access: adminsAndDevelopers, post: disableWebhook},
	{path: "/webhooks/{partner}/{endpoint}/delete", access: adminsAndDevelopers, post: deleteWebhook},

	{path: "/plans", access: viewers, get: listPlans},
	{path: "/plans/{partner}/new", access: admins, get: showNewPlan, post: createPlan},
	{path: "/plans/{partner}/edit/{plan}", access: viewers, get: showPlanPage},
	{path: "/plans/{partner}/edit/{plan}", access: admins, post: savePlanForm},

	{path: "/subscriptions", access: everyone, get: subscriptionsList.showPage},
	{path: "/subscriptions/find", access: everyone, post: findSubscriptions},
	{path: "/subscriptions/import", access: supporters, get: showImport},
	{path: "/subscriptions/import", access: supporters, upload: true, post: importSubscriptions},
	{path: "/subscriptions/import/{file}", access: supporters, upload: true, post: createChecked},
	{path: "/subscriptions/move", access: supporters, get: showMoveForm},
	{path: "/subscriptions/move/holder", access: supporters, post: moveHolder},
	{path: "/subscriptions/move/table", access: supporters, upload: true, post: moveTable},
	{path: "/subscriptions/{partner}/{seq}", access: everyone, get: showSubscription},
	{path: "/subscriptions/{partner}/{seq}/reveal", access: supportersAndAttendants, post: revealSubscription},
	{path: "/subscriptions/{partner}/{seq}/end", access: supporters, post: endSubscription},
	{path: "/subscriptions/{partner}/{seq}/suspend", access: supporters, post: suspendSubscription},
	{path: "/subscriptions/{partner}/{seq}/resume", access: supporters, post: resumeSubscription},

	{path: "/search", access: everyone, get: showSearch, post: searchPeople},
	{path: "/people", access: everyone, get: peopleList.showPage},
	{path: "/people/{partner}/{ref}", access: everyone, get: showPerson},
	{path: "/people/{partner}/{ref}/reveal", access: supportersAndAttendants, post: revealPerson},
	{path: "/people/{partner}/{ref}/values", access: admins, post: watchValue},
	{path: "/people/{partner}/{ref}/case", access: supportersAndAttendants, post: openCaseForPerson},

	{path: "/monitoring", access: everyone, get: assetsList.showPage},
	{path: "/monitoring/find", access: everyone, post: findPerson},
	{path: "/monitoring/values", access: admins, post: watchValue},
	{path: "/monitoring/{partner}/{asset}/reveal", access: supportersAndAttendants, post: revealAsset},
	{path: "/findings", access: everyone, get: findingsList.showPage},
	{path: "/findings/{partner}/{finding}", access: everyone, get: showFinding},
	{path: "/findings/{partner}/{finding}/steps/{step}", access: supportersAndAttendants, post: markFindingStep},
	{path: "/findings/{partner}/{finding}/recheck", access: supportersAndAttendants, post: recheckFinding},
	{path: "/findings/{partner}/{finding}/resolve", access: supportersAndAttendants, post: resolveFinding},
	{path: "/findings/{partner}/{finding}/retract", access: supporters, post: retractFinding},

	{path: "/breaches", access: viewers, get: breachesList.showPage},
	{path: "/breaches/new", access: admins, get: newBreach, post: importBreach},
	{path: "/breaches/upload", access: admins, upload: true, post: importBreach, form: newBreach},
	{path: "/breaches/{name}", access: viewers, get: showBreach},
	{path: "/breaches/{name}/edit", access: admins, get: editBreach, post: saveBreach},
	{path: "/breaches/{name}/renew", access: admins, get: newRenewal, post: renewBreach},
	{path: "/breaches/{name}/renew/upload", access: admins, upload: true, post: renewBreach},
	{path: "/breaches/{name}/verify", access: admins, post: verifyBreach},
	{path: "/breaches/{name}/retract", access: admins, post: retractBreach},

	{path: "/feeds", access: viewers, get: listFeeds},
	{path: "/feeds/new", access: admins, fresh: true, get: showNewFeed, post: createFeed},
	{path: "/feeds/{name}/run", access: admins, post: startFeed},
	{path: "/feeds/{name}/pause", access: admins, post: pauseFeed},
	{path: "/feeds/{name}/resume", access: admins, post: resumeFeed},

	{path: "/passwords", access: viewers, get: showPasswords},
	{path: "/passwords/import", access: admins, post: importPasswords},
	{path: "/passwords/upload", access: admins, upload: true, post: importPasswords},
	{path: "/passwords/download", access: admins, post: downloadPasswords},
	{path: "/passwords/verify", access: admins, post: verifyPasswords},

	{path: "/cases", access: everyone, get: casesList.showPage},
	{path: "/cases/{id}", access: everyone, get: showCasePage},
	{path: "/cases/{id}/move", access: supporters, post: moveCaseStatus},
	{path: "/cases/{id}/assign", access: supporters, post: assignCase},
	{path: "/cases/{id}/take", access: supporters, post: takeOverCase},
	{path: "/cases/{id}/end", access: supporters, post: endCaseLater},
	{path: "/cases/{id}/undo", access: supporters, post: undoCaseEnd},
	{path: "/cases/{id}/write", access: supportersAndAttendants, post: writeCase},
	{path: "/cases/{id}/writing", access: supportersAndAttendants, post: writingCase, formless: true},
	{path: "/cases/{id}/reveal", access: supportersAndAttendants, post: revealCase},
	{path: "/cases/assign", access: supporters, post: assignMarkedCases},
	{path: "/answers", access: supporters, get: showAnswers, post: saveAnswer},
	{path: "/answers/delete", access: supporters, post: deleteAnswer},

	{path: "/devices", access: everyone, get: devicesList.showPage},
	{path: "/devices/find", access: supportersAndAttendants, post: findDevice},
	{path: "/devices/pools/{system}/source", access: admins, post: setSource},
	{path: "/devices/pools/{system}/load", access: admins, upload: true, post: loadKeyPool},
	{path: "/devices/pools/{system}/install", access: admins, post: setInstall},
	{path: "/devices/{id}", access: everyone, get: showDevice},
	{path: "/devices/{id}/reveal", access: supportersAndAttendants, post: revealDevice},
	{path: "/devices/{id}/revoke", access: supportersAndAttendants, post: revokeDevice},
	{path: "/devices/{id}/replace", access: supportersAndAttendants, post: replaceDevice},

	{path: "/messages", access: viewers, get: listTexts},
	{path: "/messages/{event}/{channel}/{lang}", access: viewers, get: showTextPage},
	{path: "/messages/{event}/{channel}/{lang}", access: admins, post: saveTextForm},
	{path: "/messages/{event}/{channel}/{lang}/reset", access: admins, post: resetText},
	{path: "/content", access: viewers, get: listContent},
	{path: "/content/new", access: admins, get: newContent, post: createContent},
	{path: "/content/yaml", access: admins, post: importContent, form: newContent},
	{path: "/content/export", access: viewers, get: exportContent},
	{path: "/content/{id}", access: viewers, get: showContent},
	{path: "/content/{id}", access: admins, post: saveContent},
	{path: "/content/{id}/yaml", access: admins, post: saveContentYAML},
	{path: "/content/{id}/reset", access: admins, post: resetContent},
	{path: "/content/{id}/retire", access: admins, post: retireContent},
	{path: "/content/{id}/offer", access: admins, post: offerContent},

	{path: "/events", access: everyone, get: eventsList.showPage},
	{path: "/events/report", access: everyone, get: reportEvents},
	{path: "/events/types", access: everyone, get: showEventTypes},
	{path: "/events/replay", access: supportersAndDevelopers, post: replayWindow, form: reportEvents},
	{path: "/events/{partner}/{event}", access: everyone, get: showEvent},
	{path: "/events/{partner}/{event}/replay", access: supportersAndDevelopers, post: replayEvent},
	{path: "/deliveries", access: everyone, get: deliveriesList.showPage},
	{path: "/deliveries/replay", access: supportersAndDevelopers, post: replayFailed},

	{path: "/lists/{list}/person", access: everyone, post: pickPerson, form: showListAgain},
	{path: "/lists/{list}/export", access: everyone, post: exportList},
	{path: "/lists/{list}/filters", access: everyone, post: keepFilter, form: showListAgain},
	{path: "/lists/{list}/filters/{filter}/drop", access: everyone, post: dropFilter},
	{path: "/lists/{list}/bulk", access: supportersAndPartners, post: previewBulk, form: showListAgain},
	{path: "/lists/{list}/bulk/run", access: supportersAndPartners, post: runBulkAction},
	{path: "/exports", access: everyone, get: showExports},
	{path: "/exports/{id}", access: everyone, get: downloadExport},

	{path: "/jobs", access: viewers, get: showJobs},
	{path: "/jobs/{id}/events", access: viewers, get: followJob},
	{path: "/jobs/{id}/cancel", access: admins, post: cancelJob},

	{path: "/subjects", access: adminsAndOfficers, fresh: true, get: showSubjects},
	{path: "/subjects/find", access: adminsAndOfficers, post: findSubject},
	{path: "/subjects/access", access: admins, post: showAccesses},
	{path: "/subjects/export", access: adminsAndOfficers, fresh: true, post: exportSubject},
	{path: "/subjects/erase", access: admins, fresh: true, get: confirmErase, post: eraseSubject},
	{
		path: "/subjects/requests", access: adminsAndOfficers, fresh: true,
		post: requestErasure, form: showErasureRequest,
	},
	{path: "/subjects/requests/{partner}/{request}/cancel", access: adminsAndOfficers, post: cancelErasure},
	{path: "/subjects/erasures", access: admins, get: erasureLog},
	{path: "/incidents", access: adminsAndOfficers, get: newIncident, post: reportIncident},
	{path: "/incidents/download", access: adminsAndOfficers, fresh: true, post: downloadIncident},
	{path: "/keys", access: admins, get: showKeysPage},
	{path: "/keys/count", access: admins, post: countKeys},
	{path: "/keys/rotate", access: admins, fresh: true, post: rotateKeys},

	{path: "/audit", access: adminsAndDevelopers, get: auditList.showPage},
	{path: "/audit/verify", access: admins, post: verifyAudit},
	{path: "/operators", access: adminsAndDevelopers, get: listOperators},
	{path: "/operators/new", access: admins, fresh: true, get: newOperator, post: createOperator},
	{path: "/operators/{id}", access: adminsAndDevelopers, get: showOperator},
	{path: "/operators/{id}/role", access: adminsAndDevelopers, fresh: true, post: changeRole},
	{path: "/operators/{id}/disable", access: adminsAndDevelopers, post: disableOperator},
	{path: "/operators/{id}/enable", access: adminsAndDevelopers, fresh: true, post: enableOperator},
	{path: "/operators/{id}/logout", access: adminsAndDevelopers, post: endSessions},
	{
		path: "/operators/{id}/reset", access: adminsAndDevelopers, fresh: true,
		post: resetOperator, form: showOperator,
	},
})

// findRoute returns the route with a key; nil when there is none.
func findRoute(key string) *route {
	for i := range routes {
		if routes[i].tableKey() == key {
			return &routes[i]
		}
	}
	return nil
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
