package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEmptyServerSaysWhatComesNext: a server on an empty folder prints the two commands that come next, which work as
// they stand there; one that finds an installation does not.
func TestEmptyServerSaysWhatComesNext(t *testing.T) {
	program := binary(t, "")
	s := newServer(t, program, filepath.Join(t.TempDir(), "first data"), "")
	s.start(t)
	s.kill()
	commands := regexp.MustCompile(`(?m)^  vigia (.+)$`).FindAllStringSubmatch(s.log.String(), -1)
	if len(commands) != 2 {
		t.Fatal("the two commands that come next are not printed:", s.log.String())
	}
	for i, made := range []string{"/link/", "vg_live_"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", program+" "+commands[i][1]).CombinedOutput()
		if err != nil || !strings.Contains(string(out), made) {
			t.Errorf("%s: %v\n%s", commands[i][1], err, out)
		}
	}
	s.log.Reset()
	s.start(t)
	s.kill()
	if strings.Contains(s.log.String(), "What comes next") {
		t.Error("the installation is there already:", s.log.String())
	}
}
