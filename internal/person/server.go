package person

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/telemetry"
)

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
}

// trimmedField returns a field of the form without surrounding space.
func (r *request) trimmedField(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }

// partnerCaller returns the person's partner as the caller, for rules that ask for one.
func (r *request) partnerCaller() partner.Caller {
	return partner.Caller{Partner: r.who.ID, Mode: r.who.Mode, Settings: r.who.Settings}
}

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
			Pages: "person", Route: rt.path, From: p.Callers.AddressForLog(r.from), Who: slog.String("partner", string(r.who.ID)), Status: status, Took: p.Now().Sub(start), Err: err,
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
	a, err = r.route.run(p, r)
	if err != nil && r.route.form != nil && isMendable(err) {
		r.problem = err
		if again, ferr := r.route.form(p, r); ferr == nil {
			return again, err
		}
	}
	return a, err
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
