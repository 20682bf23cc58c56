package console

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// forbidden reads the words that docs/vocabulario.md has another word for.
func forbidden(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/vocabulario.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \| [^|]+ \| ([^|]+) \|$`).FindAllStringSubmatch(string(page), -1) {
		for _, word := range strings.Split(row[2], ", ") {
			words[strings.TrimSpace(word)] = strings.TrimSpace(row[1])
		}
	}
	if words["achado"] != "ocorrência" || len(words) < 15 {
		t.Fatal("the table cannot be read:", words)
	}
	return words
}

// TestVocabulary: templates and sentences, of the console and of the API, use one word for one thing.
func TestVocabulary(t *testing.T) {
	t.Parallel()
	words := forbidden(t)
	texts := map[string]string{}
	files, err := fs.Glob(os.DirFS("."), "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(page)
	}
	guides, err := filepath.Glob("../../docs/guides/pt/*.md")
	if err != nil || len(guides) == 0 {
		t.Fatal(guides, err)
	}
	for _, name := range append(guides, "../api/reference/pt.yaml", "../api/reference/pt.fields.yaml", "../api/reference/errors.pt.md") {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(page)
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(sources, "../api/messages.go", "../api/subscriptions_messages.go", "../subject/statement.go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				texts[name] += lit.Value + "\n"
			}
			return true
		})
	}
	for word, instead := range words {
		find := regexp.MustCompile(`(?i)(^|[^\p{L}])` + regexp.QuoteMeta(word) + `($|[^\p{L}])`)
		for name, text := range texts {
			if at := find.FindStringIndex(text); at != nil {
				t.Errorf("%s says %q where the word is %q: …%s…", name, word, instead, text[max(0, at[0]-40):min(len(text), at[1]+20)])
			}
		}
	}
}
