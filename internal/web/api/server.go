// Package api is the partners' HTTP and nothing else: it parses, asks a rule, and encodes the answer.
//
// One table lists the routes, one adapter authenticates, limits, runs, encodes to a buffer, writes, and logs one line.
// Only this package knows statuses, body shapes and the Portuguese that partners read. The invariant it keeps: nothing
// of a request is looked at before its credentials, and no path, header value or body ever reaches a log, metric or
// trace.
package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/klauspost/compress/gzip"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Authenticator says who presents a key.
type Authenticator interface {
	Authenticate(ctx context.Context, key string, need partner.Scope) (partner.Caller, error)
}

// Passwords says whether a password is known from breaches; where sample is true, the built-in list counts as a corpus.
type Passwords interface {
	CheckPrefix(prefix string, sample bool) (password.Answer, error)
}

// Rules are what the routes ask.
type Rules struct {
	Passwords     Passwords
	Events        *alert.Feed
	Messages      *message.Catalogue
	Webhooks      *alert.Endpoints
	Services      *cyber.Services
	Cases         *cyber.Cases
	Endpoints     *cyber.Endpoints
	Cover         *cyber.Cover
	Sessions      *cyber.PortalSessions
	Persons       *cyber.Persons
	Monitoring    *cyber.Monitoring
	Subscriptions *subscription.Registry
	Breaches      *cyber.Breaches
	History       *alert.History
	Keys          *partner.Registry
	FirstLooks    *cyber.FirstLooks
	Meter         *partner.Meter
	Figures       Figures
	Audit         *operator.Trail
	Erasures      *subject.Erasures
}

// Figures are what is counted by day.
type Figures interface {
	// FiguresByDay returns what was kept of figures over the last days, for one part of the service.
	FiguresByDay(
		ctx context.Context,
		part string,
		days int,
		names ...operator.Figure,
	) (map[operator.Figure][]operator.DayCount, error)
}

// Ledger remembers answers.
type Ledger interface {
	// Once runs work one time for a claim of a partner and keeps its answer for partner.KeepAnswers. The effects of the
	// rules that work is given and the answer are kept together or not at all. When work fails nothing is kept; when it
	// answers with a refusal (400 to 499) the refusal is kept and its writes are undone. The first answer comes back,
	// and replayed is true, when the claim has been answered before.
	Once(
		ctx context.Context,
		id partner.ID,
		c partner.RequestClaim,
		work func(in *Rules) (partner.Answer, error),
	) (a partner.Answer, replayed bool, err error)
}

// Options are what the server itself needs.
type Options struct {
	Gate    Authenticator
	Ledger  Ledger
	Rules   Rules
	Log     *slog.Logger
	Metrics *telemetry.Metrics
	Now     func() time.Time
	// Callers says where requests come from; Strangers is what each address may ask without a valid key.
	Callers   *telemetry.Callers
	Strangers *telemetry.Budget
	// DatabaseTime is how long the database calls of a request may take together; zero means 10 s. Bulk work and calls
	// to others have bulkAnswerTime.
	DatabaseTime time.Duration
	// Replicas is how many processes share the partners' requests; nil means this one alone.
	Replicas func() int
	// Guard says which addresses webhooks may have, and Outgoing sends their tests.
	Guard    alert.AddressCheck
	Outgoing *http.Client
	// Counted are the requests of each partner.
	Counted *Counter
	// PageURL is the origin of links to people's pages; empty when none is configured.
	PageURL string
	// Contact is where people report weaknesses; empty when the operator named none.
	Contact string
	// DueWork does what has become due: endings, notices and reminders. It is asked when a sandbox's clock was moved.
	DueWork func(ctx context.Context) error
	// VendorSecrets are what the vendor of the antivirus signs its reports with; none means that it sends none.
	VendorSecrets []webhook.Secret
}

// Server answers partners.
type Server struct {
	Options
	limits    *limiter
	admission *admission
	refusals  *refusals
	// strangersHeld counts the refused keys that wait for their answer.
	strangersHeld atomic.Int64
	routes        table
	mux           *http.ServeMux
}

