// Package person is what a person sees of the service: a few plain pages about themselves, in their partner's colours,
// behind a link that the partner asked for.
//
// One table lists the routes, and one adapter opens the session, limits, runs the page, renders it to a buffer and writes
// it. Pages read and change through the same rules as the partner API. The invariants it keeps: a session shows one person
// of one partner, nothing is changed by a GET, values are masked, no page needs a script or holds one, and no address or
// log line says whose page it is.
package person

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/subject"
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
		Options:   o,
		templates: map[string]*template.Template{},
		addresses: telemetry.NewBudget(
			o.Now,
			addressEvery,
			addressBurst,
		),
		links: telemetry.NewBudget(o.Now, linkEvery, linkBurst),
		writes: telemetry.NewBudget(
			o.Now,
			writeEvery,
			writeBurst,
		),
		copies: telemetry.NewBudget(o.Now, copyEvery, copyBurst),
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

// handler is what a route does. It returns what to answer, or a fault, and never sees the ResponseWriter.
type handler func(p *Pages, r *request) (answer, error)

// answer is one of the ways to answer: view, redirect or file.
type answer interface{ isAnswer() }

// view is a page to render: a template's name, the word of its title, and what it shows.
type view struct {
	name, title string
	data        any
}

// redirect sends the browser on after a change; done names a word that the next page says at its top.
type redirect struct{ to, done string }

// file is bytes as they are. A name makes it a download; names hold no personal data.
type file struct {
	kind, name string
	body       []byte
}

func (view) isAnswer()     {}
func (redirect) isAnswer() {}
func (file) isAnswer()     {}

// request is what a page works with.
type request struct {
	*http.Request
	route   route
	session cyber.PortalSession
	who     partner.Partner
	theme   partner.Theme
	lang    partner.Language
	from    string
	// cookie is set on the answer: a session that begins, changes or ends.
	cookie *http.Cookie
	// problem is why the form that the page shows was refused.
	problem error
	// begun is set on the page that follows a link.
	begun bool
	// failure is the first thing that failed: what is loaded after it is empty, and the adapter answers it in place of the page.
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

// callForPerson is callRule for a rule about the person whose page it is.
func callForPerson[T any](r *request, read func(context.Context, partner.ID, partner.UserHash) (T, error)) T {
	return callRule(r, func(ctx context.Context) (T, error) { return read(ctx, r.who.ID, r.session.User) })
}

// callOnCase is callRule for a change of the case in the path, which leads back to its page.
func callOnCase[T any](
	r *request,
	done string,
	change func(context.Context, cyber.CaseKey) (T, error),
) (answer, error) {
	callRule(r, func(ctx context.Context) (T, error) { return change(ctx, r.caseKeyInPath()) })
	return redirect{"/p/cases/" + r.PathValue("id"), done}, nil
}

// trimmedField returns a field of the form without surrounding space.
func (r *request) trimmedField(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }

// sentence returns a sentence in the person's language.
func (r *request) sentence(key string) string { return sentenceIn(r.lang, key) }

const maxForm = 64 << 10

var (
	errForm     = fault.New(fault.Invalid, "form.invalid")
	errPanic    = fault.New(fault.Internal, "panic")
	errNotFound = fault.New(fault.NotFound, "path.not_found")
	errTooMany  = fault.New(fault.RateLimited, "rate.limited")
)

// showNotFound answers what no route is for.
func showNotFound(*Pages, *request) (answer, error) { return nil, errNotFound }

// adaptRoute turns a route into a handler.
func (p *Pages) adaptRoute(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		start := p.Now()
		r := &request{Request: hr, route: rt, from: p.Callers.CallerAddress(hr), lang: partner.Portuguese}
		a, err := p.runRequest(w, r)
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

// runRequest runs a request up to what it answers; a panic becomes an internal fault.
func (p *Pages) runRequest(w http.ResponseWriter, r *request) (a answer, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			p.Log.ErrorContext(r.Context(), "panic", "stack", string(debug.Stack()))
			a, err = nil, errPanic
		}
	}()
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
	a, err = r.runHandler(p, r.route.run)
	if err == nil {
		return a, nil
	}
	if r.route.form != nil && isMendable(err) {
		r.problem = err
		if again, ferr := r.runHandler(p, r.route.form); ferr == nil {
			return again, err
		}
	}
	return nil, err // what a handler returns beside an error is not sent: a redirect would tell of success
}

