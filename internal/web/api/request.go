package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Limits of what a partner may send.
const (
	maxSmallBody      = 64 << 10
	maxListBody       = 512 << 10
	maxBulkBody       = 32 << 20
	maxDepth          = 32
	maxID             = 256
	maxIdempotencyKey = 255
	bulkReadTime      = 2 * time.Minute
	bulkAnswerTime    = 30 * time.Second // for the work and the answer, after the slowest body
)

// request is what an endpoint works with.
type request struct {
	http *http.Request
	// ctx is whole until allowTime gives it a deadline; both live exactly as long as the request.
	ctx, whole context.Context //nolint:containedctx // see above
	endTime    context.CancelFunc
	route      *route
	server     *Server
	// rules are what the endpoint asks: inside runIdempotently, those that commit together with the answer.
	rules  *Rules
	caller partner.Caller
	// user is the person that the path or the body names; id what the path names beside them.
	user partner.UserHash
	id   string
	// vendor means that the vendor of the antivirus asks, about a key of whatever partner.
	vendor bool
	// query are the parameters, decoded.
	query url.Values
	// in is the body as it comes in; body is the whole of it on a smallBody route.
	in   intake
	body []byte
	// claim is filled when the partner sent an idempotency key, and claimed is set once it was presented.
	claim   partner.RequestClaim
	claimed bool
	// reply are the headers of the answer.
	reply http.Header
	// items is how many items of a list the answer holds: the partner is charged for them.
	items int
	// release gives back the slot that a heavy request took; nil without one.
	release func()
}

// takeHeavySlot waits for one of the partner's slots for heavy requests. The request has it until its answer is
// written, because encoding and compressing a long list is most of its work.
func (r *request) takeHeavySlot() (err error) {
	r.release, err = r.server.admission.takeHeavySlot(r.ctx, r.caller.Partner)
	return err
}

// releaseSlot gives back the slot of a heavy request; it does nothing for others.
func (r *request) releaseSlot() {
	if r.release != nil {
		r.release()
	}
}

// beginRead lets a list of at most that many items in, unless the partner is in debt for lists before it.
func (r *request) beginRead(most int) error {
	if wait := r.server.limits.waitForList(r.caller, r.server.Now()); wait > 0 {
		r.reply.Set("retry-after", wholeSeconds(wait))
		return errRateLimited.With("rate", fault.ItemsRead)
	}
	if most > lightList {
		return r.takeHeavySlot()
	}
	return nil
}

// allowTime gives the calls that follow so long together, whatever was left before: the time that a body takes to
// arrive is not the database's.
func (r *request) allowTime(d time.Duration) {
	if r.endTime != nil {
		r.endTime()
	} else {
		r.whole = r.ctx
	}
	r.ctx, r.endTime = context.WithTimeout(r.whole, d)
}

// workTime returns how long the work of the route may take once the body is there.
func (r *request) workTime() time.Duration {
	if r.route.outside || r.route.body == streamBody {
		return bulkAnswerTime
	}
	return r.server.DatabaseTime
}

func (r *request) readSmallBody() (err error) {
	r.body, err = io.ReadAll(&r.in)
	return err
}

// readClaim takes the idempotency key from either of its two headers.
func (r *request) readClaim() error {
	keys := append(r.http.Header.Values("Idempotency-Key"), r.http.Header.Values("X-Idempotency-Key")...)
	if len(keys) == 0 {
		return nil
	}
	for _, k := range keys {
		if k != keys[0] || len(k) == 0 || len(k) > maxIdempotencyKey {
			return errHeaderInvalid.With("idempotency-key", fault.OneValueLength, maxIdempotencyKey)
		}
	}
	r.claim.Key = keys[0]
	r.claim.Path, r.claim.Line = r.route.requestPlace(r.http), r.caller.Line
	return nil
}