// NewServer builds the handler of the partner API.
func NewServer(o Options) *Server {
	o.DatabaseTime = cmp.Or(o.DatabaseTime, 10*time.Second)
	s := &Server{
		Options:   o,
		limits:    newLimiter(o.Replicas),
		admission: newAdmission(),
		refusals:  newRefusals(),
		mux:       http.NewServeMux(),
	}
	for i := range routes {
		s.routes.addRoute(&routes[i], s.newObserved(&routes[i]))
	}
	s.mux.Handle("GET /openapi.yaml", documentHandler())
	s.mux.Handle("GET /openapi.pt.yaml", portugueseDocumentHandler())
	s.mux.Handle("GET /openapi.json", jsonDocumentHandler())
	s.mux.Handle("GET /docs/", referenceHandler())
	s.mux.Handle("GET /{$}", http.RedirectHandler("/docs/", http.StatusFound)) // a person at the bare address
	s.mux.Handle("GET "+webhookKeysPath, s.webhookKeys())
	if s.Contact != "" {
		s.mux.HandleFunc("GET /.well-known/security.txt", s.serveSecurityText)
	}
	s.mux.Handle("/", http.HandlerFunc(s.unknownPath))
	return s
}

// ServeHTTP matches the path to a route exactly as it was sent. The standard mux serves only pages without personal
// data, and gets no path that it would redirect.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.TLS != nil {
		// Behind a proxy it is the proxy's to say.
		w.Header().Set("strict-transport-security", "max-age=63072000; includeSubDomains")
	}
	path := pathSegments(r.URL)
	b := s.routes.findRoutes(path).routeOfMethod(r.Method)
	area, _ := areaOfPath(path)
	switch {
	case b != nil:
		for i, name := range b.segments {
			if isValue(name) {
				r.SetPathValue(strings.Trim(name, "{}"), path[i])
			}
		}
		s.serveRequest(w, r, b.route, b.seen)
	case area != nil || !isCleanPath(r.URL.Path):
		s.unknownPath(w, r)
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// isCleanPath reports whether the mux takes a path as it is.
func isCleanPath(p string) bool {
	tidy := path.Clean(p)
	return strings.HasPrefix(p, "/") && (p == tidy || p == tidy+"/" && tidy != "/")
}

// observed is where a route's requests are counted and logged; made once, so that a request pays only for what is its
// own.
type observed struct {
	metrics *telemetry.Route
	log     *slog.Logger
}

// newObserved returns the metrics and the logger of a route.
func (s *Server) newObserved(rt *route) observed {
	return observed{s.Metrics.NewRoute(rt.method + " " + rt.path), s.Log.With("method", rt.method, "route", rt.path)}
}

// serveRequest handles a request from authentication to the log line. Every request takes this path.
func (s *Server) serveRequest(w http.ResponseWriter, hr *http.Request, rt *route, seen observed) {
	start := s.Now()
	seen.metrics.CountStart()
	ctx := telemetry.WithRequestID(hr.Context(), telemetry.RequestIDOf(hr.Context(), hr.Header.Get(requestIDHeader)))
	ctx, span := telemetry.StartRequest(ctx, hr.Header, rt.method, rt.path, start)
	r := &request{http: hr, ctx: ctx, route: rt, server: s, rules: &s.Rules, reply: w.Header()}
	defer r.releaseSlot()
	answer, err := s.answerRequest(w, r, start)
	if fault.KindOf(err) == fault.Internal && errors.Is(r.ctx.Err(), context.DeadlineExceeded) {
		err = errOutOfTime.Because(err)
	}
	if r.caller.Partner != "" && errors.Is(err, errRateLimited) {
		s.refusals.holdRefusal(ctx, r.caller.Partner, isHeavyBody(hr.ContentLength), s.Now())
	}
	status := s.writeAnswer(w, r, answer, err)
	if telemetry.IsCallerGone(ctx, err) {
		status, err = telemetry.StatusGone, telemetry.ErrGone
	}
	end := s.Now()
	s.Counted.countRequest(r.caller, rt, status, start, end, err)
	seen.metrics.Done(status, end.Sub(start))
	telemetry.EndRequest(span, status, end)
	logRequest(
		ctx,
		seen.log.Handler(),
		r.caller,
		s.Callers.AddressForLog(s.Callers.CallerAddress(hr)),
		status,
		start,
		end,
		err,
	)
}

// answerRequest runs a request up to its encoded body; a panic becomes an internal fault.
func (s *Server) answerRequest(w http.ResponseWriter, r *request, now time.Time) (a partner.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			// The value of a panic may quote what a partner sent, so only its type is logged, and the stack.
			s.Log.ErrorContext(r.ctx, "panic", "type", panicTypeName(p), "stack", string(debug.Stack()))
			a, err = partner.Answer{}, errPanic
		}
	}()
	r.allowTime(s.DatabaseTime)
	defer func() { r.endTime() }()
	if s.fromVendor(r) {
		return s.answerVendor(r)
	}
	var denied error
	if r.caller, denied = s.authenticate(r); r.caller.Partner == "" {
		s.slowStranger(r, denied)
		return a, denied
	}
	allowed := s.limits.takeToken(r.caller, now)
	allowed.setHeaders(r.reply)
	if allowed.wait > 0 {
		return a, errRateLimited.With("rate", fault.RequestsOfPartner)
	}
	if denied != nil { // the partner's own key, without the scope
		return a, denied
	}
	if r.route.body == noBody {
		if err := r.readQuery(); err != nil {
			return a, err
		}
		a, err = s.runRoute(r)
		s.limits.chargeList(r.caller, r.items, len(a.Body), now)
		return a, err
	}
	if err := r.readClaim(); err != nil {
		return a, err
	}
	if a, err = s.readAndRun(w, r); err != nil {
		return r.keepRefusal(err)
	}
	return a, nil
}