// runHandler runs a handler and returns its answer, or the first thing that failed.
func (r *request) runHandler(p *Pages, run handler) (answer, error) {
	r.failure = nil
	a, err := run(p, r)
	return a, cmp.Or(r.failure, err)
}

// isMendable tells faults that a person can do something about on the page they came from.
func isMendable(err error) bool {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict, fault.Unprocessable, fault.NotFound, fault.RateLimited:
		return true
	default:
		return false
	}
}

// resumeSession finds out whose page this is.
func (p *Pages) resumeSession(r *request) error {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return cyber.ErrPortalClosed
	}
	session, who, err := p.Rules.Sessions.ResumeSession(r.Context(), cookie.Value)
	if err != nil {
		if errors.Is(err, cyber.ErrPortalClosed) {
			r.dropSession()
		}
		return err
	}
	if p.links.TakeToken(session.Link) > 0 {
		return errTooMany
	}
	return p.setPerson(r, session, who)
}

// setPerson makes a request one of a person.
func (p *Pages) setPerson(r *request, session cyber.PortalSession, who partner.Partner) error {
	theme, err := p.Rules.Themes.GetTheme(r.Context(), who.ID)
	if err != nil {
		return err
	}
	r.session, r.who, r.lang, r.theme = session, who, session.Lang, theme
	return nil
}

// writeAnswer sends the answer and returns its status.
func (p *Pages) writeAnswer(w http.ResponseWriter, r *request, a answer, err error) int {
	h := w.Header()
	h.Set("content-security-policy", contentPolicy(r.theme.Frames))
	if len(r.theme.Frames) == 0 {
		h.Set("x-frame-options", "DENY")
	}
	if r.cookie != nil {
		http.SetCookie(w, r.cookie)
		if r.cookie.MaxAge < 0 { // the session ended: leave nothing of it to the next user of the phone
			h.Set("clear-site-data", `"cache"`)
		}
	}
	switch a := a.(type) {
	case redirect:
		to, place, _ := strings.Cut(a.to, "#")
		if mark := "?"; a.done != "" {
			if strings.Contains(to, "?") {
				mark = "&"
			}
			to += mark + "done=" + url.QueryEscape(a.done)
		}
		if place != "" {
			to += "#" + place
		}
		h.Set("location", to)
		w.WriteHeader(http.StatusSeeOther)
		return http.StatusSeeOther
	case file:
		h.Set("content-type", a.kind)
		if a.name != "" {
			h.Set("content-disposition", `attachment; filename="`+a.name+`"`)
		} else {
			h.Set("cache-control", "private, max-age=300")
			h.Set("vary", "cookie")
		}
		h.Set("content-length", strconv.Itoa(len(a.body)))
		_, _ = w.Write(a.body) // a reader that is gone needs no file
		return http.StatusOK
	case view:
		return p.writeView(w, r, a, telemetry.StatusOfPage(err))
	}
	if err == nil { // a handler that returned nothing at all
		err = errPanic
	}
	if errors.Is(err, errTooMany) {
		h.Set("retry-after", "10")
	}
	name, title := "problem", "problem.title"
	if errors.Is(err, cyber.ErrPortalClosed) {
		name, title = "closed", "closed.title"
	}
	return p.writeView(w, r, view{name, title, sentenceOf(r.lang, err)}, telemetry.StatusOfPage(err))
}

// writeView renders into a buffer first, so that a failure is an error page and never half a page.
func (p *Pages) writeView(w http.ResponseWriter, r *request, v view, status int) int {
	var b bytes.Buffer
	if err := p.templates[v.name].ExecuteTemplate(&b, "layout", p.newFrame(r, v)); err != nil {
		p.Log.ErrorContext(r.Context(), "page cannot be rendered", "page", v.name, "cause", err.Error())
		http.Error(w, sentenceIn(r.lang, "problem.internal"), http.StatusInternalServerError)
		return http.StatusInternalServerError
	}
	w.Header().Set("content-type", "text/html; charset=utf-8")
	w.Header().Set("content-language", string(r.lang))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a reader that is gone needs no page
	return status
}

