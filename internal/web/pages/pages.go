// Package pages is the frame that the operator's console and people's own pages share: templates, the headers of every
// answer, the ways to write one, and what happens to a form that was refused.
//
// Its main types are Templates, which holds the pages of one package, and Page, which is one of them about to be
// written. An error travels by return value only: a handler returns an answer or an error, RunForm decides which page
// is shown for it, and nothing is written before that. The package knows no rule, no operator, no person and no
// address.
package pages

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrPanic is answered for a handler that panicked, and for one that returned neither an answer nor an error.
var ErrPanic = fault.New(fault.Internal, "panic")

// Headers are what every answer carries beside those that are the same for all pages.
type Headers struct {
	// Policy is the content security policy.
	Policy string
	// IsOverTLS reports whether the browser speaks TLS, with us or with a proxy.
	IsOverTLS func(r *http.Request) bool
	More      map[string]string
}

// WithHeaders sets the headers of every answer. A handler may replace them.
func WithHeaders(headers Headers, next http.Handler) http.Handler {
	all := map[string]string{
		"content-security-policy":      headers.Policy,
		"x-content-type-options":       "nosniff",
		"referrer-policy":              "no-referrer",
		"cross-origin-resource-policy": "same-origin",
		"permissions-policy":           "camera=(), microphone=(), geolocation=(), browsing-topics=()",
		"cache-control":                "no-store",
	}
	maps.Copy(all, headers.More)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range all {
			w.Header().Set(name, value)
		}
		if headers.IsOverTLS(r) {
			w.Header().Set("strict-transport-security", "max-age=63072000; includeSubDomains")
		}
		next.ServeHTTP(w, r)
	})
}

// CacheFor lets browsers keep what does not change while the program runs: style sheets and scripts.
func CacheFor(age time.Duration, next http.Handler) http.Handler {
	value := "public, max-age=" + strconv.Itoa(int(age/time.Second))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("cache-control", value)
		next.ServeHTTP(w, r)
	})
}

// CatchPanic runs a request up to its answer; a panic is logged and becomes ErrPanic.
func CatchPanic[A any](ctx context.Context, log *slog.Logger, run func() (A, error)) (answer A, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			log.ErrorContext(ctx, "panic", "stack", string(debug.Stack()))
			var none A
			answer, err = none, ErrPanic
		}
	}()
	return run()
}

// RunForm runs a handler. Where it fails in a way that can be mended in the form that was sent, showAgain returns the
// page with the form, which is answered beside the error. What a handler returned beside an error is never answered: it
// would tell of success.
func RunForm[A any](isMendable func(error) bool, run, showAgain func() (A, error)) (A, error) {
	answer, err := run()
	if err == nil {
		return answer, nil
	}
	var none A
	if showAgain == nil || !isMendable(err) {
		return none, err
	}
	again, againErr := showAgain()
	if againErr != nil {
		return none, err // the first error is the one that the person caused
	}
	return again, err
}

// IsMendable reports whether a person can do something about an error in the form that was sent.
func IsMendable(err error) bool {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict, fault.Unprocessable, fault.NotFound, fault.RateLimited:
		return true
	default:
		return false
	}
}

// Redirect sends the browser on after a change and returns the status. done names the sentence that the next page shows
// at its top; the address carries only this name, so that a forged link cannot put its own text on a page.
func Redirect(w http.ResponseWriter, to, done string) int {
	to, place, hasPlace := strings.Cut(to, "#")
	if done != "" {
		mark := "?"
		if strings.Contains(to, "?") {
			mark = "&"
		}
		to += mark + "done=" + url.QueryEscape(done)
	}
	if hasPlace {
		to += "#" + place
	}
	w.Header().Set("location", to)
	w.WriteHeader(http.StatusSeeOther)
	return http.StatusSeeOther
}

// Page is a page that is about to be written.
type Page struct {
	Name   string
	Status int
	// Language is that of the page; empty where all pages of a site have the same.
	Language string
	Render   func(w io.Writer) error
	// Apology is sent instead when the page cannot be rendered.
	Apology string
}

// Write renders the page into a buffer first, so that a failure is an apology and never half a page. It returns the
// status that was sent.
func (p Page) Write(ctx context.Context, w http.ResponseWriter, log *slog.Logger) int {
	var body bytes.Buffer
	if err := p.Render(&body); err != nil {
		log.ErrorContext(ctx, "page cannot be rendered", "page", p.Name, "cause", err.Error())
		http.Error(w, p.Apology, http.StatusInternalServerError)
		return http.StatusInternalServerError
	}
	w.Header().Set("content-type", "text/html; charset=utf-8")
	if p.Language != "" {
		w.Header().Set("content-language", p.Language)
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(body.Bytes()) // a reader that is gone needs no page
	return p.Status
}
