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

// ParseTemplates prepares the files of the folder templates. shared are the files that every page can use; each other
// file is a page, named by the file without its ending. Line breaks are taken out as joinLines says.
func ParseTemplates(files fs.FS, functions template.FuncMap, shared ...string) (*Templates, error) {
	base := template.New("").Funcs(functions)
	for _, file := range shared {
		if err := parseFile(base, files, file); err != nil {
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
			return one, parseFile(one, files, file)
		})
	}
	return t, nil
}

// parseFile adds the templates of a file to t.
func parseFile(t *template.Template, files fs.FS, file string) error {
	source, err := fs.ReadFile(files, "templates/"+file)
	if err != nil {
		return err
	}
	_, err = t.New(file).Parse(joinLines(string(source)))
	return err
}

// joinLines takes the line breaks out of a template, each with the indentation behind it: they are for the reader of
// the file, and people on telephones need not load them. Beside a tag or an action nothing is left of a break; between
// words, and between the attributes of a tag, it becomes a space. A space that people see beside a tag or an action
// therefore stands on one line with both, or is written {{" "}}.
func joinLines(source string) string {
	var out strings.Builder
	inTag, quote := false, byte(0)
	afterEdge := true // the text so far ends with a tag or an action, or is empty
	for i := 0; i < len(source); {
		rest := source[i:]
		if strings.HasPrefix(rest, "{{") {
			end := actionLength(rest)
			out.WriteString(rest[:end])
			afterEdge = true
			i += end
			continue
		}
		if blank := len(rest) - len(strings.TrimLeft(rest, " \t\r\n")); blank > 0 {
			after := rest[blank:]
			beforeEdge := after == "" || after[0] == '<' || strings.HasPrefix(after, "{{")
			switch {
			case quote != 0 || !strings.Contains(rest[:blank], "\n"):
				out.WriteString(rest[:blank])
			case inTag || !afterEdge && !beforeEdge:
				out.WriteByte(' ')
			}
			i += blank
			continue
		}
		c := rest[0]
		out.WriteByte(c)
		i++
		afterEdge = false
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case inTag && (c == '"' || c == '\''):
			quote = c
		case inTag && c == '>':
			inTag, afterEdge = false, true
		case c == '<':
			inTag = true
		}
	}
	return out.String()
}

// actionLength returns how long the action is that a text begins with. Braces inside its strings do not end it.
func actionLength(text string) int {
	for i := len("{{"); i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '`', '\'':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' && c != '`' {
					i++
				}
			}
		case '}':
			if strings.HasPrefix(text[i:], "}}") {
				return i + len("}}")
			}
		}
	}
	return len(text) // the parser refuses an action that does not end
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
