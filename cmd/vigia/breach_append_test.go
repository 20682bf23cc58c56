package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestBreachAppend appends to a breach, twice the same.
func TestBreachAppend(t *testing.T) {
	data, dumps := filepath.Join(t.TempDir(), "data"), t.TempDir()
	dump := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dumps, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	must := func(args ...string) map[string]any {
		t.Helper()
		code, out, errs := vigia(t, append(args, "--data", data, "--json")...)
		if code != 0 {
			t.Fatal(args, code, errs)
		}
		return decode(t, out)
	}
	first := dump("a.csv", "email;senha\nana@exemplo.com.br;Lua-2019\nbia@exemplo.com.br;\n")
	must("breach", "import", "--name", "loja", "--title", "Loja", "--date", "2026-01-02", first)
	more := dump("b.csv", "email;senha\nbia@exemplo.com.br;Sol-2020\ncaio@exemplo.com.br;\n")
	got := must("breach", "append", "--name", "loja", more)
	want := maps.Clone(got)
	want["distinct"], want["pairs"], want["renewals"], want["unchanged"] = 5.0, 2.0, 1.0, false
	difftest.Check(t, "what the second dump added", got, want)
	if got := must("breach", "append", "--name", "loja", more); got["unchanged"] != true || got["renewals"] != 1.0 {
		t.Error(got)
	}
	code, out, _ := vigia(t, "breach", "show", "--name", "loja", "--data", data)
	if code != 0 || !regexp.MustCompile(`(?m)^renewals +1$`).MatchString(out) {
		t.Error(code, out)
	}
	for _, name := range []string{"nenhuma", "sandbox"} {
		if code, _, errs := vigia(
			t,
			"breach",
			"append",
			"--name",
			name,
			"--data",
			data,
			more,
		); code == 0 ||
			!strings.Contains(errs, "there is no breach "+name) {
			t.Error(name, code, errs)
		}
	}
}
