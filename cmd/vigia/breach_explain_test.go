package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestBreachExplain asks what two dumps say of one address: the second has the same password as the first, the third
// another one.
func TestBreachExplain(t *testing.T) {
	const gmail = "@gmail" + ".com"
	data, dumps := filepath.Join(t.TempDir(), "data"), t.TempDir()
	must := func(args ...string) map[string]any {
		t.Helper()
		code, out, errs := vigia(t, append(args, "--data", data, "--json")...)
		if code != 0 {
			t.Fatal(args, code, errs)
		}
		return decode(t, out)
	}
	for name, text := range map[string]string{
		"primeira": "email;senha;cpf\nana@exemplo.com.br;Lua-2019;\nbia@exemplo.com.br;Sol-2020;\n",
		"segunda":  "email;senha\nana@exemplo.com.br;Lua-2019\nbia@exemplo.com.br;\n",
		"terceira": "email;senha\nana@exemplo.com.br;Mar-2024\nca.io+x" + gmail + ";Rio-2024\n",
	} {
		if err := os.WriteFile(filepath.Join(dumps, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"primeira", "segunda", "terceira"} {
		must("breach", "import", "--name", name, "--title", name, "--date", "2026-01-02", filepath.Join(dumps, name))
	}
	first := must("breach", "explain", "--name", "primeira", "--email", "Ana@Exemplo.com.br")
	told, _ := first["told"].(map[string]any)
	exposed, _ := told["exposed"].([]any)
	earlier, _ := first["earlier"].([]any)
	want := maps.Clone(first)
	want["found"], want["news"] = true, true
	difftest.Check(t, "the first breach", first, want)
	want = maps.Clone(told)
	want["basis"], want["passwords"] = "row", 1.0
	difftest.Check(t, "what is told of it", told, want)
	difftest.Check(t, "how much it exposed", len(exposed), 2)
	difftest.Check(t, "how many held it earlier", len(earlier), 0)
	if second := must(
		"breach",
		"explain",
		"--name",
		"segunda",
		"--email",
		"ana@exemplo.com.br",
	); second["news"] != false {
		t.Error("the same password counts as news:", second)
	}
	third := must("breach", "explain", "--name", "terceira", "--email", "ana@exemplo.com.br")
	if before, _ := third["earlier"].([]any); third["news"] != true || len(before) != 2 {
		t.Error("another password does not count as news:", third)
	}
	if none := must(
		"breach",
		"explain",
		"--name",
		"terceira",
		"--email",
		"bia@exemplo.com.br",
	); none["found"] != false {
		t.Error(none)
	}
	caio := must("breach", "explain", "--name", "terceira", "--email", "caio"+gmail)
	if told, _ := caio["told"].(map[string]any); caio["found"] != true ||
		fmt.Sprint(told["leaked_as"]) != "[***.***+***"+gmail+"]" {
		t.Error("another spelling of the same mailbox:", caio)
	}
	// Twice in one row is one record, and text around it is none. The list is long enough to be searched in spans.
	var others strings.Builder
	for i := range 10_000 {
		_, _ = fmt.Fprintf(&others, "pessoa-%d@exemplo.com.br;;\n", i)
	}
	write(
		t,
		filepath.Join(dumps, "lista"),
		"login;email;senha\nana@exemplo.com.br;ana@exemplo.com.br;Lua-2019\nana@exemplo.com.br;;\n"+
			"bia@exemplo.com.br;bia@exemplo.com.br;x\n"+others.String()+"ana@exemplo.com.br;bia@exemplo.com.br;Mar-2024\n",
	)
	write(t, filepath.Join(dumps, "solto"), "escreva para ana@exemplo.com.br, que responde\n")
	write(
		t,
		filepath.Join(dumps, "ditos"),
		`{"vigia_records": 1}`+"\n"+`{"email":["ana@exemplo.com.br","ana@exemplo.com.br"]}`+"\n",
	)
	lists := []string{filepath.Join(dumps, "lista"), filepath.Join(dumps, "solto"), filepath.Join(dumps, "ditos")}
	counted := must(
		append([]string{"breach", "explain", "--name", "segunda", "--email", "ana@exemplo.com.br"}, lists...)...,
	)
	if dump, _ := counted["dump"].(map[string]any); dump["records"] != 4.0 || dump["outside_records"] != 1.0 ||
		counted["found"] != true {
		t.Error(counted)
	}
	_, told2, _ := vigia(
		t,
		append(
			[]string{"breach", "explain", "--data", data, "--name", "terceira", "--email", "bia@exemplo.com.br"},
			lists...)...)
	if !regexp.MustCompile(`(?m)^found +false$`).MatchString(told2) ||
		!regexp.MustCompile(`(?m)^records +2$`).MatchString(told2) {
		t.Error(told2)
	}
	for text, args := range map[string][]string{
		"a dump that is not":  {"--name", "segunda", "--email", "ana@exemplo.com.br", filepath.Join(dumps, "nenhum")},
		"no such breach":      {"--name", "quarta", "--email", "ana@exemplo.com.br"},
		"a value that is not": {"--name", "segunda", "--email", "ana"},
		"two values":          {"--name", "segunda", "--email", "ana@exemplo.com.br", "--phone", "11987654321"},
		"no value":            {"--name", "segunda"},
	} {
		if code, _, _ := vigia(t, append([]string{"breach", "explain", "--data", data}, args...)...); code == 0 {
			t.Error(text, "is explained")
		}
	}
	_, trail, _ := vigia(t, "audit", "list", "--data", data, "--json")
	if !strings.Contains(trail, "breach.explain") || strings.Contains(strings.ToLower(trail), "ana@exemplo") {
		t.Error("the trail lacks the question or has the value:", trail)
	}
}
