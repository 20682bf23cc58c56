package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
)

// tree finds the route of a path as it was sent. The standard mux judges a path after decoding it, and a user hash in
// standard base64 may hold "/" and "//": sent as %2F they are part of one segment, decoded they make a path that is
// unclean or has a segment too many. Nothing here redirects: a redirect would repeat the path, and with it a person's
// CPF, in a header.
type tree struct {
	// fixed are the next segments that are written in a template; value is where any other goes.
	fixed map[string]*tree
	value *tree
	// byMethod are the routes that end here.
	byMethod map[string]*bound
}

// bound is a route and where its requests are counted and logged.
type bound struct {
	route *route
	// names are those of the template's values, in order.
	names []string
	seen  observed
}

// addRoute puts a route in the tree. That no template has a value where another has a fixed segment is what lets find go one
// way only; "extra" in the place of a user hash or an id is the one exception, and no digest reads so.
func (t *tree) addRoute(b *bound) {
	for _, segment := range strings.Split(strings.TrimPrefix(b.route.path, "/"), "/") {
		if strings.HasPrefix(segment, "{") {
			b.names = append(b.names, strings.Trim(segment, "{}"))
			if t.value == nil {
				t.value = &tree{}
			}
			t = t.value
		} else {
			if t.fixed[segment] == nil {
				if t.fixed == nil {
					t.fixed = map[string]*tree{}
				}
				t.fixed[segment] = &tree{}
			}
			t = t.fixed[segment]
		}
	}
	if t.byMethod == nil {
		t.byMethod = map[string]*bound{}
	}
	t.byMethod[b.route.method] = b
}

// maxValues is how many values a template may have.
const maxValues = 3

// sentPath is a path cut in segments: encoded where decoding changes them.
type sentPath struct {
	rest    string // begins with the slash before the next segment
	encoded bool
}

// pathAsSent returns the path of a request as it was sent. net/url keeps it in RawPath where its own encoding of the decoded
// path differs; where it does not, every slash of the decoded path was sent as a slash.
func pathAsSent(u *url.URL) sentPath {
	if u.RawPath != "" {
		return sentPath{u.RawPath, true}
	}
	return sentPath{u.Path, false}
}

// nextSegment takes a segment off the path, decoded. It is false at the end, and for what has no slash before it.
func (p *sentPath) nextSegment() (string, bool) {
	if p.rest == "" || p.rest[0] != '/' {
		return "", false
	}
	segment, length := p.rest[1:], len(p.rest)
	if i := strings.IndexByte(segment, '/'); i >= 0 {
		segment, length = segment[:i], i+1
	}
	p.rest = p.rest[length:]
	if p.encoded && strings.IndexByte(segment, '%') >= 0 {
		if decoded, err := url.PathUnescape(segment); err == nil { // what cannot be decoded is refused by RefuseTarget
			segment = decoded
		}
	}
	return segment, true
}

// skipVersion leaves out the prefix that every route answers at too.
func (p sentPath) skipVersion() sentPath {
	unversioned := p
	if first, ok := unversioned.nextSegment(); ok && first == versionPrefix[1:] {
		return unversioned
	}
	return p
}

// findRoute walks along a path. The values are those of the segments that the template leaves open; an empty segment is
// none.
func (t *tree) findRoute(p sentPath, values *[maxValues]string) (found *tree, count int) {
	p = p.skipVersion()
	for {
		segment, ok := p.nextSegment()
		if !ok {
			return t, count
		}
		switch next := t.fixed[segment]; {
		case next != nil:
			t = next
		case t.value != nil && segment != "" && count < maxValues:
			t = t.value
			values[count] = segment
			count++
		default:
			return nil, 0
		}
	}
}

// listMethods lists what a path answers to, for the header Allow.
func (t *tree) listMethods() string {
	methods := slices.Sorted(maps.Keys(t.byMethod))
	if i := slices.Index(methods, http.MethodGet); i >= 0 {
		methods = slices.Insert(methods, i+1, http.MethodHead)
	}
	return strings.Join(methods, ", ")
}

// routeOfMethod returns the route of a method; HEAD is a GET whose body net/http leaves out.
func (t *tree) routeOfMethod(method string) *bound {
	if t == nil {
		return nil
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return t.byMethod[method]
}

// areaOfPath says in which shape a path that no route has is refused; nil when it belongs to no area.
func areaOfPath(p sentPath) *area {
	p = p.skipVersion()
	first, _ := p.nextSegment()
	switch {
	case "/"+first == cyberArea.prefix, "/"+first == eventsPath, slices.Contains(managed, first):
		return cyberArea
	case "/"+first == subscriptionArea.prefix, "/"+first == movesPath, "/"+first == editsPath:
		return subscriptionArea
	}
	return nil
}

// readScopeOf returns the scope that is required for a path without a route, so that the refusal is the same for every
// key.
func readScopeOf(p sentPath) partner.Scope {
	rest := p.skipVersion()
	switch first, _ := rest.nextSegment(); {
	case "/"+first == eventsPath:
		return partner.ScopeAnyRead
	case slices.Contains(managed, first):
		return partner.ScopeManageRead
	}
	return areaOfPath(p).readScope
}

// requestPlace names what a request is about: its route and values, the same for every way of encoding the path and with or
// without the version.
func (rt *route) requestPlace(hr *http.Request) string {
	text := rt.method + " " + rt.path
	for _, segment := range strings.Split(rt.path, "/") {
		if strings.HasPrefix(segment, "{") {
			text += "\x00" + hr.PathValue(strings.Trim(segment, "{}"))
		}
	}
	return text
}
