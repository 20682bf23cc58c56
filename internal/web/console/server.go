// Package console is the operator's pages: the whole service in a browser, rendered on the server.
//
// One table lists the routes with the role that each needs, and one adapter opens the session, checks role and proof,
// runs the page, renders it to a buffer and writes it. The pages call the same rules as the command line. The package
// knows neither the partner API nor SQL. The invariants it keeps: nothing is changed by a GET, nothing changes without
// a line in the audit trail, a personal value is shown only after a reason was recorded, and no page holds script or
// style of its own.
package console

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Each address may try to log in so often. It is the second net beside the lock of each account.
const (
	triesBurst = 20
	triesEvery = 6 * time.Second
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static/*
var staticFiles embed.FS

// Rules are what the pages show and change: the same that the command line calls.
type Rules struct {
	Operators *operator.Registry
	Audit     *operator.Trail
	Partners  *partner.Registry
	Services  *cyber.Services
	Figures   Figures

	Plans             *plan.Catalogue
	Subscriptions     *subscription.Registry
	FindSubscriptions Subscriptions
	// ProblemText is the sentence that the partner API has for what is wrong with an item.
	ProblemText func(subscription.Problem) string

	Monitoring *cyber.Monitoring
	FirstLooks *cyber.FirstLooks
	Persons    *cyber.Persons
	Review     Review
	Breaches   Breaches
	Feeds      Feeds
	Passwords  Passwords
	Cases      *cyber.Cases
	Endpoints  *cyber.Endpoints
	Content    *cyber.Catalogue
	Messages   *message.Catalogue

	Meter    *partner.Meter
	Webhooks Webhooks
	Events   Events
	History  *alert.History
	Jobs     Jobs

	Subjects Subjects
	Search   *subject.Search
	Cover    *cyber.Cover
	Keys     Keys
	Saved    Saved
}

// Figures are the counts that the overview shows. They are kept up beside the tables, because counting millions of rows
// takes longer than a page may.
type Figures interface {
	LastFigures(ctx context.Context) (operator.Figures, error)
	// FiguresByDay are figures of the last days, of the whole service or one part of it; Parts what each part has of one.
	FiguresByDay(
		ctx context.Context,
		part string,
		days int,
		names ...operator.Figure,
	) (map[operator.Figure][]operator.DayCount, error)
	FiguresByPart(ctx context.Context, name operator.Figure, days int) (map[string]int64, error)
}

// Options are what the console itself needs.
type Options struct {
	Rules Rules
	// InTx runs fn with rules whose changes are committed together, or not at all.
	InTx func(ctx context.Context, fn func(in *Rules) error) error
	Log  *slog.Logger
	Now  func() time.Time
	// Latency says how fast this process answered partners since it started.
	Latency func() []telemetry.Latency
	// Stopping tells streams to end, so that the process can.
	Stopping func() bool
	// SecondFactorOptional lets people in without an authenticator app: for the demo.
	SecondFactorOptional bool
	// Callers says where requests come from; Strangers is what each address may ask without a session.
	Callers   *telemetry.Callers
	Strangers *telemetry.Budget
	// UploadLimit bounds a file that is sent through a page, in bytes; 0 means none.
	UploadLimit int64
	// Begin starts what outlives a page.
	Begin Work
	// Public is the address under which operators open the console; it may be empty for a console on this machine.
	Public url.URL
	// API is the address of the partner API's listener, whose /docs/ is the reference; empty when it is not known.
	API url.URL
}

// Console answers operators.
type Console struct {
	Options
	pages *pages
	tries *telemetry.Budget
	// confined is the console as a partner's people see it: see portal.go.
	confined bool
	handler  http.Handler
}

// NewConsole builds the console.
func NewConsole(o Options) (*Console, error) {
	p, err := parsedPages()
	if err != nil {
		return nil, fmt.Errorf("console templates: %w", err)
	}
	static, err := fs.Sub(staticFiles, "static")
	if err != nil {
		return nil, fmt.Errorf("console files: %w", err)
	}
	c := &Console{Options: o, pages: p, tries: telemetry.NewBudget(o.Now, triesEvery, triesBurst)}
	mux := http.NewServeMux()
	for _, rt := range routes {
		mux.Handle(rt.method+" "+rt.path, c.adaptRoute(rt))
	}
	mux.Handle("GET /static/", withCaching(http.StripPrefix("/static/", http.FileServerFS(static))))
	mux.Handle(
		"/",
		c.adaptRoute(
			route{method: http.MethodGet, path: "unknown", role: operator.Viewer, portal: look, run: showNotFound},
		),
	)
	// CrossOriginProtection refuses what another site makes a browser send; the cookie's SameSite is the second net.
	c.handler = c.withSecurityHeaders(http.NewCrossOriginProtection().Handler(mux))
	return c, nil
}

// ServeHTTP answers an operator.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// withSecurityHeaders sets what every answer of the console carries.
func (c *Console) withSecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set(
			"content-security-policy",
			"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
				"form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'",
		)
		h.Set("x-content-type-options", "nosniff")
		h.Set("x-frame-options", "DENY")
		h.Set("referrer-policy", "no-referrer")
		h.Set("cross-origin-opener-policy", "same-origin")
		h.Set("cross-origin-resource-policy", "same-origin")
		h.Set("permissions-policy", "camera=(), microphone=(), geolocation=(), browsing-topics=()")
		h.Set("cache-control", "no-store")
		if c.isOverTLS(r) {
			h.Set("strict-transport-security", "max-age=63072000; includeSubDomains")
		}
		next.ServeHTTP(w, r)
	})
}

// isOverTLS reports whether the browser speaks TLS: with us, or with the proxy that --public-url tells of.
func (c *Console) isOverTLS(r *http.Request) bool { return r.TLS != nil || c.Public.Scheme == "https" }

// withCaching lets a browser keep the style sheet and the script for a while; they change only with the program.
func withCaching(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("cache-control", "public, max-age=300")
		next.ServeHTTP(w, r)
	})
}

// handler is what a route does. It returns what to answer, or a fault, and never sees the ResponseWriter. An answer beside a
// fault is ignored.
type handler func(c *Console, r *request) (answer, error)

// answer is one of the ways to answer: view, redirect, stream, download or document.
type answer interface{ isAnswer() }

// view is a page to render.
type view struct {
	// name is the template's file name without its ending.
	name  string
	title string
	data  any
}

// redirect sends the browser on after a change. done names a sentence of messages.go, shown at the top of the next
// page.
type redirect struct{ to, done string }

// stream is written by its function until it returns.
type stream func(ctx context.Context, w http.ResponseWriter) error

// download is a file for the operator to keep. Its name is chosen here and holds no personal data.
type download struct {
	name, kind string
	body       io.Reader
}

func (view) isAnswer()     {}
func (redirect) isAnswer() {}
func (stream) isAnswer()   {}
func (download) isAnswer() {}

// request is what a page works with.
type request struct {
	*http.Request
	route   route
	who     operator.Operator
	session operator.Session
	// scope is what of the service the session sees.
	scope scope
	// from is the address that it came from.
	from string
	// cookie is set on the answer: a session that begins or ends.
	cookie *http.Cookie
	// pictures are what the page shows of numbers over time.
	pictures *pictures
	// kept is set too: the partner that was chosen.
	kept *http.Cookie
	// problem is why the form that the page shows was refused.
	problem error
	// wrong is what was found wrong with the form so far. Nothing is changed or recorded once there is any, so that handlers read
	// all fields and the operator is told all problems at once.
	wrong error
	// failure is the first thing that failed. What a handler loads after it is empty, and nothing is changed or recorded any more, so
	// that a handler can load one part of its page after another; the adapter answers the failure in place of the page.
	failure error
}

// keepFailure keeps the first failure of the request; nil is none.
func (r *request) keepFailure(err error) { r.failure = cmp.Or(r.failure, err) }

// callRule returns what a rule says, or nothing once something has failed.
func callRule[T any](r *request, read func(context.Context) (T, error)) (value T) {
	if r.failure == nil {
		value, r.failure = read(r.Context())
	}
	return value
}

// callRuleWith is callRule for a rule that takes an argument, callRuleWith2 and callRuleWith3 are for two and three.
func callRuleWith[A, T any](r *request, read func(context.Context, A) (T, error), a A) T {
	return callRule(r, func(ctx context.Context) (T, error) { return read(ctx, a) })
}

// callRuleWith2 is callRule for a rule that takes two arguments.
func callRuleWith2[A, B, T any](r *request, read func(context.Context, A, B) (T, error), a A, b B) T {
	return callRule(r, func(ctx context.Context) (T, error) { return read(ctx, a, b) })
}

// callRuleWith3 is callRule for a rule that takes three arguments.
func callRuleWith3[A, B, C, T any](r *request, read func(context.Context, A, B, C) (T, error), a A, b B, c C) T {
	return callRule(r, func(ctx context.Context) (T, error) { return read(ctx, a, b, c) })
}

// parseValue returns what a text stands for; a text that stands for nothing is a failure of the request.
func parseValue[T any](r *request, parse func(string) (T, error), text string) T {
	return callRule(r, func(context.Context) (T, error) { return parse(text) })
}

// callRulePair is callRuleWith for a rule that returns a second value too, as lists do: where the next page begins.
func callRulePair[A, T, N any](r *request, read func(context.Context, A) (T, N, error), a A) (value T, next N) {
	if r.failure == nil {
		value, next, r.failure = read(r.Context(), a)
	}
	return value, next
}

// callRulePair2 is callRulePair for a rule that takes two arguments.
func callRulePair2[A, B, T, N any](
	r *request,
	read func(context.Context, A, B) (T, N, error),
	a A,
	b B,
) (value T, next N) {
	return callRulePair(r, func(ctx context.Context, a A) (T, N, error) { return read(ctx, a, b) }, a)
}

// noteFormError adds to what is wrong with the form; nil adds nothing.
func (r *request) noteFormError(err error) { r.wrong = errors.Join(r.wrong, err) }

// auditActor returns the operator and their address, for the audit trail.
func (r *request) auditActor() operator.Actor {
	return operator.Actor{Name: string(r.who.ID), From: r.from}
}

// trimmedField returns a field of the form without surrounding space.
func (r *request) trimmedField(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }

const maxForm = 1 << 20

var (
	errForbidden = fault.New(fault.Forbidden, "role.insufficient")
	errForm      = fault.New(fault.Invalid, "form.invalid")
	errUpload    = fault.New(fault.TooLarge, "upload.too_large")
	errPanic     = fault.New(fault.Internal, "panic")
	errNotFound  = fault.New(fault.NotFound, "path.not_found")
)

// showNotFound answers what no route is for.
func showNotFound(*Console, *request) (answer, error) { return nil, errNotFound }

// pageTime is how long the work of a page may take. Some reports read all of a large table.
const pageTime = 2 * time.Minute

// adaptRoute turns a route into a handler.
func (c *Console) adaptRoute(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		start := c.Now()
		if !rt.upload {
			ctx, cancel := context.WithTimeout(hr.Context(), pageTime)
			defer cancel()
			hr = hr.WithContext(ctx)
		}
		r := &request{Request: hr, route: rt, from: c.Callers.CallerAddress(hr)}
		a, err := c.runRequest(w, r)
		status := c.writeAnswer(w, r, a, err)
		telemetry.PageLine{
			Pages:  "console",
			Route:  rt.path,
			From:   c.Callers.AddressForLog(r.from),
			Who:    slog.String("operator", string(r.who.ID)),
			Status: status,
			Took:   c.Now().Sub(start),
			Err:    err,
		}.WriteTo(c.Log, hr)
	})
}

// runRequest runs a request up to what it answers; a panic becomes an internal fault.
func (c *Console) runRequest(w http.ResponseWriter, r *request) (a answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.Log.ErrorContext(r.Context(), "panic", "stack", string(debug.Stack()))
			a, err = nil, errPanic
		}
	}()
	to, err := c.enterSession(r)
	if r.who.ID == "" && c.Strangers.TakeToken(r.from) > 0 {
		return nil, errTries
	}
	if err != nil || to != nil {
		return to, err
	}
	if r.Method == http.MethodPost && !r.route.upload {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			return nil, errForm.Because(err)
		}
	}
	if err := r.confineToPartner(); err != nil {
		return nil, err
	}
	if r.route.upload {
		// A large file takes longer than the server allows for ordinary requests. A server without deadlines refuses
		// this.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	}
	if r.route.upload && c.UploadLimit > 0 {
		if r.ContentLength > c.UploadLimit+maxForm {
			err = c.fileTooLargeError()
		}
		r.Body = http.MaxBytesReader(w, r.Body, c.UploadLimit+maxForm) // the other fields have room beside the file
	}
	own := c.withScope(r.scope)
	if err == nil {
		run := r.route.run
		if r.route.portalRun != nil && r.who.Partner != "" {
			run = r.route.portalRun
		}
		a, err = r.runHandler(own, run)
	}
	if large := (*http.MaxBytesError)(nil); r.route.upload && errors.As(err, &large) {
		err = c.fileTooLargeError()
	}
	if err == nil {
		return a, nil
	}
	if r.route.form != nil && isMendable(err) {
		r.problem = err
		if again, ferr := r.runHandler(own, r.route.form); ferr == nil {
			return again, err
		}
	}
	return nil, err // what a handler returns beside an error is not sent: a redirect would tell of success
}

// runHandler runs a handler and returns its answer, or the first thing that failed.
func (r *request) runHandler(c *Console, run handler) (answer, error) {
	r.failure = nil
	a, err := run(c, r)
	return a, cmp.Or(r.failure, err)
}

// isMendable tells faults that a person can mend in the form that was sent.
func isMendable(err error) bool {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict, fault.TooLarge, fault.Unprocessable, fault.NotFound:
		return true
	case fault.Unauthenticated:
		return errors.Is(err, operator.ErrRefused) || errors.Is(err, operator.ErrPasskey)
	case fault.RateLimited:
		return true
	case fault.Internal, fault.Forbidden, fault.UnsupportedType, fault.Unavailable:
	}
	return false
}

// writeAnswer sends the answer and returns its status.
func (c *Console) writeAnswer(w http.ResponseWriter, r *request, a answer, err error) int {
	if r.kept != nil {
		http.SetCookie(w, r.kept)
	}
	if r.cookie != nil && err == nil {
		http.SetCookie(w, r.cookie)
		if r.cookie.MaxAge < 0 { // the session ended: leave nothing of it to the next user of the browser
			w.Header().Set("clear-site-data", `"cache", "storage"`)
		}
	}
	switch a := a.(type) {
	case redirect:
		to := a.to
		if a.done != "" {
			mark := "?"
			if strings.Contains(to, "?") {
				mark = "&"
			}
			to += mark + "done=" + url.QueryEscape(a.done)
		}
		w.Header().Set("location", to)
		w.WriteHeader(http.StatusSeeOther)
		return http.StatusSeeOther
	case stream:
		if err := a(r.Context(), w); err != nil && r.Context().Err() == nil {
			c.Log.ErrorContext(r.Context(), "console stream failed", "route", r.route.path, "cause", err.Error())
		}
		return http.StatusOK
	case download:
		w.Header().Set("content-type", a.kind)
		w.Header().Set("content-disposition", `attachment; filename="`+a.name+`"`)
		if _, err := io.Copy(w, a.body); err != nil && r.Context().Err() == nil {
			c.Log.ErrorContext(r.Context(), "console download failed", "route", r.route.path, "cause", err.Error())
		}
		return http.StatusOK
	case document:
		if body, merr := json.Marshal(a.body); err == nil && merr == nil {
			w.Header().Set("content-type", "application/json")
			_, _ = w.Write(body) // as above
			return http.StatusOK
		}
	case view:
		return c.writeView(w, r, a, telemetry.StatusOfPage(err))
	}
	if err == nil { // a handler that returned nothing at all
		err = errPanic
	}
	return c.writeView(
		w,
		r,
		view{name: "problem", title: "Não foi possível", data: sentenceOf(err)},
		telemetry.StatusOfPage(err),
	)
}

// writeView renders into a buffer first, so that a failure is an error page and never half a page.
func (c *Console) writeView(w http.ResponseWriter, r *request, v view, status int) int {
	var b bytes.Buffer
	if err := c.pages.renderPage(&b, c.newFrame(r, v), v.name); err != nil {
		c.Log.ErrorContext(r.Context(), "page cannot be rendered", "page", v.name, "cause", err.Error())
		http.Error(w, "A página não pôde ser montada.", http.StatusInternalServerError)
		return http.StatusInternalServerError
	}
	w.Header().Set("content-type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a reader that is gone needs no page
	return status
}