// runIdempotently runs work unless this request has been answered before; without an idempotency key it simply runs.
func (r *request) runIdempotently(work func(in *Rules) (any, error)) (partner.Answer, error) {
	if r.claim.Key == "" {
		value, err := work(r.rules)
		if err != nil {
			return partner.Answer{}, err
		}
		return encodeAnswer(value)
	}
	r.claimed = true
	r.claim.Digest, r.claim.About = r.in.bodyDigest(r.http.URL.RawQuery), r.personOfRequest()
	answer, replayed, err := r.server.Ledger.Once(
		r.ctx,
		r.caller.Partner,
		r.claim,
		func(in *Rules) (partner.Answer, error) {
			value, err := work(in)
			if err == nil {
				return encodeAnswer(value)
			}
			// One who asked too often has not been answered: the repeat may be.
			if refusal := r.route.area.encodeRefusal(err); refusal.Status < http.StatusInternalServerError &&
				refusal.Status != http.StatusTooManyRequests {
				return refusal, nil
			}
			return partner.Answer{}, err
		},
	)
	if replayed && answer.Created != "" {
		r.reply.Set("x-created-id", answer.Created)
		return partner.Answer{}, partner.ErrGivenOnce.With("idempotency-key", fault.AnswerHeldSecret)
	}
	if replayed {
		r.reply.Set("idempotency-replayed", "true")
	}
	return answer, err
}

// encodeSecret encodes an answer that holds a secret, and so is given once; id names what was made.
func encodeSecret(id string, value any) (partner.Answer, error) {
	answer, err := encodeAnswer(value)
	answer.Created = id
	return answer, err
}

// onceBefore claims the idempotency key for a request whose work is done again when it is repeated. Another body under
// the same key is refused before any work, and the answer is not kept.
func (r *request) onceBefore() (partner.Answer, error) {
	return r.runIdempotently(func(*Rules) (any, error) { return struct{}{}, nil })
}

// personOfRequest returns the person that a request with a small body names in its path or its body.
func (r *request) personOfRequest() partner.UserHash {
	name := r.http.PathValue("userhash")
	if name == "" && len(r.body) > 0 {
		var in struct {
			UserHash string `json:"userHash"`
		}
		if json.Unmarshal(r.body, &in) == nil {
			name = in.UserHash
		}
	}
	user, err := partner.ParseUserHash("userHash", name)
	if err != nil {
		return "" // the endpoint will say so
	}
	return user
}

// keepRefusal keeps a refusal that was found before the request's work began, like every answer but those of 5xx. A
// body that did not arrive was never a request: its repeat is the first one.
func (r *request) keepRefusal(err error) (partner.Answer, error) {
	status := r.route.area.statusOfFault(err)
	keep := r.claim.Key != "" && !r.claimed && status < http.StatusInternalServerError &&
		status != http.StatusTooManyRequests
	if !keep || errors.Is(err, errBodySlow) || !r.in.drainBody() {
		return partner.Answer{}, err
	}
	return r.runIdempotently(func(*Rules) (any, error) { return nil, err })
}

// decodeBody reads a small body into v: one JSON value, strict, its members' names unique.
func (r *request) decodeBody(v any) error {
	if err := checkDepth(r.body, 0); err != nil {
		return err
	}
	if trimmed := bytes.TrimLeft(r.body, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return errBodyInvalid.With("body", fault.ExpectedJSONObject)
	}
	return jsonFault(json.Unmarshal(r.body, v))
}

// checkDepth refuses JSON that is nested too deep, before it is decoded: so many levels are around it.
func checkDepth(body []byte, around int) error {
	if around+bytes.Count(body, []byte{'{'})+bytes.Count(body, []byte{'['}) <= maxDepth {
		return nil
	}
	depth, quoted := around, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\\':
			i++ // only inside a string
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > maxDepth {
				return errBodyInvalid.With("body", fault.NestedDeeper, maxDepth)
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return nil
}

// jsonFault names the place and the rule that a body broke, without repeating any of it. A JSON pointer can hold member
// names that the caller made up, so it is used only when it is plain.
func jsonFault(err error) error {
	if err == nil {
		return nil
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return errBodyInvalid.With(plainPointer(semantic.JSONPointer), fault.WrongJSONType)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return errBodyInvalid.With("body", fault.DuplicateName)
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return errBodyInvalid.With("body", fault.NotJSONAtByte, syntactic.ByteOffset)
	}
	return errBodyInvalid.With("body", fault.NotValidJSON)
}

// plainPointer returns the place of a fault in a body as a dotted path; "body" where the path could echo what was
// sent.
func plainPointer(p jsontext.Pointer) string {
	s := strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
	if s == "" || len(s) > 64 {
		return "body"
	}
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c == '.' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			return "body"
		}
	}
	return s
}

// personBody is a body that names a person; others embed it.
type personBody struct {
	UserHash string `json:"userHash"`
}

// namedPerson returns the user hash as it was sent.
func (b personBody) namedPerson() string { return b.UserHash }