// route is one page or one change.
type route struct {
	method, path string
	run          handler
	// open is set on what answers without a session.
	open bool
	// form shows the page again when run refuses what was filled in.
	form handler
}

// routes is all that a person can see and do.
var routes = []route{
	{method: http.MethodGet, path: "/p/enter/{token}", run: openSession, open: true},
	{method: http.MethodGet, path: "/p/{$}", run: showHomePage},
	{method: http.MethodGet, path: "/p/leaks", run: showLeaks},
	{method: http.MethodPost, path: "/p/leaks/{id}/resolve", run: resolveLeak, form: showLeaks},
	{method: http.MethodGet, path: "/p/steps", run: showSteps},
	{method: http.MethodPost, path: "/p/answer", run: answerQuestion, form: showSteps},
	{method: http.MethodPost, path: "/p/steps/{step}", run: markMergedStep, form: showSteps},
	{method: http.MethodGet, path: "/p/more", run: showMorePage},
	{method: http.MethodGet, path: "/p/score", run: showScore},
	{method: http.MethodGet, path: "/p/devices", run: showDevices},
	{method: http.MethodGet, path: "/p/cases", run: listCases},
	{method: http.MethodGet, path: "/p/cases/{id}", run: showCasePage},
	{method: http.MethodPost, path: "/p/cases/{id}/reply", run: replyCase, form: showCasePage},
	{method: http.MethodPost, path: "/p/cases/{id}/rebook", run: rebookCase, form: showCasePage},
	{method: http.MethodPost, path: "/p/cases/{id}/cancel", run: cancelCase, form: showCasePage},
	{method: http.MethodPost, path: "/p/cases/{id}/rate", run: rateOwnCase, form: showCasePage},
	{method: http.MethodGet, path: "/p/services/{id}", run: showService},
	{method: http.MethodPost, path: "/p/services/{id}", run: openOwnCase, form: showService},
	{method: http.MethodGet, path: "/p/cover", run: showCover},
	{method: http.MethodGet, path: "/p/data", run: showDataPage},
	{method: http.MethodPost, path: "/p/data", run: downloadCopy, form: showDataPage},
	{method: http.MethodPost, path: "/p/lang", run: changeLanguage},
	{method: http.MethodPost, path: "/p/leave", run: leaveSession},
	{method: http.MethodGet, path: "/p/theme.css", run: themeSheet},
	{method: http.MethodGet, path: "/p/logo.png", run: themeLogo},
}

// menu is the bar at the foot of the screen: four pages, and the way to the others.
var menu = []struct{ path, word, icon string }{
	{"/p/", "menu.home", "home"},
	{"/p/leaks", "menu.leaks", "leak"},
	{"/p/steps", "menu.steps", "todo"},
	{"/p/cases", "menu.help", "chat"},
	{"/p/more", "menu.more", "more"},
}

// others are the pages behind "more".
var others = []struct{ path, word, icon string }{
	{
		"/p/score",
		"menu.score",
		"chart",
	},
	{"/p/devices", "menu.devices", "phone"},
	{"/p/cover", "menu.cover", "shield"},
	{"/p/data", "menu.data", "get"},
}

// cookieName carries the prefix by which a browser refuses the cookie unless it is Secure. Browsers take localhost and
// 127.0.0.1 as secure, so that the demo works without a certificate.
const cookieName = "__Secure-vigia-page"

// sessionCookie returns the cookie of a session: for these pages only, and never sent with a request that another site
// starts.
func sessionCookie(text string) *http.Cookie {
	return &http.Cookie{
		Name: cookieName, Value: text, Path: Prefix, Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(cyber.SessionLife / time.Second),
	}
}

// keepSession has the browser keep a session, drop forget it.
func (r *request) keepSession(text string) {
	r.cookie = sessionCookie(text)
	// To a browser a page inside a partner's own is another site, which sees no Strict cookie. It is kept apart by the site that the page
	// stands in, and forms that others send are refused by where they come from.
	if dest := r.Header.Get("Sec-Fetch-Dest"); dest == "iframe" || dest == "frame" {
		r.cookie.SameSite, r.cookie.Partitioned = http.SameSiteNoneMode, true //nolint:gosec // it has all three attributes: see sessionCookie
	}
}

