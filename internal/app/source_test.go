package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// source is one parsed Go file of the tree.
type source struct {
	name string // from the root, with slashes
	file *ast.File
	set  *token.FileSet
}

// line is where a node stands.
func (s source) line(n ast.Node) string {
	return s.name + ":" + strconv.Itoa(s.set.Position(n.Pos()).Line)
}

// folder is the package's folder, from the root.
func (s source) folder() string { return path.Dir(s.name) }

// within tells whether the file is in one of the folders, or in a folder inside one.
func (s source) within(folders ...string) bool {
	for _, f := range folders {
		if s.folder() == f || strings.HasPrefix(s.name, f+"/") {
			return true
		}
	}
	return false
}

var parsed []source

// productSources parses, once, what the product is made of: no tests, no packages for tests, no benchmarks, no
// generators.
func productSources(t *testing.T) []source {
	t.Helper()
	if parsed != nil {
		return parsed
	}
	var list []source
	for _, name := range treeFiles(t) {
		product := strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "cmd/vigia/")
		if !product || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			forTests(path.Dir(name)) {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join(treeRoot, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, source{name, file, set})
	}
	if len(list) < 100 {
		t.Fatalf("only %d files of the product were found", len(list))
	}
	parsed = list
	return list
}

// blank stands in a text for what is only known when the program runs.
const blank = "\x00"

// leaf reads constant text: a literal, or names and literals joined by +, where what is not constant becomes a blank.
// known resolves names.
func leaf(e ast.Expr, known map[string]string) (text string, isText bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.Ident:
		text, ok := known[e.Name]
		return text, ok
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, a := leaf(e.X, known)
		right, b := leaf(e.Y, known)
		if !a {
			left = " " + blank + " "
		}
		if !b {
			right = " " + blank + " "
		}
		return left + right, a || b
	case *ast.ParenExpr:
		return leaf(e.X, known)
	}
	return "", false
}

// texts calls fn with every text of a file that is not part of a longer one, and the function or variable it stands in.
func (s source) texts(known map[string]string, fn func(at ast.Node, function, text string)) {
	function := ""
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			function = n.Name.Name
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil { // a struct tag is no text
				ast.Inspect(n.Type, visit)
				return false
			}
		case ast.Expr:
			if _, named := n.(*ast.Ident); named {
				return true
			}
			if text, ok := leaf(n, known); ok {
				fn(n, function, text)
				return false
			}
		}
		return true
	}
	for _, d := range s.file.Decls {
		function = ""
		list, ok := d.(*ast.GenDecl)
		if !ok {
			ast.Inspect(d, visit)
			continue
		}
		for _, spec := range list.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				function = v.Names[0].Name
			}
			ast.Inspect(spec, visit)
		}
	}
}

// constants collects the texts that a package gives names, inside functions too.
func constants(list []source) map[string]string {
	known := map[string]string{}
	for range 3 { // names made of names
		for _, s := range list {
			ast.Inspect(s.file, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				if !ok || len(spec.Names) != len(spec.Values) {
					return true
				}
				for i, name := range spec.Names {
					if text, ok := leaf(spec.Values[i], known); ok {
						known[name.Name] = text
					}
				}
				return true
			})
		}
	}
	return known
}
