// Package person is what a person sees of the service: a few plain pages about themselves, in their partner's colours,
// behind a link that the partner asked for.
//
// One table lists the routes, and one adapter opens the session, limits, runs the page, renders it to a buffer and writes
// it. Pages read and change through the same rules as the partner API. The invariants it keeps: a session shows one person
// of one partner, nothing is changed by a GET, values are masked, no page needs a script or holds one, and no address or
// log line says whose page it is.
package person

import (
	"context"
	"embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/telemetry"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static/page.css
var styleSheet []byte

// Prefix is where all pages are.
const Prefix = "/p/"

// Rules are what the pages ask: the partner API's.
type Rules struct {
	Sessions   *cyber.PortalSessions
	Themes     Themes
	Monitoring *cyber.Monitoring
	Persons    *cyber.Persons
	Cases      *cyber.Cases
	Services   *cyber.Services
	Endpoints  *cyber.Endpoints
	Cover      *cyber.Cover
	Subjects   Subjects
	Audit      *operator.Trail
}

// Themes knows how partners' pages look.
type Themes interface {
	GetTheme(ctx context.Context, id partner.ID) (partner.Theme, error)
}

// Subjects hands out what is held about a person.
type Subjects interface {
	Reference(p subject.Person) string
	ExportPerson(ctx context.Context, p subject.Person) ([]subject.Held, error)
}

// Options are what the pages themselves need.
type Options struct {
	Rules Rules
	Log   *slog.Logger
	Now   func() time.Time
	// Callers says where requests come from; Strangers is what each address may ask without a session.
	Callers   *telemetry.Callers
	Strangers *telemetry.Budget
	// TLS says that browsers reach the pages by TLS although this process may not speak it.
	TLS bool
}

// What one address, and the people of one link, may ask: many people share an address of a phone company.
const (
	addressBurst, addressEvery = 600, 50 * time.Millisecond
	linkBurst, linkEvery       = 90, time.Second
	writeBurst, writeEvery     = 20, 10 * time.Second
	copyBurst, copyEvery       = 3, 10 * time.Minute
)

// Pages answers people.
type Pages struct {
	Options
	templates map[string]*template.Template
	// Budgets of addresses, and of links: for anything, for changes, for copies of everything.
	addresses, links, writes, copies *telemetry.Budget
	handler                          http.Handler
}

// NewPages builds the pages.
func NewPages(o Options) (*Pages, error) {
	p := &Pages{
		Options: o, templates: map[string]*template.Template{},
		addresses: telemetry.NewBudget(o.Now, addressEvery, addressBurst), links: telemetry.NewBudget(o.Now, linkEvery, linkBurst),
		writes: telemetry.NewBudget(o.Now, writeEvery, writeBurst), copies: telemetry.NewBudget(o.Now, copyEvery, copyBurst),
	}
	layout, err := template.New("").Funcs(functions).ParseFS(templateFiles, "templates/layout.html")
	if err != nil {
		return nil, fmt.Errorf("pages of people: %w", err)
	}
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		return nil, fmt.Errorf("pages of people: %w", err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".html")
		one, err := layout.Clone()
		if err == nil && name != "layout" {
			one, err = one.ParseFS(templateFiles, "templates/"+f.Name())
		}
		if err != nil {
			return nil, fmt.Errorf("page %s: %w", name, err)
		}
		p.templates[name] = one
	}
	mux := http.NewServeMux()
	for _, rt := range routes {
		mux.Handle(rt.method+" "+rt.path, p.adaptRoute(rt))
	}
	mux.Handle("GET "+Prefix+"page.css", http.HandlerFunc(serveStyle))
	mux.Handle("/", p.adaptRoute(route{method: http.MethodGet, path: "unknown", run: showNotFound}))
	// CrossOriginProtection refuses what another site makes a browser send; the cookie's SameSite is the second net.
	p.handler = p.withSecurityHeaders(http.NewCrossOriginProtection().Handler(mux))
	return p, nil
}

// ServeHTTP answers a person.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// withSecurityHeaders sets what every answer carries. Where a page may stand in a frame is said once its partner is known.
func (p *Pages) withSecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("content-security-policy", contentPolicy(nil))
		h.Set("x-content-type-options", "nosniff")
		h.Set("referrer-policy", "no-referrer")
		h.Set("cross-origin-resource-policy", "same-origin")
		h.Set("permissions-policy", "camera=(), microphone=(), geolocation=(), browsing-topics=()")
		h.Set("x-robots-tag", "noindex, nofollow")
		h.Set("cache-control", "no-store")
		if r.TLS != nil || p.TLS {
			h.Set("strict-transport-security", "max-age=63072000; includeSubDomains")
		}
		next.ServeHTTP(w, r)
	})
}

// contentPolicy returns the content security policy of a page that may stand in pages of these origins.
func contentPolicy(frames []string) string {
	ancestors := "'none'"
	if len(frames) > 0 {
		ancestors = strings.Join(frames, " ")
	}
	return "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors " + ancestors
}

// serveStyle is the one style sheet; a partner's colours are in theme.css.
func serveStyle(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("content-type", "text/css; charset=utf-8")
	w.Header().Set("cache-control", "public, max-age=3600")
	_, _ = w.Write(styleSheet) // a reader that is gone needs no style
}
