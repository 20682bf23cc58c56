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
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
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
	// FiguresByDay are figures of the last days, of the whole service or one part of it; Parts what each part has of
	// one.
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
	templates *pages.Templates
	tries     *telemetry.Budget
	// confined is the console as a partner's people see it: see portal.go.
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
	unknown := route{method: http.MethodGet, path: "unknown", role: operator.Viewer, portal: look, run: showNotFound}
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
	viewer
	route   route
	session operator.Session
	// from is the address that it came from.
	from string
	// cookie is set on the answer: a session that begins or ends.
	cookie *http.Cookie
	// pictures are what the page shows of numbers over time.
	pictures *pictures
	// kept is set too: secrets that the next page shows.
	kept *http.Cookie
	// again is set while the page of a refused form is shown once more. A partner that the form named wrongly is left
	// out of it, so that the page tells of the form's problem and does not fail by the same.
	again bool
}

// viewer is who looks at a page, and what of the service they see: all that the gathering of a page needs of a request.
type viewer struct {
	who   operator.Operator
	scope scope
}

// auditActor returns the operator and their address, for the audit trail.
func (r *request) auditActor() operator.Actor {
	return operator.Actor{Name: string(r.who.ID), From: r.from}
}

func (r *request) trimmedField(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }

const maxForm = 1 << 20

var (
	errForbidden = fault.New(fault.Forbidden, "role.insufficient")
	errForm      = fault.New(fault.Invalid, "form.invalid")
	errUpload    = fault.New(fault.TooLarge, "upload.too_large")
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
		return pages.Redirect(w, a.to, a.done)
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
		body, merr := json.Marshal(a.body)
		if merr == nil {
			w.Header().Set("content-type", "application/json")
			_, _ = w.Write(body) // a reader that is gone needs no answer
			return http.StatusOK
		}
		err = merr
	case view:
		return c.writeView(w, r, a, telemetry.StatusOfPage(err), err)
	}
	if err == nil { // a handler that returned nothing at all
		err = pages.ErrPanic
	}
	problem := view{name: "problem", title: "Não foi possível", data: sentenceOf(err)}
	return c.writeView(w, r, problem, telemetry.StatusOfPage(err), nil)
}

// writeView writes a page; refused is why the form on it was not accepted, nil where none was.
func (c *Console) writeView(w http.ResponseWriter, r *request, v view, status int, refused error) int {
	return pages.Page{
		Name:    v.name,
		Status:  status,
		Apology: "A página não pôde ser montada.",
		Render:  func(w io.Writer) error { return c.renderPage(w, c.newFrame(r, v, refused), v.name) },
	}.Write(r.Context(), w, c.Log)
}

// change changes something with the rules that it is given and no others: they belong to one transaction. It must be
// short and must not reach outside the database. It returns the subject and the detail of its line in the audit trail.
type change func(ctx context.Context, in *Rules) (subject, detail string, err error)

// changeWithAudit runs a change and its line in the audit trail in one transaction.
func (c *Console) changeWithAudit(r *request, action string, run change) error {
	ctx := r.Context()
	return c.InTx(ctx, func(in *Rules) error {
		subject, detail, err := run(ctx, in)
		if err != nil {
			return err
		}
		return in.Audit.RecordAction(ctx, r.auditActor(), action, subject, detail)
	})
}

// changeAndRedirect is changeWithAudit for a form that leads on to another page.
func (c *Console) changeAndRedirect(r *request, action string, next redirect, run change) (answer, error) {
	if err := c.changeWithAudit(r, action, run); err != nil {
		return nil, err
	}
	return next, nil
}

// changeHandler makes the handler of a form that changes what the value key of its path names. That is also the subject
// of the line in the audit trail; change returns the detail. The browser is led on to next, in which {key} stands for
// the value.
func changeHandler[ID ~string](
	action, key, next, done string,
	change func(r *request, in *Rules, id ID) (detail string, err error),
) handler {
	return func(c *Console, r *request) (answer, error) {
		id := r.PathValue(key)
		to := redirect{strings.Replace(next, "{"+key+"}", url.PathEscape(id), 1), done}
		return c.changeAndRedirect(r, action, to, func(_ context.Context, in *Rules) (string, string, error) {
			detail, err := change(r, in, ID(id))
			return id, detail, err
		})
	}
}

// recordAction records what is about to be done or shown, for work that does not fit into one transaction.
func (c *Console) recordAction(r *request, action, subject, detail string) error {
	return c.Rules.Audit.RecordAction(r.Context(), r.auditActor(), action, subject, detail)
}

// recordAndRun records what is about to be done, does it, and leads on to another page.
func (c *Console) recordAndRun(
	r *request,
	action, subject, detail string,
	next redirect,
	run func() error,
) (answer, error) {
	if err := c.recordAction(r, action, subject, detail); err != nil {
		return nil, err
	}
	if err := run(); err != nil {
		return nil, err
	}
	return next, nil
}

// enterSession opens the session and checks role, second factor and proof. A redirect is returned where something is to
// be done first.
func (c *Console) enterSession(r *request) (answer, error) {
	if r.route.role == "" {
		return nil, nil //nolint:nilnil // nothing to do first
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return redirectToLogin(r, false), nil
	}
	r.session, r.who, err = c.Rules.Operators.ResumeSession(r.Context(), cookie.Value)
	if errors.Is(err, operator.ErrNoSession) {
		r.cookie = endCookie()
		return redirectToLogin(r, true), nil
	}
	if err != nil {
		return nil, err
	}
	if !r.who.TOTPOn && !c.SecondFactorOptional && !r.route.early {
		return redirect{to: "/second-factor"}, nil
	}
	if !r.route.isOpenTo(r.who) {
		return nil, errForbidden
	}
	if r.scope, err = c.loadScope(r); err != nil {
		return nil, err
	}
	if r.route.fresh && !r.session.IsFresh(c.Now()) {
		return redirect{to: "/prove?next=" + url.QueryEscape(r.route.proofPage(r.Request))}, nil
	}
	return nil, nil //nolint:nilnil // nothing to do first
}

// redirectToLogin sends the operator to the log-in and from there back to the requested page. The fields of a form are
// carried through the log-in, so that an expired session does not lose what was typed; uploaded files are not.
func redirectToLogin(r *request, ended bool) answer {
	if r.Method == http.MethodPost && ended && !r.route.upload {
		r.Body = http.MaxBytesReader(nil, r.Body, maxForm)
		if err := r.ParseForm(); err == nil {
			return view{
				"login",
				"Entrar",
				loginPage{
					Next:  r.route.proofPage(r.Request),
					Ended: true,
					Kept:  &keptForm{Path: r.URL.Path, Fields: r.PostForm},
				},
			}
		}
	}
	q := url.Values{}
	if r.Method == http.MethodGet && r.URL.RequestURI() != "/" {
		q.Set("next", r.URL.RequestURI())
	}
	if ended {
		q.Set("done", "session.over")
	}
	if len(q) == 0 {
		return redirect{to: "/login"}
	}
	return redirect{to: "/login?" + q.Encode()}
}

// localPath accepts only a path of this console as the place to go on to.
func localPath(p string) string {
	u, err := url.Parse(p)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(p, "/") || strings.HasPrefix(p, "//") ||
		strings.ContainsAny(p, "\\\r\n") {
		return "/"
	}
	return p
}

// publicOrigin returns the origin that links to the console begin with and passkeys are bound to. It is empty when none
// is configured and the console is reachable from other machines: the Host header is not trusted, since the client
// writes it.
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
