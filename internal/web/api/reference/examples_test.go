package reference

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "cut the examples out of the clients' tests anew")

// TestSnippetsAreFresh compares snippets.json with the tests that the examples are cut out of.
func TestSnippetsAreFresh(t *testing.T) {
	cut := snippets{}
	inGo, inTypeScript := goSnippets(t), typeScriptSnippets(t)
	for _, op := range contract(t).Operations {
		s := cut[op.ID]
		s.Go, s.TypeScript = inGo[op.ID], inTypeScript[op.ID]
		cut[op.ID] = s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(cut); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("snippets.json", b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if kept, err := files.ReadFile("snippets.json"); err != nil || !bytes.Equal(kept, b.Bytes()) {
		t.Error("snippets.json is stale: go generate ./internal/web/api/reference", err)
	}
}

// goSnippets are the bodies of the functions of the Go client's examples.
func goSnippets(t *testing.T) map[string]string {
	t.Helper()
	const file = "../../../../clients/golang/operations_test.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, d := range parsed.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil {
			continue
		}
		body := string(source[set.Position(fn.Body.Lbrace).Offset+1 : set.Position(fn.Body.Rbrace).Offset])
		body = strings.ReplaceAll(body, "out.Println", "fmt.Println")
		found[fn.Name.Name] = strings.TrimSuffix(dedent(body, "\t"), "\nreturn nil")
	}
	return found
}

// typeScriptSnippets are the bodies of the methods of the TypeScript client's examples.
func typeScriptSnippets(t *testing.T) map[string]string {
	t.Helper()
	source, err := os.ReadFile("../../../../clients/typescript/test/operations.ts")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`(?ms)^  async (\w+)\([^)]*\) \{\n(.*?)^  \},$`).FindAllStringSubmatch(string(source), -1) {
		body := strings.NewReplacer("userHash: known.userHash", "userHash", "known.", "").Replace(m[2])
		body = regexp.MustCompile(`\bprint\(`).ReplaceAllString(body, "console.log(")
		body = regexp.MustCompile(`\b(\w+): (\w+)\b([,\n ])`).ReplaceAllStringFunc(body, func(s string) string {
			if name, value, _ := strings.Cut(strings.TrimRight(s, ",\n "), ": "); name == value {
				return name + s[len(name)*2+2:]
			}
			return s
		})
		found[m[1]] = dedent(body, "    ")
	}
	return found
}

func dedent(text, by string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, by)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
