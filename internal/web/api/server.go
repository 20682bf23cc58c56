// Package api is the partners' HTTP and nothing else: it parses, asks a rule, and encodes the answer.
//
// One table lists the routes, one adapter authenticates, limits, runs, encodes to a buffer, writes, and logs one line.
// Only this package knows statuses, body shapes and the Portuguese that partners read. The invariant it keeps: nothing
// of a request is looked at before its credentials, and no path, header value or body ever reaches a log, metric or
// trace.
package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

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
