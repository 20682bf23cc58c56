package console

import (
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/vigiahq/vigia/internal/web/pages"
)

// partials are files that every page can use.
var partials = []string{"layout.html", "parts.html", "pictures.html", "list.html", "content-form.html"}

// parsedPages are there once in a process, however many consoles it has: tests have many.
var parsedPages = sync.OnceValues(func() (*pages.Templates, error) {
	return pages.ParseTemplates(templateFiles, functions, partials...)
})

// renderPage writes a page inside the frame. The layout comes last: it tells of the problems that no field of the page
// is about.
func (c *Console) renderPage(w io.Writer, f *frame, name string) error {
	t, err := c.templates.Find(name)
	if err != nil {
		return err
	}
	var page strings.Builder
	if err := t.ExecuteTemplate(&page, "page", f); err != nil {
		return err
	}
	f.Page = template.HTML(page.String()) //nolint:gosec // a template wrote it
	return t.ExecuteTemplate(w, "layout", f)
}