// readAndRun reads query and body and does what they ask for.
func (s *Server) readAndRun(w http.ResponseWriter, r *request) (partner.Answer, error) {
	typeErr := r.openRequestBody(w)
	if err := r.readQuery(); err != nil {
		return partner.Answer{}, err
	}
	if typeErr != nil {
		return partner.Answer{}, typeErr
	}
	if r.route.body == streamBody {
		return s.runRoute(r)
	}
	giveBack, err := s.admission.takeBodyRoom(r.caller.Partner, r.http.ContentLength, r.route.body.maxBodyLength())
	if err != nil {
		return partner.Answer{}, err
	}
	defer giveBack()
	if err := r.readSmallBody(); err != nil {
		return partner.Answer{}, err
	}
	r.allowTime(r.workTime())
	if r.claim.Key == "" || r.route.outside {
		return s.runRoute(r)
	}
	return r.runIdempotently(func(in *Rules) (any, error) {
		inner := *r
		inner.rules = in
		return inner.runEndpoint()
	})
}

// runRoute runs the rule of a route and encodes what it returns.
func (s *Server) runRoute(r *request) (partner.Answer, error) {
	value, err := r.runEndpoint()
	if err != nil {
		return partner.Answer{}, err
	}
	return encodeAnswer(value)
}

// authenticate returns the caller of a request. It refuses a request without exactly one key. A key that lacks the
// route's scope is refused too, but its caller is known: see partner.Gate.
func (s *Server) authenticate(r *request) (partner.Caller, error) {
	keys := r.http.Header.Values(keyHeader)
	switch {
	case strings.Join(keys, "") == "":
		return partner.Caller{}, errKeyMissing
	case len(keys) > 1:
		return partner.Caller{}, partner.ErrUnauthorised
	}
	return s.Gate.Authenticate(r.ctx, keys[0], r.route.scope)
}

