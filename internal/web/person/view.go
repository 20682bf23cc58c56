package person

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/web/pages"
)

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

func (view) isAnswer() {}

func (redirect) isAnswer() {}

func (file) isAnswer() {}

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
		return pages.Redirect(w, a.to, a.done)
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
		return p.writeView(w, r, a, err)
	}
	if err == nil { // a handler that returned nothing at all
		err = pages.ErrPanic
	}
	if errors.Is(err, errTooMany) {
		h.Set("retry-after", "10")
	}
	name, title := "problem", "problem.title"
	if errors.Is(err, cyber.ErrPortalClosed) {
		name, title = "closed", "closed.title"
	}
	v := view{name, title, sentenceOf(r.lang, err)}
	return p.writePage(w, r, v, telemetry.StatusOfPage(err), p.newFrame(r, v, nil))
}

// writeView writes a page; refused is why the form on it was not accepted, nil where none was sent.
func (p *Pages) writeView(w http.ResponseWriter, r *request, v view, refused error) int {
	return p.writePage(w, r, v, telemetry.StatusOfPage(refused), p.newFrame(r, v, refused))
}

func (p *Pages) writePage(w http.ResponseWriter, r *request, v view, status int, f frame) int {
	return pages.Page{
		Name:     v.name,
		Status:   status,
		Language: string(r.lang),
		Apology:  sentenceIn(r.lang, "problem.internal"),
		Render: func(w io.Writer) error {
			page, err := p.templates.Find(v.name)
			if err != nil {
				return err
			}
			return page.ExecuteTemplate(w, "layout", f)
		},
	}.Write(r.Context(), w, p.Log)
}
