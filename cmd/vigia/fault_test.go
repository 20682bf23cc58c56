package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/polltest"
)

// badCall is a system call that goes wrong: strace counts calls per thread, so the n-th is one of several.
type badCall struct {
	calls string // as strace names them
	how   string // error=EIO, error=ENOSPC or signal=SIGKILL
	when  string // 3: the third; 3+: from the third on
}

func (f badCall) inject() string { return "inject=" + f.calls + ":" + f.how + ":when=" + f.when }

var hows = []string{"error=EIO", "error=ENOSPC", "signal=SIGKILL"}

// TestFaultyCommit makes system calls of a commit fail, or the process die in them. What was acknowledged is there
// afterwards, the database is whole, and a process whose sync failed does not go on.
func TestFaultyCommit(t *testing.T) {
	sweep := []badCall{
		{
			"fsync,fdatasync",
			"error=EIO",
			"1",
		},
		{"pwrite64", "error=EIO", "5"},
		{"pwrite64", "error=ENOSPC", "9"},
		{"fsync,fdatasync", "signal=SIGKILL", "1"},
	}
	if long() {
		sweep = nil
		for _, how := range hows {
			for _, when := range []string{"1", "2", "3", "5", "8", "13", "21+"} {
				sweep = append(sweep, badCall{"fsync,fdatasync", how, when}, badCall{"pwrite64", how, when})
			}
			sweep = append(sweep, badCall{"openat", how, "1+"}, badCall{"ftruncate", how, "1"})
		}
	}
	folder := filepath.Join(t.TempDir(), "data")
	o := &oracle{key: crashPartner(t, folder, "")}
	s := newServer(t, binary(t, ""), folder, "")
	s.start(t)
	defer func() { s.kill() }()
	o.servers = []*server{s}
	met := map[string]int{}
	unmet := func(how string) bool { return met[how] == 0 }
	// Which thread a call is counted for is the runtime's choice, so a fault may miss; then it is tried again.
	for round := 0; round == 0 || round < 5 && slices.ContainsFunc(hows, unmet); round++ {
		for _, f := range sweep {
			if round > 0 && !unmet(f.how) {
				continue
			}
			met[f.how] += o.underFault(t, s, f)
			if t.Failed() {
				return
			}
		}
	}
	verifyAfterCrashes(t, o, "sqlite", folder, len(sweep))
	checkWhole(t, folder)
	for _, how := range hows {
		if met[how] == 0 {
			t.Errorf("%s changed nothing: is the sweep still at the right calls?", how)
		}
	}
	t.Logf("%d faults, %d batches, met %v", len(sweep), o.acked.Load(), met)
}

// underFault writes while a fault is at work, brings the server back if it went, and has what was refused written
// again. It returns how many answers were other than a plain yes.
func (o *oracle) underFault(t *testing.T, s *server, f badCall) (refused int) {
	t.Helper()
	detach := attach(t, s.cmd.Process.Pid, f)
	var open []int64
	for range 8 {
		batch := o.next.Add(1) - 1
		status, answer, err := o.post(s.address, crashBody(batch), fmt.Sprintf("batch-%d", batch))
		switch {
		case err == nil && status == http.StatusOK:
			o.acked.Add(1)
			continue
		case err == nil && status != http.StatusServiceUnavailable:
			t.Errorf("%v: batch %d: %d %.200s", f, batch, status, answer)
		}
		open = append(open, batch)
		refused++
	}
	synced := strings.Contains(f.calls, "sync") && strings.HasPrefix(f.how, "error")
	if refused > 0 && (synced || strings.HasPrefix(f.how, "signal")) {
		ended(t, s, f)
	}
	detach()
	if s.cmd.ProcessState != nil {
		s.start(t)
	}
	for _, batch := range open {
		status, answer, err := o.post(s.address, crashBody(batch), fmt.Sprintf("batch-%d", batch))
		if err != nil || status != http.StatusOK ||
			!strings.Contains(answer, fmt.Sprintf(`"total_created_items":%d,`, crashItems)) {
			t.Errorf("%v: batch %d is not written when all is well again: %d %v %.300s", f, batch, status, err, answer)
		}
		o.acked.Add(1)
		o.retried.Add(1)
	}
	return refused
}

