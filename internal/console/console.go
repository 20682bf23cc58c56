// Package console is the operator's pages: the whole service in a browser, rendered on the server.
//
// One table lists the routes with the role that each needs, and one adapter opens the session, checks role and proof,
// runs the page, renders it to a buffer and writes it. The pages call the same rules as the command line. The package
// knows neither the partner API nor SQL. The invariants it keeps: nothing is changed by a GET, nothing changes without
// a line in the audit trail, a personal value is shown only after a reason was recorded, and no page holds script or
// style of its own.
package console

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/message"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
	"github.com/vigiahq/vigia/internal/telemetry"
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
	FiguresByDay(ctx context.Context, part string, days int, names ...operator.Figure) (map[operator.Figure][]operator.DayCount, error)
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
	mux.Handle("/", c.adaptRoute(route{method: http.MethodGet, path: "unknown", role: operator.Viewer, run: showNotFound}))
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
		h.Set("content-security-policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
			"form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'")
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

// publicOrigin returns the origin that links to the console begin with and passkeys are bound to. It is empty when none is
// configured and the console is reachable from other machines: the Host header is not trusted, since the client writes it.
func (c *Console) publicOrigin(r *http.Request) string {
	if c.Public.Host != "" {
		return c.Public.Scheme + "://" + c.Public.Host
	}
	at, local := telemetry.ListenerURL(r)
	if !local {
		return ""
	}
	at.Host = "localhost:" + at.Port() // passkeys are bound to a name
	return at.String()
}

// withCaching lets a browser keep the style sheet and the script for a while; they change only with the program.
func withCaching(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("cache-control", "public, max-age=300")
		next.ServeHTTP(w, r)
	})
}
