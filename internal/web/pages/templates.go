package pages

import (
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// Templates are the pages of one package. A page is parsed when it is shown first, because each has the layout and all
// shared files to itself, and all pages together are most of what an idle server would hold.
type Templates struct {
	byName map[string]func() (*template.Template, error)
}

// ParseTemplates prepares the files of the folder templates. shared are the files that every page can use; each other file
// is a page, named by the file without its ending.
func ParseTemplates(files fs.FS, functions template.FuncMap, shared ...string) (*Templates, error) {
	base := template.New("").Funcs(functions)
	for _, name := range shared {
		if _, err := base.ParseFS(files, "templates/"+name); err != nil {
			return nil, err
		}
	}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	t := &Templates{byName: map[string]func() (*template.Template, error){}}
	for _, name := range names {
		file := path.Base(name)
		if slices.Contains(shared, file) {
			continue
		}
		t.byName[strings.TrimSuffix(file, ".html")] = sync.OnceValues(func() (*template.Template, error) {
			one, err := base.Clone()
			if err != nil {
				return nil, err
			}
			return one.ParseFS(files, name)
		})
	}
	return t, nil
}

// Find returns the template of a page.
func (t *Templates) Find(name string) (*template.Template, error) {
	parse, ok := t.byName[name]
	if !ok {
		return nil, fmt.Errorf("no page named %q", name)
	}
	return parse()
}

// Names returns the names of all pages in order.
func (t *Templates) Names() []string {
	names := make([]string, 0, len(t.byName))
	for name := range t.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
