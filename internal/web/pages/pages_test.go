package pages_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/web/pages"
)

// TestRunForm: a refused form is shown again beside its error; a success page that a handler returned beside an error
// is never answered.
func TestRunForm(t *testing.T) {
	invalid, broken := fault.New(fault.Invalid, "form.invalid"), errors.New("disk full")
	returns := func(text string, err error) func() (string, error) {
		return func() (string, error) { return text, err }
	}
	for name, c := range map[string]struct {
		run, again func() (string, error)
		want       string
		err        error
	}{
		"success":              {returns("done", nil), returns("form", nil), "done", nil},
		"refused":              {returns("done", invalid), returns("form", nil), "form", invalid},
		"refused without form": {returns("done", invalid), nil, "", invalid},
		"form fails too":       {returns("done", invalid), returns("form", broken), "", invalid},
		"not to be mended":     {returns("done", broken), returns("form", nil), "", broken},
	} {
		got, err := pages.RunForm(pages.IsMendable, c.run, c.again)
		if got != c.want || !errors.Is(err, c.err) || (c.err == nil) != (err == nil) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, err, c.want, c.err)
		}
	}
}

func TestCatchPanic(t *testing.T) {
	got, err := pages.CatchPanic(t.Context(), slog.New(slog.DiscardHandler), func() (string, error) { panic("no") })
	if got != "" || !errors.Is(err, pages.ErrPanic) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestRedirect(t *testing.T) {
	for _, c := range []struct{ to, done, want string }{
		{"/cases", "", "/cases"},
		{"/cases", "case.moved", "/cases?done=case.moved"},
		{"/cases?a=1", "x&y", "/cases?a=1&done=x%26y"},
		{"/p/steps?at=1#passo-1", "ticked", "/p/steps?at=1&done=ticked#passo-1"},
	} {
		w := httptest.NewRecorder()
		if status := pages.Redirect(w, c.to, c.done); status != http.StatusSeeOther || w.Code != status {
			t.Errorf("%s: status %d, %d", c.to, status, w.Code)
		}
		if got := w.Header().Get("location"); got != c.want {
			t.Errorf("%s and %q: %s, want %s", c.to, c.done, got, c.want)
		}
	}
}

// TestWrite: a page that fails in its middle is an apology, and nothing of its first half is sent.
func TestWrite(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	page := pages.Page{Name: "x", Status: http.StatusConflict, Language: "pt-BR", Apology: "sorry"}
	page.Render = func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return err
	}
	w := httptest.NewRecorder()
	if page.Write(t.Context(), w, log); w.Code != http.StatusConflict || w.Body.String() != "half" {
		t.Error(w.Code, w.Body)
	}
	if got := w.Header().Get("content-language"); got != "pt-BR" {
		t.Error("language:", got)
	}
	page.Render = func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return errors.New("no such field")
	}
	w = httptest.NewRecorder()
	if page.Write(t.Context(), w, log); w.Code != http.StatusInternalServerError || w.Body.String() != "sorry\n" {
		t.Error(w.Code, w.Body)
	}
}

func TestTemplates(t *testing.T) {
	files := fstest.MapFS{
		"templates/layout.html": {Data: []byte(`<main>{{template "page" .}}</main>{{define "page"}}{{end}}`)},
		"templates/one.html":    {Data: []byte(`{{define "page"}}1{{end}}`)},
		"templates/bad.html":    {Data: []byte(`{{define "page"}}{{nofunction}}{{end}}`)},
	}
	all, err := pages.ParseTemplates(files, nil, "layout.html")
	if err != nil {
		t.Fatal(err)
	}
	if got := all.Names(); len(got) != 2 || got[0] != "bad" || got[1] != "one" {
		t.Error("pages:", got)
	}
	one, err := all.Find("one")
	if err != nil {
		t.Fatal(err)
	}
	if one.Lookup("layout.html") == nil {
		t.Error("a page has no layout")
	}
	for _, name := range []string{"bad", "layout", "missing"} {
		if _, err := all.Find(name); err == nil {
			t.Errorf("%s was found", name)
		}
	}
}

func TestHeaders(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	serve := func(isTLS bool) http.Header {
		w := httptest.NewRecorder()
		pages.WithHeaders(pages.Headers{
			Policy:    "default-src 'none'",
			IsOverTLS: func(*http.Request) bool { return isTLS },
			More:      map[string]string{"x-frame-options": "DENY"},
		}, ok).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		return w.Header()
	}
	plain := serve(false)
	for name, want := range map[string]string{
		"content-security-policy":   "default-src 'none'",
		"x-frame-options":           "DENY",
		"x-content-type-options":    "nosniff",
		"referrer-policy":           "no-referrer",
		"cache-control":             "no-store",
		"strict-transport-security": "",
	} {
		if got := plain.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if serve(true).Get("strict-transport-security") == "" {
		t.Error("TLS without HSTS")
	}
}