// slowStranger delays the refusal of a wrong key once its address has used its budget up: guessing gets slow, and a
// wrong key still gets its refusal. Valid keys are not delayed by others that share their address.
func (s *Server) slowStranger(r *request, err error) {
	if fault.KindOf(err) != fault.Unauthenticated {
		return
	}
	wait := s.Strangers.TakeToken(s.Callers.CallerAddress(r.http))
	if wait == 0 {
		return
	}
	if s.strangersHeld.Add(1) <= heldOfAll {
		waitOrLeave(r.ctx, min(wait, holdMost))
	}
	s.strangersHeld.Add(-1)
}

// encodeAnswer writes a value to a buffer, so that a failure is an error and never half an answer. What is encoded
// already, by runIdempotently or in an earlier request, stays as it is: an endpoint with a header of its own, which a
// replay must repeat, returns what encodeAnswer made, with Headers filled.
func encodeAnswer(value any) (partner.Answer, error) {
	if a, ok := value.(partner.Answer); ok {
		return a, nil
	}
	body, err := json.Marshal(value, json.FormatNilSliceAsNull(false))
	if err != nil {
		return partner.Answer{}, err
	}
	return partner.Answer{Status: http.StatusOK, Body: body}, nil
}

// encodeRefusal encodes a fault in the shape of its area.
func (a *area) encodeRefusal(err error) partner.Answer {
	status := a.statusOfFault(err)
	body, merr := json.Marshal(a.body(status, messageOf(err, status)))
	if merr != nil { // cannot happen with these shapes; an empty body is still an honest status
		body = nil
	}
	answer := partner.Answer{Status: status, Body: body, Headers: map[string]string{codeHeader: publicCode(err)}}
	if detail := errorDetail(err); detail != "" {
		answer.Headers[detailHeader] = detail
	}
	return answer
}

// Names of headers.
const (
	keyHeader       = "X-Api-Key"
	requestIDHeader = "X-Request-Id"
	// detailHeader says which field broke which rule.
	detailHeader = "x-error-detail"
)