// ended waits for the process to go: after a failed sync it must not write another word.
func ended(t *testing.T, s *server, f badCall) {
	t.Helper()
	gone := make(chan error, 1)
	go func() { gone <- s.cmd.Wait() }()
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Fatalf("%v: the server goes on: %s", f, s.log.String())
	}
}

// attach begins a fault in all threads of a process that runs, and returns what ends it.
func attach(t *testing.T, pid int, f badCall) (detach func()) {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command("strace", "-f", "-o", trace, "-p", strconv.Itoa(pid), "-e", "trace="+f.calls, "-e", f.inject())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var said lockedBuffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal("strace is needed: run scripts/install-tools:", err)
	}
	polltest.Watch(t, func() (string, bool) {
		return fmt.Sprint("strace does not attach:", said.String()), traced(pid, cmd.Process.Pid)
	})
	return func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	}
}

// traced tells whether a tracer holds all threads of a process.
func traced(pid, tracer int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		return false
	}
	for _, name := range threads {
		status, err := os.ReadFile(name)
		if err == nil &&
			!strings.Contains(
				string(status),
				fmt.Sprintf("TracerPid:\t%d\n", tracer),
			) { // one that is gone needs no tracer
			return false
		}
	}
	return true
}

func checkWhole(t *testing.T, folder string) {
	t.Helper()
	if code, out, errs := vigia(t, "check", "--data", folder); code != 0 {
		t.Errorf("vigia check: %d\n%s%s", code, out, errs)
	}
}

// TestFaultyImport makes system calls of an import fail, or the process die in them. The command says so, and the same
// command again ends with what an undisturbed one finds.
func TestFaultyImport(t *testing.T) {
	sweep := []badCall{
		{"fsync,fdatasync", "error=EIO", "3"},
		{"renameat,rename,renameat2", "error=ENOSPC", "1"},
		{"renameat,rename,renameat2", "signal=SIGKILL", "1"},
		{"linkat", "error=ENOSPC", "1"},
		{"linkat", "signal=SIGKILL", "1"},
	} // a segment is published by a link
	if long() {
		sweep = nil
		for _, how := range hows {
			sweep = append(sweep, badCall{"linkat", how, "1"})
			for when := 1; when <= 40; when += 3 {
				sweep = append(sweep, badCall{"openat", how, strconv.Itoa(when)})
			}
			for when := range 8 {
				n := strconv.Itoa(when + 1)
				sweep = append(
					sweep,
					badCall{"fsync,fdatasync", how, n},
					badCall{"renameat,rename,renameat2", how, n},
					badCall{"write,pwrite64", how, n},
				)
			}
		}
	}
	folder := filepath.Join(t.TempDir(), "data")
	crashPartner(t, folder, "")
	var lines strings.Builder
	for n := range 2000 {
		fmt.Fprintf(&lines, "pessoa%d@exemplo.com.br:senha\n", n)
	}
	dump := write(t, filepath.Join(t.TempDir(), "dump.txt"), lines.String())
	failed := 0
	for i, f := range sweep {
		name := fmt.Sprint("loja-", i)
		args := []string{
			"breach",
			"import",
			"--data",
			folder,
			"--name",
			name,
			"--title",
			"Loja",
			"--date",
			"2026-01-02",
			"--exposes",
			"email",
			dump,
		}
		cmd := exec.Command(
			"strace",
			append(
				[]string{"-f", "-o", os.DevNull, "-e", "trace=" + f.calls, "-e", f.inject(), binary(t, "")},
				args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			failed++
			if strings.Contains(string(out), "panic:") {
				t.Errorf("%v: %s", f, out)
			}
		}
		// It may have come through, or died after its work was done: then the name is taken.
		if out, err := exec.Command(binary(t, ""), args...).CombinedOutput(); err != nil && !strings.Contains(string(out), "is already published") {
			t.Errorf("%v: not imported when all is well again: %v %s", f, err, out)
		}
	}
	code, out, errs := vigia(t, "breach", "list", "--data", folder, "--json")
	if published := strings.Count(out, `"published"`); code != 0 || published != len(sweep) {
		t.Errorf("%d of %d breaches are published: %d %s", published, len(sweep), code, errs)
	}
	checkWhole(t, folder)
	if failed == 0 {
		t.Error("no fault met anything: is the sweep still at the right calls?")
	}
	t.Logf("%d faults, %d imports failed and were repeated", len(sweep), failed)
}
