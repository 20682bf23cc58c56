package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestAnswerWaitsForTheDisk watches the system calls of the server while it creates subscriptions: before an answer
// goes out, whatever was written to the database's log has to be synced. Killing a process cannot show this, because
// the system keeps what was written; only a power cut would. A build that does not sync must be found out.
func TestAnswerWaitsForTheDisk(t *testing.T) {
	answers := 20
	if long() {
		answers = 200
	}
	if err := watchSyncs(t, binary(t, ""), answers); err != nil {
		t.Error(err)
	}
	if !long() {
		return
	}
	// That the watcher finds a build out that does not sync takes another build of nearly everything.
	if err := watchSyncs(t, binary(t, "nosync"), answers); !errors.Is(err, errNotSynced) {
		t.Error("the build without syncing was not found out:", err)
	}
}

var errNotSynced = errors.New("an answer went out before what it promised was on disk")

// watchSyncs runs a server under strace, sends single subscriptions one after the other, and judges the trace.
func watchSyncs(t *testing.T, binary string, answers int) error {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "data")
	o := &oracle{key: crashPartner(t, folder, "")}
	trace := filepath.Join(t.TempDir(), "trace")
	s := newServer(t, binary, folder, "", "strace", "-f", "-y", "-s", "4096", "-o", trace,
		"-e", "trace=write,writev,pwrite64,pwritev,sendto,sendmsg,fsync,fdatasync,sync_file_range")
	s.start(t)
	for n := range answers {
		body := "[" + strings.TrimSpace(fmt.Sprintf(itemJSON, madeUpCPF(int64(n)))) + "]"
		status, answer, err := o.post(s.address, body, fmt.Sprintf("one-%d", n))
		if err != nil || status != http.StatusOK || !strings.Contains(answer, `"total_created_items":1,`) {
			t.Fatal(status, answer, err)
		}
	}
	t.Cleanup(s.kill)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // the last lines come after the last answer
		f, err := os.Open(trace)
		if err != nil {
			t.Fatal(err)
		}
		err = judgeTrace(f, answers)
		_ = f.Close()
		if err == nil || errors.Is(err, errNotSynced) || time.Now().After(deadline) {
			return err
		}
	}
}

// TestRootWaitsForTheDisk watches a first start: the key file is written and synced before it takes its name, and its
// folder is synced after, before the ring that it opens is in the database. Otherwise a power cut could leave an empty key
// file, or none, beside values that nobody can open.
func TestRootWaitsForTheDisk(t *testing.T) {
	folder, keys := filepath.Join(t.TempDir(), "data"), t.TempDir()
	trace := filepath.Join(t.TempDir(), "trace")
	file := filepath.Join(keys, "keys.json")
	calls := "trace=write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat"
	out, err := exec.CommandContext(t.Context(), "strace", "-f", "-y", "-s", "200", "-o", trace, "-e", calls,
		binary(t, ""), "migrate", "--data", folder, "--key-file", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	file = regexp.QuoteMeta(file)
	order := `(?s)write\(\d+<` + file + `\.tmp>.*f(?:data)?sync\(\d+<` + file + `\.tmp>.*(?:rename|link)\w*\([^\n]*` + file +
		`".*fsync\(\d+<` + regexp.QuoteMeta(keys) + `>.*pwrite64\(\d+<[^>]*vigia\.db-wal>`
	if !regexp.MustCompile(order).Match(text) {
		t.Errorf("not written, synced, named, the folder synced, and then the database, in this order:\n%s", text)
	}
}

// TestFoldersWaitForTheDisk watches a first start: every folder that it makes is synced in the one above it. Otherwise
// a power cut could take away a folder in which files were synced with care.
func TestFoldersWaitForTheDisk(t *testing.T) {
	parent := t.TempDir()
	folder := filepath.Join(parent, "data")
	trace := filepath.Join(t.TempDir(), "trace")
	out, err := exec.CommandContext(t.Context(), "strace", "-f", "-y", "-o", trace, "-e", "trace=mkdir,mkdirat,fsync",
		binary(t, ""), "migrate", "--data", folder).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	corpora := filepath.Join(folder, "corpora")
	for _, made := range []string{folder, corpora, filepath.Join(corpora, "leak"), filepath.Join(corpora, "password")} {
		order := `(?s)mkdir\w*\([^\n]*"` + regexp.QuoteMeta(made) + `".*fsync\(\d+<` + regexp.QuoteMeta(filepath.Dir(made)) + `>`
		if !regexp.MustCompile(order).Match(text) {
			t.Errorf("%s was made and %s not synced:\n%s", made, filepath.Dir(made), text)
		}
	}
}

// call is a line of the trace: a thread, then a call with the file it is about, or the rest of one that took a while.
var (
	began   = regexp.MustCompile(`^(\d+) +(\w+)\((\d+)<([^>]*)>(.*)$`)
	resumed = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>`)
)

// judgeTrace makes sure that the log was written and then synced before each of the answers. A write to the log counts
// from its begin, a sync from its end.
func judgeTrace(f *os.File, answers int) error {
	written, synced, seen := false, false, 0
	syncing := map[string]bool{} // threads inside a sync of the log that began after its last write
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := resumed.FindStringSubmatch(line); m != nil {
			if strings.HasSuffix(m[2], "sync") && syncing[m[1]] {
				synced = true
			}
			delete(syncing, m[1])
			continue
		}
		m := began.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		thread, name, file, rest := m[1], m[2], m[4], m[5]
		switch {
		case strings.HasSuffix(file, "vigia.db-wal") && strings.HasSuffix(name, "sync"):
			if strings.Contains(rest, "unfinished") {
				syncing[thread] = true
			} else {
				synced = true
			}
		case strings.HasSuffix(file, "vigia.db-wal"):
			written, synced = true, false
			clear(syncing) // a sync that had begun does not cover this write
		case strings.Contains(rest, `"HTTP/1.1 200 OK`) && strings.Contains(rest, "total_created_items") && (strings.Contains(file, "TCP") || strings.Contains(file, "socket")):
			if !written || !synced {
				return fmt.Errorf("%w: answer %d", errNotSynced, seen+1)
			}
			written, synced = false, false
			seen++
		}
	}
	if seen < answers {
		return fmt.Errorf(
			"the trace shows %d answers to writes, want %d: is the watch still looking at the right calls?",
			seen,
			answers,
		)
	}
	return lines.Err()
}
