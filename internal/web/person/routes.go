package person

import (
	"net/http"
)

// handler is what a route does. It returns what to answer, or a fault, and never sees the ResponseWriter.
type handler func(p *Pages, r *request) (answer, error)

// route is one page or one change.
type route struct {
	method, path string
	run          handler
	// open is set on what answers without a session.
	open bool
	// form shows the page again when run refuses what was filled in.
	form handler
}

// routes is all that a person can see and do.
var routes = []route{
	{method: http.MethodGet, path: "/p/enter/{token}", run: openSession, open: true},
	{method: http.MethodGet, path: "/p/{$}", run: showHomePage},
	{method: http.MethodGet, path: "/p/leaks", run: showLeaks},
	{method: http.MethodPost, path: "/p/leaks/{id}/resolve", run: resolveLeak, form: showLeaks},
	{method: http.MethodGet, path: "/p/steps", run: showSteps},
	{method: http.MethodPost, path: "/p/answer", run: answerQuestion, form: showSteps},
	{method: http.MethodPost, path: "/p/steps/{step}", run: markMergedStep, form: showSteps},
	{method: http.MethodGet, path: "/p/more", run: showMorePage},
	{method: http.MethodGet, path: "/p/score", run: showScore},
	{method: http.MethodGet, path: "/p/devices", run: showDevices},
	{method: http.MethodGet, path: "/p/cases", run: listCases},
	{method: http.MethodGet, path: "/p/cases/{id}", run: showCasePage},
	{method: http.MethodPost, path: "/p/cases/{id}/reply", run: replyCase, form: showCasePage},
	{method: http.MethodPost, path: "/p/cases/{id}/rebook", run: rebookCase, form: showCasePage},
	{method: http.MethodPost, path: "/p/cases/{id}/cancel", run: cancelCase, form: showCasePage},
	{method: http.MethodPost, path: "/p/cases/{id}/rate", run: rateOwnCase, form: showCasePage},
	{method: http.MethodGet, path: "/p/services/{id}", run: showService},
	{method: http.MethodPost, path: "/p/services/{id}", run: openOwnCase, form: showService},
	{method: http.MethodGet, path: "/p/cover", run: showCover},
	{method: http.MethodGet, path: "/p/data", run: showDataPage},
	{method: http.MethodPost, path: "/p/data", run: downloadCopy, form: showDataPage},
	{method: http.MethodPost, path: "/p/lang", run: changeLanguage},
	{method: http.MethodPost, path: "/p/leave", run: leaveSession},
	{method: http.MethodGet, path: "/p/theme.css", run: themeSheet},
	{method: http.MethodGet, path: "/p/logo.png", run: themeLogo},
}

// menu is the bar at the foot of the screen: four pages, and the way to the others.
var menu = []struct{ path, word, icon string }{
	{"/p/", "menu.home", "home"},
	{"/p/leaks", "menu.leaks", "leak"},
	{"/p/steps", "menu.steps", "todo"},
	{"/p/cases", "menu.help", "chat"},
	{"/p/more", "menu.more", "more"},
}

// others are the pages behind "more".
var others = []struct{ path, word, icon string }{
	{"/p/score", "menu.score", "chart"},
	{"/p/devices", "menu.devices", "phone"},
	{"/p/cover", "menu.cover", "shield"},
	{"/p/data", "menu.data", "get"},
}
