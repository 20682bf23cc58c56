package console

import (
	"net/http"
	"strings"

	"vigia/internal/operator"
)

// route is one page or one action.
type route struct {
	method, path string
	// role is the least role that may; empty for pages that come before a session.
	role operator.Role
	run  handler
	// form shows the page again when run refuses what was filled in.
	form handler
	// fresh asks for the password again unless it was given lately: before a secret is shown or access is changed.
	fresh bool
	// early is open to a session that has no second factor yet.
	early bool
	// upload reads its body itself, without a limit of time.
	upload bool
}

// proofPage is where to go on after the password was given again: a page itself, or the page that leads to an action.
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

// routes is the whole console. The role of each row is the only place that says who may do what.
var routes = []route{
	{method: "GET", path: "/login", run: showLogin},
	{method: "POST", path: "/login", run: login, form: showLogin},
	{method: "GET", path: "/link/{token}", run: showLink},
	{method: "POST", path: "/link/{token}", run: useLink, form: showLink},

	{method: "GET", path: "/second-factor", role: operator.Viewer, early: true, run: showSecondFactor},
	{method: "POST", path: "/second-factor", role: operator.Viewer, early: true, run: confirmSecondFactor, form: showSecondFactor},
	{method: "POST", path: "/logout", role: operator.Viewer, early: true, run: logout},
	{method: "GET", path: "/prove", role: operator.Viewer, run: showProof},
	{method: "POST", path: "/prove", role: operator.Viewer, run: prove, form: showProof},
	{method: "GET", path: "/account", role: operator.Viewer, run: showAccount},
	{method: "POST", path: "/account/password", role: operator.Viewer, run: changePassword, form: showAccount},
	{method: "POST", path: "/account/logout", role: operator.Viewer, run: logoutEverywhere},

	{method: "GET", path: "/{$}", role: operator.Viewer, run: showOverview},

	{method: "GET", path: "/partners", role: operator.Viewer, run: listPartners},
	{method: "GET", path: "/partners/new", role: operator.Admin, fresh: true, run: newPartner},
	{method: "POST", path: "/partners/new", role: operator.Admin, fresh: true, run: createPartner, form: newPartner},
	{method: "GET", path: "/partners/{id}", role: operator.Viewer, run: showPartner},
	{method: "POST", path: "/partners/{id}/settings", role: operator.Admin, run: savePartner, form: showPartner},
	{method: "POST", path: "/partners/{id}/suspend", role: operator.Admin, run: suspendPartner, form: showPartner},
	{method: "POST", path: "/partners/{id}/resume", role: operator.Admin, run: resumePartner, form: showPartner},
	{method: "GET", path: "/partners/{id}/keys/new", role: operator.Admin, fresh: true, run: newKey},
	{method: "POST", path: "/partners/{id}/keys/new", role: operator.Admin, fresh: true, run: createKey, form: newKey},
	{method: "GET", path: "/partners/{id}/keys/{key}/roll", role: operator.Admin, fresh: true, run: confirmRoll},
	{method: "POST", path: "/partners/{id}/keys/{key}/roll", role: operator.Admin, fresh: true, run: rollKey, form: confirmRoll},
	{method: "POST", path: "/partners/{id}/keys/{key}/revoke", role: operator.Admin, run: revokeKey, form: showPartner},

	{method: "GET", path: "/services", role: operator.Viewer, run: listServices},
	{method: "POST", path: "/services", role: operator.Admin, run: addService, form: listServices},
	{method: "GET", path: "/services/{id}", role: operator.Viewer, run: showService},
	{method: "POST", path: "/services/{id}", role: operator.Admin, run: saveService, form: showService},
	{method: "POST", path: "/services/{id}/retire", role: operator.Admin, run: retireService, form: showService},

	{method: "GET", path: "/audit", role: operator.Admin, run: listAudit},
	{method: "POST", path: "/audit/verify", role: operator.Admin, run: verifyAudit},
	{method: "GET", path: "/operators", role: operator.Admin, run: listOperators},
	{method: "GET", path: "/operators/new", role: operator.Admin, fresh: true, run: newOperator},
	{method: "POST", path: "/operators/new", role: operator.Admin, fresh: true, run: createOperator, form: newOperator},
	{method: "GET", path: "/operators/{id}", role: operator.Admin, run: showOperator},
	{method: "POST", path: "/operators/{id}/role", role: operator.Admin, fresh: true, run: setRole, form: showOperator},
	{method: "POST", path: "/operators/{id}/disable", role: operator.Admin, run: disableOperator, form: showOperator},
	{method: "POST", path: "/operators/{id}/enable", role: operator.Admin, fresh: true, run: enableOperator, form: showOperator},
	{method: "POST", path: "/operators/{id}/logout", role: operator.Admin, run: endSessions, form: showOperator},
	{method: "POST", path: "/operators/{id}/reset", role: operator.Admin, fresh: true, run: resetOperator, form: showOperator},
}

// section is a line of the menu.
type section struct{ path, label, icon string }

type sectionGroup struct {
	label    string
	sections []section
}

// menu is the console's table of contents. What an operator may not open is left out.
var menu = []sectionGroup{
	{"", []section{{"/", "Visão geral", "chart"}}},
	{"Clientes", []section{{"/partners", "Parceiros", "building"}}},
	{"Proteção", []section{{"/services", "Serviços", "lifebuoy"}}},
	{"Sistema", []section{{"/audit", "Auditoria", "list"}, {"/operators", "Operadores", "people"}}},
}

// allowed tells whether a role may open a page of the menu.
func allowed(role operator.Role, path string) bool {
	if path == "/" {
		path = "/{$}"
	}
	for _, rt := range routes {
		if rt.method == http.MethodGet && rt.path == path {
			return role.Covers(rt.role)
		}
	}
	return false
}
