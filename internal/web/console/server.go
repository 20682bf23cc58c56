// Package console is the operator's pages: the whole service in a browser, rendered on the server.
//
// Its main type is Console: one table lists the routes with the role that each needs, and one adapter opens the
// session, checks role and proof, runs the handler and writes its answer. A handler reads the request, asks a gather
// function, which can be tested without HTTP, and returns a view or an error. The pages call the same rules as the
// command line. What may not be done here: change anything by a GET or without a line in the audit trail, show a
// personal value before a reason was recorded, reach data of another partner than the viewer's, use SQL, or give a
// page script or style of its own.
package console

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/web/pages"
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
	templates *pages.Templates
	tries     *telemetry.Budget
	// confined is the console as a partner's people see it: see portal_scope.go.
	confined bool
	handler  http.Handler
}

// policy lets pages load style and script from this console only, and stand in no frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'"

// assetTime is how long browsers keep the style sheet and the script; they change only with the program.
const assetTime = 5 * time.Minute

func NewConsole(o Options) (*Console, error) {
	templates, err := parsedPages()
	if err != nil {
		return nil, fmt.Errorf("console templates: %w", err)
	}
	static, err := fs.Sub(staticFiles, "static")
	if err != nil {
		return nil, fmt.Errorf("console files: %w", err)
	}
	c := &Console{Options: o, templates: templates, tries: telemetry.NewBudget(o.Now, triesEvery, triesBurst)}
	mux := http.NewServeMux()
	for _, rt := range routes {
		mux.Handle(rt.method+" "+rt.path, c.adaptRoute(rt))
	}
	assets, err := pages.ServeFiles(static, assetTime)
	if err != nil {
		return nil, err
	}
	mux.Handle("GET /static/", assets)
	unknown := route{method: http.MethodGet, path: "unknown", access: everyone, run: showNotFound}
	mux.Handle("/", c.adaptRoute(unknown))
	// CrossOriginProtection refuses what another site makes a browser send; the cookie's SameSite is the second net.
	c.handler = pages.WithHeaders(pages.Headers{
		Policy:    policy,
		IsOverTLS: c.isOverTLS,
		More:      map[string]string{"x-frame-options": "DENY", "cross-origin-opener-policy": "same-origin"},
	}, http.NewCrossOriginProtection().Handler(mux))
	return c, nil
}

func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// isOverTLS reports whether the browser speaks TLS: with us, or with the proxy that --public-url tells of.
func (c *Console) isOverTLS(r *http.Request) bool { return r.TLS != nil || c.Public.Scheme == "https" }

// handler is what a route does. It returns what to answer, or a fault, and never sees the ResponseWriter.
type handler func(c *Console, r *request) (answer, error)

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
		a, err := pages.CatchPanic(hr.Context(), c.Log, func() (answer, error) { return c.runRequest(w, r) })
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

// runRequest runs a request up to what it answers. A form that was refused is answered beside the error.
func (c *Console) runRequest(w http.ResponseWriter, r *request) (answer, error) {
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
		c.prepareUpload(w, r)
	}
	own := c.withScope(r.scope)
	run := func() (answer, error) { return own.runRoute(r) }
	var showAgain func() (answer, error)
	if r.route.form != nil {
		showAgain = func() (answer, error) {
			r.again = true
			return r.route.form(own, r)
		}
	}
	return pages.RunForm(isMendable, run, showAgain)
}

func (c *Console) runRoute(r *request) (answer, error) {
	if r.route.upload && c.UploadLimit > 0 && r.ContentLength > c.UploadLimit+maxForm {
		return nil, c.fileTooLargeError()
	}
	run := r.route.run
	if r.route.portalRun != nil && r.who.Partner != "" {
		run = r.route.portalRun
	}
	a, err := run(c, r)
	if large := (*http.MaxBytesError)(nil); r.route.upload && errors.As(err, &large) {
		return nil, c.fileTooLargeError()
	}
	return a, err
}

// isMendable tells faults that a person can mend in the form that was sent.
func isMendable(err error) bool {
	switch fault.KindOf(err) {
	case fault.TooLarge:
		return true
	case fault.Unauthenticated:
		return errors.Is(err, operator.ErrRefused) || errors.Is(err, operator.ErrPasskey)
	default:
		return pages.IsMendable(err)
	}
}