// withBody makes an endpoint of a function that takes the decoded body, and finds the person whom the body names.
func withBody[T any](run func(s *Server, r *request, body T) (any, error)) endpoint {
	return func(s *Server, r *request) (any, error) {
		var body T
		err := r.decodeBody(&body)
		if named, ok := any(body).(interface{ namedPerson() string }); ok && err == nil {
			r.user, err = partner.ParseUserHash("userHash", named.namedPerson())
		}
		if err = r.checkMembers(err, reflect.TypeFor[T]()); err != nil {
			return nil, err
		}
		answer, err := run(s, r, body)
		if err != nil {
			return nil, r.checkMembers(err, reflect.TypeFor[T]())
		}
		return answer, nil
	}
}

// runEndpoint reads what the path names and runs the endpoint. What is returned beside an error counts for nothing.
func (r *request) runEndpoint() (any, error) {
	for _, name := range []string{"id", "key", "name"} {
		if strings.Contains(r.route.path, "{"+name+"}") {
			var err error
			if r.id, err = r.idInPath(name, r.route.unknown); err != nil {
				return nil, err
			}
		}
	}
	if strings.Contains(r.route.path, "{userhash}") {
		var err error
		if r.user, err = partner.ParseUserHash("userhash", r.http.PathValue("userhash")); err != nil {
			return nil, err
		}
	}
	return r.route.run(r.server, r)
}

// showAll returns the elements of a list as answers show them.
func showAll[T, E any](list []T, show func(T) E) []E {
	shown := make([]E, len(list))
	for i, one := range list {
		shown[i] = show(one)
	}
	return shown
}

// idInPath reads an id from the path; one that no id could be is simply not found.
func (r *request) idInPath(name string, notFound *fault.Error) (string, error) {
	id := r.http.PathValue(name)
	if !partner.IsPrintable(id, maxID) {
		return "", notFound.With(name, fault.PrintableLength, maxID)
	}
	return id, nil
}

// panicTypeName names the type of a panic's value.
func panicTypeName(v any) string { return fmt.Sprintf("%T", v) }

// causeForLog returns what the log says of a failure. Causes come from the engine and the system; rules keep values out
// of them.
func causeForLog(err error) string {
	const limit = 500
	if s := err.Error(); len(s) > limit {
		return s[:limit]
	}
	return err.Error()
}

// errQueryInvalid is the fault of a parameter in the query.
var errQueryInvalid = fault.New(fault.Invalid, "query.invalid")

// readQuery parses the whole query or refuses it: dropping an unreadable pair could carry out what was meant as a dry
// run, or list all people where the request was about one. For the same reason a route with parameters refuses unknown
// names.
func (r *request) readQuery() error {
	raw := r.http.URL.RawQuery
	if raw == "" {
		return nil
	}
	r.query = url.Values{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, err := queryPair(pair)
		if err != nil {
			return err
		}
		if known := r.route.query; len(known) > 0 && !slices.Contains(known, name) {
			return errQueryInvalid.With("query", fault.UnknownParameter, strings.Join(known, ", "))
		}
		r.query[name] = append(r.query[name], value)
	}
	return nil
}

// queryPair decodes a pair. A plus stays a plus: in standard base64 it is a digit, and no parameter has a space.
func queryPair(pair string) (name, value string, err error) {
	if strings.Contains(pair, ";") {
		return "", "", errQueryInvalid.With("query", fault.QuerySeparator)
	}
	name, value, _ = strings.Cut(pair, "=")
	if name, err = url.PathUnescape(name); err == nil {
		value, err = url.PathUnescape(value)
	}
	if err != nil {
		return "", "", errQueryInvalid.With("query", fault.QueryPercent)
	}
	return name, value, nil
}

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
		*t,
		b.values+1,
		func(other *bound, values int) int { return other.values - values },
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

// withRules returns the request with other rules: those of the transaction that keeps the answer.
func (r *request) withRules(in *Rules) *request {
	inner := *r
	inner.rules = in
	return &inner
}

// optionalText returns the text of a member that may be left out; it refuses a member that is present and no text.
func optionalText(field string, raw jsontext.Value) (text string, err error) {
	if raw == nil {
		return "", nil
	}
	if raw.Kind() != '"' || json.Unmarshal(raw, &text) != nil {
		return "", errBodyInvalid.With(field, fault.WrongJSONType)
	}
	return text, nil
}
