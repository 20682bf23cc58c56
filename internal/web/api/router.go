package api

import (
	"cmp"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
)

// table finds the routes of a path as it was sent. The standard mux judges a path after decoding it, and a user hash in
// standard base64 may hold "/" and "//": sent as %2F they are part of one segment, decoded they make a path that is
// unclean or has a segment too many. Nothing here redirects: a redirect would repeat the path, and with it a person's
// CPF, in a header.
type table []*bound

// bound is a route with the segments of its template, and where its requests are counted and logged.
type bound struct {
	*route
	segments []string
	values   int
	seen     observed
}

// addRoute puts a route into the table, those with fewer values first: "extra" is not taken for a user hash or an id.
func (t *table) addRoute(rt *route, seen observed) {
	b := &bound{route: rt, segments: strings.Split(rt.path[1:], "/"), values: strings.Count(rt.path, "{"), seen: seen}
	at, _ := slices.BinarySearchFunc(
		*t, b.values+1, func(other *bound, values int) int { return other.values - values },
	)
	*t = slices.Insert(*t, at, b)
}

// isValue reports whether a segment of a template stands for any text.
func isValue(segment string) bool { return strings.HasPrefix(segment, "{") }

// matchesPath reports whether a path has the form of the template; an empty segment is no value.
func (b *bound) matchesPath(path []string) bool {
	return slices.EqualFunc(
		b.segments,
		path,
		func(template, sent string) bool { return template == sent || isValue(template) && sent != "" },
	)
}

// findRoutes returns the routes of a path, one for each method that it answers to.
func (t table) findRoutes(path []string) (found table) {
	for _, b := range t {
		if len(found) > 0 && b.values > found[0].values {
			break
		}
		if b.matchesPath(path) {
			found = append(found, b)
		}
	}
	return found
}

// pathSegments returns the segments of a path as it was sent, each decoded, without the version that every path may
// begin with. net/url keeps the path in RawPath where its own encoding of the decoded path differs; where it does not,
// every slash of the decoded path was sent as a slash. net/http refuses a path that cannot be decoded.
func pathSegments(u *url.URL) []string {
	text := cmp.Or(u.RawPath, u.Path)
	if !strings.HasPrefix(text, "/") {
		return nil
	}
	path := strings.Split(text[1:], "/")
	for i, segment := range path {
		if decoded, err := url.PathUnescape(segment); err == nil && u.RawPath != "" {
			path[i] = decoded
		}
	}
	if path[0] == versionPrefix[1:] {
		path = path[1:]
	}
	return path
}

// listMethods lists what the routes of a path answer to, for the header Allow.
func (t table) listMethods() string {
	var methods []string
	for _, b := range t {
		methods = append(methods, b.method)
	}
	slices.Sort(methods)
	if i := slices.Index(methods, http.MethodGet); i >= 0 {
		methods = slices.Insert(methods, i+1, http.MethodHead)
	}
	return strings.Join(methods, ", ")
}

// routeOfMethod returns the route of a method, or nil; HEAD is a GET whose body net/http leaves out.
func (t table) routeOfMethod(method string) *bound {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, b := range t {
		if b.method == method {
			return b
		}
	}
	return nil
}

// areaOfPath says in which shape a path that no route has is refused, and which scope is required for it, so that the
// refusal is the same for every key; nil when it belongs to no area.
func areaOfPath(path []string) (*area, partner.Scope) {
	if len(path) == 0 {
		return nil, ""
	}
	switch first := "/" + path[0]; {
	case first == eventsPath:
		return cyberArea, partner.ScopeAnyRead
	case first == usagePath:
		return cyberArea, partner.ScopeAny
	case slices.Contains(managed, path[0]):
		return cyberArea, partner.ScopeManageRead
	case first == cyberArea.prefix:
		return cyberArea, partner.ScopeCyberRead
	case first == subscriptionArea.prefix, first == movesPath, first == editsPath:
		return subscriptionArea, partner.ScopeSubscriptionsRead
	}
	return nil, ""
}

// requestPlace names what a request is about: its route and values, the same for every way of encoding the path and
// with or without the version.
func (rt *route) requestPlace(hr *http.Request) string {
	text := rt.method + " " + rt.path
	for _, segment := range strings.Split(rt.path, "/") {
		if isValue(segment) {
			text += "\x00" + hr.PathValue(strings.Trim(segment, "{}"))
		}
	}
	return text
}

// isCleanPath reports whether the mux takes a path as it is.
func isCleanPath(p string) bool {
	tidy := path.Clean(p)
	return strings.HasPrefix(p, "/") && (p == tidy || p == tidy+"/" && tidy != "/")
}
