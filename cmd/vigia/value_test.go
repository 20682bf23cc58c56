package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestValuesNeedNoCommandLine: a value comes from the flag, from standard input or from a file, and a missing one is an
// error that does not repeat anything.
func TestValuesNeedNoCommandLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpf")
	if err := os.WriteFile(file, []byte("  from the file \nsecond line"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ flag, stdin, want string }{
		{"from the flag", "x", "from the flag"}, {"-", " from standard input\nmore", "from standard input"}, {"@" + file, "x", "from the file"}, {"", "x", ""},
	} {
		if got, err := personalValue(c.flag, strings.NewReader(c.stdin)); err != nil || got != c.want {
			t.Errorf("%q: %q, %v", c.flag, got, err)
		}
	}
	for _, flag := range []string{"-", "@" + file + "x"} {
		if got, err := personalValue(flag, strings.NewReader("\n")); err == nil {
			t.Errorf("%q: %q", flag, got)
		}
	}
}
