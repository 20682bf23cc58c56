package console

import (
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// pages are the templates: each page is the layout and one file. One is parsed when it is shown first, because each has
// the layout and all partials to itself, and all of them together are most of what an idle server would hold.
type pages struct {
	byName map[string]func() (*template.Template, error)
}

// partials are files that every page can use.
var partials = []string{"layout.html", "parts.html", "pictures.html", "list.html", "content-form.html"}

// parsedPages are there once in a process, however many consoles it has: tests have many.
var parsedPages = sync.OnceValues(func() (*pages, error) { return parsePages(templateFiles) })

// parsePages prepares the templates of all pages with the partials they share. A page is parsed at its first use.
func parsePages(files fs.FS) (*pages, error) {
	base := template.New("").Funcs(functions)
	for _, name := range partials {
		if _, err := base.ParseFS(files, "templates/"+name); err != nil {
			return nil, err
		}
	}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	p := &pages{byName: map[string]func() (*template.Template, error){}}
	for _, name := range names {
		short := strings.TrimSuffix(path.Base(name), ".html")
		if slices.Contains(partials, short+".html") {
			continue
		}
		p.byName[short] = sync.OnceValues(func() (*template.Template, error) {
			one, err := base.Clone()
			if err != nil {
				return nil, err
			}
			return one.ParseFS(files, name)
		})
	}
	return p, nil
}

// renderPage writes a page inside the frame. The layout comes last: it tells of the problems that no field of the page is about.
func (p *pages) renderPage(w io.Writer, f *frame, name string) error {
	parsed, ok := p.byName[name]
	if !ok {
		return fmt.Errorf("no page named %q", name)
	}
	t, err := parsed()
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
