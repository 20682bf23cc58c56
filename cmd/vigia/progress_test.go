package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestProgress: on a terminal one line changes, never longer than the terminal, and is gone in the end; elsewhere there
// is a line now and then.
func TestProgress(t *testing.T) {
	for _, columns := range []int{0, 30, 200} {
		var w bytes.Buffer
		p := &progress{
			w:       &w,
			columns: columns,
			label:   "import loja",
			unit:    "bytes",
			begin:   time.Now().Add(-10 * time.Second),
		}
		p.setProgress(25_000_000, 100_000_000, "3 emails")
		p.setProgress(26_000_000, 100_000_000, "too soon")
		p.clearLine()
		lines := strings.Split(w.String(), "\r\x1b[K")
		if strings.Contains(w.String(), "too soon") {
			t.Errorf("%d columns: every call is shown: %q", columns, lines)
		}
		const said = "import loja: 25.0 MB of 100.0 MB (25 %), 2.5 MB/s, 30s left, 3 emails"
		switch columns {
		case 0:
			if w.String() != said+"\n" {
				t.Errorf("%q", w.String())
			}
		case 30:
			if len(lines) != 3 || len(lines[1]) != 29 || lines[2] != "" {
				t.Errorf("%q", lines)
			}
		default:
			if len(lines) != 3 || lines[1] != "[=====               ] "+said || lines[2] != "" {
				t.Errorf("%q", lines)
			}
		}
	}
	if got := progressBar(7, 0) + progressBar(3, 2); got != "["+strings.Repeat("=", 20)+"] " {
		t.Errorf("%q", got)
	}
}
