package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/elastic/go-seccomp-bpf"
)

// withoutConfinement is set for a process that takes Landlock and seccomp from itself and becomes the program that its
// arguments name: what an old kernel, or a container that forbids both, looks like.
const withoutConfinement = "VIGIA_TEST_WITHOUT_CONFINEMENT"

func init() {
	if os.Getenv(withoutConfinement) == "" {
		return
	}
	err := seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{{
			Action: seccomp.ActionErrno | seccomp.Action(syscall.ENOSYS),
			Names:  []string{"seccomp", "landlock_create_ruleset"},
		}},
	}})
	if err == nil {
		err = syscall.Exec(os.Args[1], os.Args[1:], []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()})
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// unconfinedCommand runs the program where nothing can confine its reader.
func unconfinedCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{binary(t, "")}, args...)...)
	cmd.Env = append(os.Environ(), withoutConfinement+"=1")
	return cmd
}

// TestNoDumpIsReadUnconfined: where the system has neither Landlock nor seccomp an import is refused in one sentence,
// and goes on when that is asked for; doctor and a server's log say so; the demo starts and says so.
func TestNoDumpIsReadUnconfined(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	dump := write(t, filepath.Join(t.TempDir(), "dump.txt"), "ana@exemplo.com.br:senha\n")
	load := []string{
		"breach",
		"import",
		"--name",
		"loja",
		"--title",
		"Loja",
		"--date",
		"2026-01-02",
		"--exposes",
		"email",
		"--data",
		data,
		dump,
	}
	const refused = "no dump is read here unless --reader-unconfined is given"
	for _, more := range [][]string{nil, {"--dry-run"}} {
		out, err := unconfinedCommand(t, append(load, more...)...).CombinedOutput()
		if err == nil || strings.Count(string(out), refused) != 1 {
			t.Errorf("%v: %v: %s", more, err, out)
		}
	}
	if out, err := unconfinedCommand(t, "doctor", "--data", data).CombinedOutput(); err == nil || !strings.Contains(string(out), "no dump is read") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := unconfinedCommand(t, append(load, "--reader-unconfined")...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, c := range []struct{ args, want string }{
		{"serve", "no dump is read"},
		{"serve --reader-unconfined", "that nothing confines"},
		{"demo --receiver-listen 127.0.0.1:0", "that nothing confines"},
	} {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		args := append(
			strings.Fields(c.args),
			"--data",
			data+strings.Fields(c.args)[0],
			"--listen",
			"127.0.0.1:0",
			"--console-listen",
			"127.0.0.1:0",
		)
		cmd := unconfinedCommand(t, args...)
		var out lockedBuffer
		cmd.Stdout, cmd.Stderr = &out, &out
		must(t, cmd.Start())
		for !strings.Contains(out.String(), c.want) || strings.HasPrefix(c.args, "demo") && !strings.Contains(out.String(), "Stop with Ctrl-C") {
			select {
			case <-ctx.Done():
				t.Fatalf("%s: %s", c.args, out.String())
			case <-time.After(10 * time.Millisecond):
			}
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait() // how it ends is not the subject
		stop()
	}
	// The control: the same import where there is something to confine with.
	var out bytes.Buffer
	plain := exec.CommandContext(t.Context(), binary(t, ""), "doctor", "--data", data)
	plain.Stdout = &out
	if err := plain.Run(); err != nil || !strings.Contains(out.String(), "confined by Landlock") {
		t.Errorf("%v: %s", err, &out)
	}
}
