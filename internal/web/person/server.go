// Package person is what a person sees of the service: a few plain pages about themselves, in their partner's colours,
// behind a link that the partner asked for.
//
// Its main type is Pages: one table lists the routes, and one adapter opens the session, limits, runs the handler and
// writes its answer. A handler reads the request, asks a gather function, which can be tested without HTTP, and returns
// a view or an error. Pages read and change through the same rules as the partner API. What may not be done here: show
// more than one person of one partner to a session, change anything by a GET, show a value unmasked, need a script, or
// let an address or a log line say whose page it is.
package person

import (
	"embed"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/web/pages"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static/page.css
var staticFiles embed.FS

// Prefix is where all pages are.
const Prefix = "/p/"

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
	templates *pages.Templates
	// Budgets of addresses, and of links: for anything, for changes, for copies of everything.
	addresses, links, writes, copies *telemetry.Budget
	handler                          http.Handler
}

func NewPages(o Options) (*Pages, error) {
	templates, err := pages.ParseTemplates(templateFiles, functions, "layout.html")
	if err != nil {
		return nil, fmt.Errorf("pages of people: %w", err)
	}
	p := &Pages{
		Options:   o,
		templates: templates,
		addresses: telemetry.NewBudget(o.Now, addressEvery, addressBurst),
		links:     telemetry.NewBudget(o.Now, linkEvery, linkBurst),
		writes:    telemetry.NewBudget(o.Now, writeEvery, writeBurst),
		copies:    telemetry.NewBudget(o.Now, copyEvery, copyBurst),
	}
	mux := http.NewServeMux()
	for _, rt := range routes {
		mux.Handle(rt.method+" "+rt.path, p.adaptRoute(rt))
	}
	// The one style sheet; a partner's colours are in theme.css.
	style, err := pages.ServeFiles(staticFiles, time.Hour)
	if err != nil {
		return nil, err
	}
	mux.Handle("GET "+Prefix+"page.css", style)
	mux.Handle("/", p.adaptRoute(route{method: http.MethodGet, path: "unknown", run: showNotFound}))
	// CrossOriginProtection refuses what another site makes a browser send; the cookie's SameSite is the second net.
	p.handler = pages.WithHeaders(pages.Headers{
		Policy:    contentPolicy(nil), // where a page may stand in a frame is said once its partner is known
		IsOverTLS: func(r *http.Request) bool { return r.TLS != nil || p.TLS },
		More:      map[string]string{"x-robots-tag": "noindex, nofollow"},
	}, http.NewCrossOriginProtection().Handler(mux))
	return p, nil
}

func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// contentPolicy returns the content security policy of a page that may stand in pages of these origins.
func contentPolicy(frames []string) string {
	ancestors := "'none'"
	if len(frames) > 0 {
		ancestors = strings.Join(frames, " ")
	}
	return "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
		"frame-ancestors " + ancestors
}

// showNotFound answers what no route is for.
func showNotFound(*Pages, *request) (answer, error) { return nil, errNotFound }

// adaptRoute turns a route into a handler.
func (p *Pages) adaptRoute(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		start := p.Now()
		r := &request{Request: hr, route: rt, from: p.Callers.CallerAddress(hr)}
		r.lang = partner.Portuguese
		a, err := pages.CatchPanic(hr.Context(), p.Log, func() (answer, error) { return p.runRequest(w, r) })
		status := p.writeAnswer(w, r, a, err)
		telemetry.PageLine{
			Pages:  "person",
			Route:  rt.path,
			From:   p.Callers.AddressForLog(r.from),
			Who:    slog.String("partner", string(r.who.ID)),
			Status: status,
			Took:   p.Now().Sub(start),
			Err:    err,
		}.WriteTo(p.Log, hr)
	})
}

// runRequest runs a request up to what it answers. A form that was refused is answered beside the error.
func (p *Pages) runRequest(w http.ResponseWriter, r *request) (answer, error) {
	if p.addresses.TakeToken(r.from) > 0 {
		return nil, errTooMany
	}
	if !r.route.open {
		if err := p.resumeSession(r); err != nil {
			if p.Strangers.TakeToken(r.from) > 0 {
				return nil, errTooMany
			}
			return nil, err
		}
	}
	if r.Method == http.MethodPost {
		if p.writes.TakeToken(r.session.Link) > 0 {
			return nil, errTooMany
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			return nil, errForm.Because(err)
		}
	}
	run := func() (answer, error) { return r.route.run(p, r) }
	var showAgain func() (answer, error)
	if r.route.form != nil {
		showAgain = func() (answer, error) { return r.route.form(p, r) }
	}
	return pages.RunForm(pages.IsMendable, run, showAgain)
}
