package console

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// spoken are the packages whose refusals an operator can meet on a page.
var spoken = []string{
	"../console", "../cyber", "../partner", "../plan", "../subscription", "../leak", "../intake", "../feed", "../password", "../operator",
	"../subject", "../alert", "../webhook", "../draft", "../identifier", "../message", "../app", "../store",
}

// only are the files of a package that speak to the console, where not all of them do.
var only = map[string]string{"../app": "console", "../store": "audit"}

// constant is the text of an expression that is made of string literals only.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, lok := constant(e.X)
		right, rok := constant(e.Y)
		return left + right, lok && rok && e.Op == token.ADD
	}
	return "", false
}

// rulesIn reads the formats of all refusals of a package: what is handed to With, and to the two helpers that hand it on.
func rulesIn(t *testing.T, folder string, literals map[string]bool) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && path != folder {
			return skipFolder(err)
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			only[folder] != "" && !strings.HasPrefix(filepath.Base(path), only[folder]) {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if text, ok := constant(e); ok {
					literals[text] = true
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			name := ""
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				name = f.Sel.Name
			case *ast.Ident:
				name = f.Name
			}
			if format, ok := constant(call.Args[0]); ok && (name == "With" || name == "bad") {
				found[format] = path
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func skipFolder(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

// unspoken are formats whose rule is another rule's text, and faults that only a program can cause.
var unspoken = map[string]string{
	"%s":       "the rule is handed in: the sentences of identifiers, and what a part of an import failed with",
	"%s: %s":   "the name of a file and a rule about one of its lines",
	"when: %s": "a rule of content_when, spoken by itself", "question: %s": "a rule of the question, spoken by itself",
	"value: %s":      "a rule of identifiers, spoken by itself",
	"a key is empty": "a key ring is made by the program", "an endpoint must have a key": "as above",
	"event id must be 1 to %d letters, digits, '_' or '-'": "ids are made by the program",
	"key must be standard base64 with padding after %s":    "keys are made by the program", "key must start with %s": "as above",
	"secret must have %d to %d bytes": "as above", "signing key must have %d bytes": "as above",
	"signing key: the public half does not belong to the private half": "as above",
	"cut short": "of a label in a segment: the file is damaged, which verifying tells", "no day": "as above", "no site": "as above", "no trace": "as above",
	"actor: 1 to %d printable characters": "the console sends its operator's address",
	"line %s: %s":                         "told to a vendor who pushes records", "records: %s": "told on the command line, by a preview", "records: at least one": "as above", "line 1: breach.%s": "as above",
	"line 1: breach: the records are in the push itself": "as above", "breach.name: is another breach's, or was retracted": "as above",
	"line 1: breach: name, title, date, exposes, kind, description, verified, fabricated, spam_list, no_pairs, each of its own type": "as above",
	"feed: is paused": "as above", "feed: too many pushes; at most one a second over time": "as above",
	"target: a receiver has none of its own, and makes its secret itself": "told on the command line",
	"name: only a feed of kind push has a secret of ours":                 "told on the command line",
}

// TestRulesInPortuguese: every rule that a page can name has its sentence, and no sentence is left over from a rule that is
// gone.
func TestRulesInPortuguese(t *testing.T) {
	t.Parallel()
	said, literals := map[string]bool{}, map[string]bool{} // some rules are handed on as values
	for _, folder := range spoken {
		for format, path := range rulesIn(t, folder, literals) {
			if unspoken[format] != "" {
				continue
			}
			_, rule := splitRule(format)
			key := rule
			if _, inner := splitRule(rule); rules[rule] == "" && rules[format] == "" {
				key = inner
			} else if rules[rule] == "" {
				key = format
			}
			if rules[key] == "" {
				t.Errorf("%s: no sentence for %q", path, rule)
			}
			said[key] = true
			verbs := len(verb.FindAllString(key, -1))
			if places := strings.Count(rules[key], "%s"); places > verbs {
				t.Errorf("%q has %d values, its sentence takes %d", key, verbs, places)
			}
			example := strings.NewReplacer("%d", "7", "%+q", "nome", "%05X", "0000A", "%s", "nome", "%q", "nome", "%v", "nome").Replace(format)
			if field, text := inPortuguese(example); text == "" || strings.Contains(text, "%!") {
				t.Errorf("%q is spoken as %q of field %q", example, text, field)
			}
		}
	}
	for rule := range rules {
		if !said[rule] && !literals[rule] {
			t.Errorf("no package refuses with %q any more", rule)
		}
	}
}

// TestRuleValues: numbers and names of a rule go into its sentence, and a rule inside a rule is spoken too.
func TestRuleValues(t *testing.T) {
	for detail, want := range map[string][2]string{
		"name: 1 to 200 characters, no control characters":                        {"name", "De 1 a 200 caracteres, sem caracteres invisíveis."},
		"coverage limiteCobertura: 0 to 1000000000 reais":                         {"coverage limiteCobertura", "De R$ 0 a R$ 1.000.000.000."},
		"value: check digits do not match":                                        {"value", "Os dígitos verificadores não conferem."},
		"senha-forte: question: options: 2 to 10":                                 {"options", "De 2 a 10 opções."},
		"inputs: nothing was found: not published, unless it is forced (--force)": {"inputs", "Nada foi encontrado nos arquivos. Por isso não foi publicado."},
		"line 2: too short for a hash":                                            {"", "Linha 2: curta demais para um resumo de senha."},
		"something new":                                                           {"", ""}, "": {"", ""},
	} {
		if field, text := inPortuguese(detail); field != want[0] || text != want[1] {
			t.Errorf("%q is spoken as %q of field %q", detail, text, field)
		}
	}
}

// TestFailureText: what ended a job is said in words, and a cause that nobody has put into words is not shown.
func TestFailureText(t *testing.T) {
	for failure, want := range map[string]string{
		"password.bad_line: line 2: too short for a hash":               "Linha 2: curta demais para um resumo de senha.",
		"breach.input: inputs: /dados/a.txt cannot be read: open: gone": "/dados/a.txt não pôde ser lido.",
		"feed.exists":                 "Já existe uma fonte com este nome.",
		"panic of type runtime.Error": "o registro do servidor tem o motivo.", "": "o registro do servidor tem o motivo.",
	} {
		if got := failureText(failure); got != want {
			t.Errorf("%q is told as %q", failure, got)
		}
	}
}
