package console

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/web/pages"
)

// answer is one of the ways to answer: view, redirect, stream, download or document.
type answer interface{ isAnswer() }

// view is a page to render.
type view struct {
	// name is the template's file name without its ending.
	name  string
	title string
	data  any
}

// newView returns a page of what was gathered for it, or the error of gathering it.
func newView(name, title string, data any, err error) (answer, error) {
	if err != nil {
		return nil, err
	}
	return view{name, title, data}, nil
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

// document is what the script of a page asks for.
type document struct{ body any }

func (view) isAnswer() {}

func (redirect) isAnswer() {}

func (stream) isAnswer() {}

func (download) isAnswer() {}

func (document) isAnswer() {}

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