// writeAnswer sends the answer and returns its status.
func (s *Server) writeAnswer(w http.ResponseWriter, r *request, answer partner.Answer, err error) int {
	h := w.Header()
	if err != nil {
		discardBody(w, r.http)
		answer = r.route.area.encodeRefusal(err)
		h.Del(
			"idempotency-replayed",
		) // the repeat of a request whose work is done anew was refused: nothing was repeated
	}
	h.Set("content-type", "application/json; charset=utf-8")
	h.Set("cache-control", "no-store")
	h.Set("x-content-type-options", "nosniff")
	body := compressAnswer(h, r, answer.Body)
	h.Set("content-length", strconv.Itoa(len(body)))
	h.Set(requestIDHeader, telemetry.RequestID(r.ctx))
	for name, value := range answer.Headers {
		h.Set(name, value)
	}
	if answer.Status != http.StatusOK {
		retryAfter(h, answer.Status, err)
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(body) // a caller that is gone needs no answer
	return answer.Status
}

// retryAfter tells a caller when to come back, where coming back may help and nothing else said when.
func retryAfter(h http.Header, status int, err error) {
	later := status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests ||
		status == http.StatusConflict && errors.Is(err, partner.ErrStillRunning)
	switch {
	case !later || h.Get("retry-after") != "":
	case errors.Is(err, password.ErrNoCorpus): // an operator has to load one
		h.Set("retry-after", "300")
	default:
		h.Set("retry-after", "1")
	}
}

// logRequest writes the one log line of a request. It calls the handler directly: a Logger would look up the calling
// line of code and take the time once more.
func logRequest(
	ctx context.Context,
	log slog.Handler,
	who partner.Caller,
	from string,
	status int,
	start,
	end time.Time,
	err error,
) {
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError && err != nil {
		level = slog.LevelError
	}
	if !log.Enabled(ctx, level) {
		return
	}
	line := slog.NewRecord(end, level, "request", 0)
	line.AddAttrs(slog.Int("status", status), slog.Int64("us", end.Sub(start).Microseconds()))
	if from != "" {
		line.AddAttrs(slog.String("from", from))
	}
	if who.Partner != "" {
		line.AddAttrs(slog.String("partner", string(who.Partner)), slog.String("key", string(who.KeyID)))
	}
	if err != nil {
		line.AddAttrs(slog.String("code", fault.CodeOf(err)))
		if level == slog.LevelError {
			line.AddAttrs(slog.String("cause", causeForLog(err)))
		}
	}
	_ = log.Handle(ctx, line) // ignored as in slog.Logger: a failure to log cannot be logged
}

// unknownPath refuses what no route matches.
func (s *Server) unknownPath(w http.ResponseWriter, hr *http.Request) {
	err, allow := error(errPathNotFound), ""
	if there := s.routes.findRoutes(pathSegments(hr.URL)); len(there) > 0 {
		allow = there.listMethods()
		err = errMethodNotAllowed.With("method", fault.AllowedAre, allow)
	}
	s.refuseUnrouted(w, hr, allow, err)
}

// refuseNobody answers where there is no area, and so no credentials.
func (s *Server) refuseNobody(w http.ResponseWriter, hr *http.Request, refusal error) {
	ctx := telemetry.WithRequestID(hr.Context(), telemetry.RequestIDOf(hr.Context(), hr.Header.Get(requestIDHeader)))
	rt := &route{method: "-", path: "unknown", area: cyberArea}
	s.writeAnswer(
		w,
		&request{http: hr, ctx: ctx, route: rt, server: s, rules: &s.Rules, reply: w.Header()},
		partner.Answer{},
		refusal,
	)
}

// refuseUnrouted answers in the shape of the path's area, after the credentials like everything else.
func (s *Server) refuseUnrouted(w http.ResponseWriter, hr *http.Request, allow string, refusal error) {
	rt := &route{method: "-", path: "unknown", run: func(_ *Server, r *request) (any, error) {
		if allow != "" {
			r.reply.Set("allow", allow)
		}
		return nil, refusal
	}}
	rt.area, rt.scope = areaOfPath(pathSegments(hr.URL))
	if rt.area == nil { // outside both areas: no credentials to check, no details to give
		s.refuseNobody(w, hr, refusal)
		return
	}
	s.serveRequest(w, hr, rt, s.newObserved(rt))
}

// minPacked is from where on packing an answer saves more than it costs.
const minPacked = 1 << 10

// compressAnswer returns what is sent of an answer: packed by gzip where it is large and the caller asked for that. The
// header Vary tells caches about it in both cases.
func compressAnswer(h http.Header, r *request, body []byte) []byte {
	if len(body) <= minPacked || r.route.secret {
		return body
	}
	h.Set("vary", "Accept-Encoding")
	if !takesGzip(r.http.Header["Accept-Encoding"]) {
		return body
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.StatelessCompression) // a known level, and the one that keeps no tables
	if _, err := w.Write(body); err != nil || w.Close() != nil {
		return body // writing to memory does not fail
	}
	h.Set("content-encoding", "gzip")
	return packed.Bytes()
}

// takesGzip reads Accept-Encoding: gzip itself counts before *, and a weight of zero is a no. Where identity is
// preferred to it, the answer stays as it is.
func takesGzip(header []string) bool {
	gzipAt, anyAt, plainAt := -1.0, -1.0, -1.0
	for _, line := range header {
		for item := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(item, ";")
			weight := parseQuality(params)
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip":
				gzipAt = max(gzipAt, weight)
			case "*":
				anyAt = weight
			case "identity":
				plainAt = weight
			}
		}
	}
	if gzipAt < 0 {
		gzipAt = anyAt
	}
	return gzipAt > 0 && gzipAt >= plainAt
}

// parseQuality parses ;q=0.5. Unreadable text counts as 0, a refusal: every client can read an answer without
// compression.
func parseQuality(params string) float64 {
	if params == "" {
		return 1
	}
	name, value, _ := strings.Cut(params, "=")
	if !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 0
	}
	weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(weight >= 0 && weight <= 1) {
		return 0
	}
	return weight
}