// dropSession has the browser forget the session.
func (r *request) dropSession() {
	r.keepSession("")
	r.cookie.MaxAge = -1 //nolint:gosec // it has all three attributes: see sessionCookie
}

// openSession turns a link into a session. The answer is a page that leads on by itself, and not a redirect: a browser that was
// sent here by another site would not show a Strict cookie to where it is redirected.
func openSession(p *Pages, r *request) (answer, error) {
	session, text, err := p.Rules.Sessions.OpenLink(r.Context(), r.PathValue("token"))
	if err != nil {
		if p.Strangers.TakeToken(r.from) > 0 {
			return nil, errTooMany
		}
		if old, genuine := p.Rules.Sessions.ReadExpiredLink(r.PathValue("token")); genuine {
			r.lang, r.session.Return = old.Lang, old.Return // an expired link still says where to get a new one
		}
		return nil, err
	}
	if p.links.TakeToken(session.Link) > 0 {
		return nil, errTooMany
	}
	_, who, err := p.Rules.Sessions.ResumeSession(r.Context(), text)
	if err != nil {
		return nil, err
	}
	if err := p.setPerson(r, session, who); err != nil {
		return nil, err
	}
	r.keepSession(text)
	r.begun = true
	return view{"enter", "enter.title", nil}, nil
}

// changeLanguage says everything in another language from now on.
func changeLanguage(p *Pages, r *request) (answer, error) {
	lang, err := partner.ParseLanguage(r.trimmedField("lang"))
	if err != nil {
		return nil, err
	}
	_, text, err := p.Rules.Sessions.ChangeLanguage(r.session, lang)
	if err != nil {
		return nil, err
	}
	r.keepSession(text)
	back := r.trimmedField("back")
	for _, item := range slices.Concat(menu, others) { // nowhere else
		if item.path == back {
			return redirect{to: back}, nil
		}
	}
	return redirect{to: Prefix}, nil
}

// leaveSession ends the session in this browser.
func leaveSession(_ *Pages, r *request) (answer, error) {
	r.dropSession()
	r.who, r.theme = partner.Partner{}, partner.Theme{} // nothing of it is shown any more
	return view{"left", "left.title", nil}, nil
}

// frame is what the layout and every page are rendered from.
type frame struct {
	Lang  partner.Language
	Title string
	// Brand is the partner's name for the page; empty before a link has shown which partner it belongs to.
	Brand        string
	Logo, Themed bool
	Menu, Others []menuItem
	Langs        []langItem
	// Back is the page of the menu that this one belongs to.
	Back string
	Done string
	// InPlace says that the page itself shows Done where something was changed.
	InPlace        bool
	Problem        string
	Intro, Contact string
	Return         string
	Form           url.Values
	Data           any
}

// menuItem is a link of the menu.
type menuItem struct {
	Path, Label, Icon string
	Current           bool
}

// langItem is a link that shows the page in another language.
type langItem struct {
	Lang    partner.Language
	Label   string
	Current bool
}

// newFrame returns what stands around every page.
func (p *Pages) newFrame(r *request, v view) frame {
	f := frame{
		Lang:   r.lang,
		Title:  r.sentence(v.title),
		Return: r.session.Return,
		Form:   r.PostForm,
		Data:   v.data,
		Back:   Prefix,
	}
	if r.problem != nil {
		f.Problem = sentenceOf(r.lang, r.problem)
	}
	if r.who.ID == "" || r.begun {
		return f
	}
	f.Brand, f.Logo, f.Themed = r.theme.Title, len(r.theme.Logo) > 0, true
	if f.Brand == "" {
		f.Brand = r.who.Name
	}
	if done := r.URL.Query().Get("done"); done != "" {
		f.Done = doneSentence(r.lang, done)
	}
	f.Intro, f.Contact = r.theme.Texts[r.lang].Intro, r.theme.Texts[r.lang].Contact
	f.InPlace = r.URL.Query().Has("at")
	below := false
	for _, item := range others {
		if item.path == r.URL.Path {
			f.Back, below = item.path, true
		}
		f.Others = append(f.Others, menuItem{Path: item.path, Label: r.sentence(item.word), Icon: item.icon})
	}
	for _, item := range menu {
		current := item.path == r.URL.Path || item.path != Prefix && strings.HasPrefix(r.URL.Path, item.path) ||
			item.path == "/p/cases" && strings.HasPrefix(r.URL.Path, "/p/services/") || item.path == "/p/more" && below
		if current && !below {
			f.Back = item.path
		}
		f.Menu = append(f.Menu, menuItem{item.path, r.sentence(item.word), item.icon, current})
	}
	for _, l := range partner.ListLanguages() {
		f.Langs = append(f.Langs, langItem{l, langNames[l], l == r.lang})
	}
	return f
}

