package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHangupReopensLog: SIGHUP has a server go on in a new log file, as logrotate asks for, and does not stop it. A
// server without a log file takes no notice of it.
func TestHangupReopensLog(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "vigia.log")
	for name, more := range map[string][]string{"with a log file": {"--log-file", file}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, binary(t, ""), filepath.Join(t.TempDir(), "data"), "")
			s.args = append(s.args, more...)
			s.start(t)
			t.Cleanup(s.kill)
			if more != nil {
				if err := os.Rename(file, file+".1"); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			if more != nil {
				eventually(t, "opened anew", func() string { text, _ := os.ReadFile(file); return string(text) })
				got := ask(http.DefaultClient, http.MethodGet, "http://"+s.address+"/v1/cyber/services", "", "")
				if got.err != nil {
					t.Fatal("the server does not answer:", got.err)
				}
				eventually(t, "/cyber/services", func() string { text, _ := os.ReadFile(file); return string(text) })
				if old, err := os.ReadFile(file + ".1"); err != nil || !strings.Contains(string(old), "serving") ||
					strings.Contains(string(old), "/cyber/services") {
					t.Errorf("the file that was moved away: %s %v", old, err)
				}
			}
			for range 50 { // a signal that ends a process does so within moments
				got := ask(http.DefaultClient, http.MethodGet, "http://"+s.console+"/readyz", "", "")
				if got.err != nil || got.status != http.StatusOK {
					t.Fatal("the server is ready no more:", got.status, got.err)
				}
				time.Sleep(10 * time.Millisecond) // between two looks
			}
		})
	}
}
