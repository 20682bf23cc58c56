package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReceiverCommands: a receiver is made, shown, given a new secret and removed; its secret is shown when it is made
// and never again.
func TestReceiverCommands(t *testing.T) {
	data, folder := filepath.Join(t.TempDir(), "data"), t.TempDir()
	run := func(args ...string) (int, map[string]any, string) {
		t.Helper()
		code, out, errs := vigia(t, append(args, "--data", data, "--json")...)
		if code != exitOK {
			return code, nil, errs
		}
		return code, decode(t, out), out
	}
	mapping := fileIn(
		t,
		folder,
		"nimbo.yaml",
		[]byte("vigia_mapping: 1\nformat: csv\nfields:\n  contato: email\n  chave: password\n"),
	)
	_, made, text := run("feed", "add", "--name", "nimbo", "--kind", "push", "--mapping", mapping)
	secret, _ := made["secret"].(string)
	if made["target"] != "/supply/nimbo" || !strings.HasPrefix(secret, "whsec_") {
		t.Fatal(text)
	}
	_, shown, text := run("feed", "show", "nimbo")
	if pushes, ok := shown["pushes"].([]any); !ok || len(pushes) != 0 || strings.Contains(text, "whsec_") {
		t.Error(text)
	}
	if _, next, text := run("feed", "rotate", "nimbo"); next["secret"] == secret || !strings.Contains(text, "whsec_") {
		t.Error(text)
	}
	if _, gone, text := run("feed", "remove", "nimbo"); gone["removed"] != true {
		t.Error(text)
	}
	if code, _, errs := run("feed", "show", "nimbo"); code == exitOK {
		t.Error("shown when it is removed:", errs)
	}

	// The same mapping in an import; one that cannot be used says where.
	export := fileIn(t, folder, "nimbo.csv", []byte("de,contato,chave\nx@outro.com,ana@exemplo.com.br,s1\n"))
	_, breach, text := run(
		"breach",
		"import",
		"--mapping",
		mapping,
		"--name",
		"nimbo",
		"--title",
		"Nimbo",
		"--date",
		"2026-01-02",
		export,
	)
	if found, _ := breach["found"].(map[string]any); found["email"] != 1.0 || breach["pairs"] != 1.0 {
		t.Error(text)
	}
	wrong := fileIn(t, folder, "errado.yaml", []byte("vigia_mapping: 1\nformat: csv\nfields:\n  contato: correio\n"))
	for _, args := range [][]string{
		{"breach", "import", "--mapping", wrong, "--name", "outro", "--title", "Outro", "--date", "2026-01-02", export},
		{"feed", "add", "--name", "outro", "--kind", "push", "--mapping", wrong},
	} {
		if code, _, errs := run(
			args...); code == exitOK ||
			!strings.Contains(errs, "line 4: contato: no member of a record is called so") {
			t.Error(args[0], errs)
		}
	}
}