// T returns a sentence in the person's language, with its blanks filled in order.
func (f frame) T(key string, values ...any) string { return sentenceIn(f.Lang, key, values...) }

// Old is what was filled into a form that was refused.
func (f frame) Old(name string) string {
	if f.Problem == "" {
		return ""
	}
	return f.Form.Get(name)
}

// Foreign reports whether a text of the operator's own, which is Portuguese, stands in a page of another language.
func (f frame) Foreign() bool { return f.Lang != partner.Portuguese }

// brazil is the time that pages show. Brazil has had no summer time since 2019, so an offset is enough and no zone table is
// needed.
var brazil = time.FixedZone("BRT", -3*60*60)

// Date is a day of the calendar, Time a moment by Brazil's clock.
func (f frame) Date(t time.Time) string { return f.formatMoment(t, "") }

// Time writes a moment.
func (f frame) Time(t time.Time) string { return f.formatMoment(t.In(brazil), " 15:04") }

// formatMoment writes a day, and the time if clock says how.
func (f frame) formatMoment(t time.Time, clock string) string {
	switch {
	case t.IsZero():
		return "—"
	case f.Lang == partner.English:
		return t.Format("2 Jan 2006" + clock)
	}
	return t.Format("02/01/2006" + clock)
}

// Number writes a number with one decimal.
func (f frame) Number(n float64) string {
	text := strconv.FormatFloat(n, 'f', 1, 64)
	if f.Lang == partner.English {
		return text
	}
	return strings.Replace(text, ".", ",", 1)
}

// Tenths writes a number of tenths with one decimal.
func (f frame) Tenths(n int64) string { return f.Number(float64(n) / 10) }

// Reais writes an amount of money in cents, as Brazil does in every language.
func (f frame) Reais(amount plan.Money) string {
	cents := int64(amount)
	whole, rest := strconv.FormatInt(cents/100, 10), strconv.FormatInt(100+cents%100, 10)[1:]
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "." + whole[i:]
	}
	return "R$ " + whole + "," + rest
}

var functions = template.FuncMap{
	"mark": func(s stepView, at int) markView { return markView{s, at} },
	"icon": func(name string) template.HTML {
		return template.HTML(
			`<svg class="i" aria-hidden="true"><use href="#` + name + `"/></svg>`,
		) //nolint:gosec // our own names
	},
	"face": func(s cyber.Severity) string { return severityFace[s] },
	"join": func(list []string) string { return strings.Join(list, ", ") },
	"iso":  func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
	"lang": languageOf,
	"both": func(f frame, of any) inFrame { return inFrame{f, of} },
}

// severityFace is the colour and the picture of a severity.
var severityFace = map[cyber.Severity]string{
	cyber.SeverityLow:      "low",
	cyber.SeverityMedium:   "mid",
	cyber.SeverityHigh:     "high",
	cyber.SeverityCritical: "high",
}

// markView is the form that ticks a step, and where the step stands.
type markView struct {
	Step stepView
	At   int
}

// inFrame is what a part of a page is rendered from: one thing, and the frame for its words.
type inFrame struct {
	Frame frame
	Of    any
}

// themeSheet returns a style sheet with a partner's colours. They were checked when they were stored: nothing else can
// be in them.
func themeSheet(_ *Pages, r *request) (answer, error) {
	accent, accentText := r.theme.EffectiveColours()
	sheet := ":root{--accent:" + accent + ";--on-accent:" + accentText + "}\n"
	return file{kind: "text/css; charset=utf-8", body: []byte(sheet)}, nil
}

// themeLogo is a picture that this program drew anew.
func themeLogo(_ *Pages, r *request) (answer, error) {
	if len(r.theme.Logo) == 0 {
		return nil, errNotFound
	}
	return file{kind: "image/png", body: r.theme.Logo}, nil
}
