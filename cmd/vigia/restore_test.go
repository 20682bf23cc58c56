package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// killedAt runs the program and kills it at the n-th of some system calls. It reports whether it came so far.
func killedAt(t *testing.T, calls string, n int, args ...string) bool {
	t.Helper()
	f := badCall{calls: calls, how: "signal=SIGKILL", when: strconv.Itoa(n)}
	cmd := exec.Command(
		"strace",
		append([]string{"-f", "-o", os.DevNull, "-e", "trace=" + f.calls, "-e", f.inject(), binary(t, "")}, args...)...,
	)
	return cmd.Run() != nil
}

// TestKilledRestore kills a restore at many of its steps. Until the same command has come to its end nothing serves the
// folder, and afterwards somebody who was erased since the backup is not back.
func TestKilledRestore(t *testing.T) {
	last := 1
	if long() {
		last = 10
	}
	in, _ := lawful(t)
	room := t.TempDir()
	file, erasures := filepath.Join(room, "b.tar.gz"), filepath.Join(in.data, "erasures.jsonl")
	in.ok(t, "backup", file)
	in.ok(t, "subject", "erase", "--cpf", "52998224725", "--reason", "pedido", "--yes")
	kills, unfinished := 0, 0
	for _, calls := range []string{"renameat,rename,renameat2", "fsync,fdatasync", "ftruncate", "unlinkat", "write,pwrite64", "openat"} {
		for n := 1; n <= last; n++ {
			at := n
			if calls == "openat" || calls == "write,pwrite64" {
				at = 20 * n // the first of many are the start of the program
			}
			data := filepath.Join(t.TempDir(), "new")
			command := []string{
				"restore",
				file,
				"--erasures",
				erasures,
				"--key-file",
				filepath.Join(in.data, "keys.json"),
				"--data",
				data,
			}
			if killedAt(t, calls, at, command...) {
				kills++
				_, marked := os.Stat(filepath.Join(data, "restoring"))
				if _, err := os.Stat(filepath.Join(data, "vigia.db")); err == nil && marked == nil {
					unfinished++
				}
				if marked == nil {
					code, _, errs := vigia(
						t,
						"serve",
						"--data",
						data,
						"--key-file",
						filepath.Join(in.data, "keys.json"),
					)
					if code == exitOK || !strings.Contains(errs, "vigia restore") {
						t.Errorf("%s %d: serve on a half restore: %d %s", calls, at, code, errs)
					}
				}
				if code, _, errs := vigia(t, command...); code != exitOK {
					t.Errorf("%s %d: the same command again: %d %s", calls, at, code, errs)
				}
			}
			code, out, _ := vigia(
				t,
				"subject",
				"export",
				"--cpf",
				"52998224725",
				"--data",
				data,
				"--key-file",
				filepath.Join(in.data, "keys.json"),
			)
			if code != exitNotFound {
				t.Errorf("%s %d: an erased person is back: %d %s", calls, at, code, out)
			}
			if left, _ := filepath.Glob(filepath.Join(data, ".restore-*")); len(left) > 0 {
				t.Errorf("%s %d: %v is left", calls, at, left)
			}
		}
	}
	if kills == 0 || unfinished == 0 {
		t.Errorf(
			"%d kills, %d of them with the database in place: is the sweep still at the right calls?",
			kills,
			unfinished,
		)
	}
	t.Logf("%d kills, %d of them with the database in place", kills, unfinished)
}

// TestKilledBackup: what a killed backup leaves is removed by the next one, and no half archive has the name.
func TestKilledBackup(t *testing.T) {
	in, _ := lawful(t)
	room := t.TempDir()
	killed := 0
	for n, calls := range []string{"fsync,fdatasync", "linkat", "unlinkat"} {
		if killedAt(t, calls, 1, "backup", filepath.Join(room, "b"+strconv.Itoa(n)), "--data", in.data) {
			killed++
		}
	}
	in.ok(t, "backup", filepath.Join(room, "last"))
	names, err := os.ReadDir(room)
	if err != nil || killed == 0 {
		t.Fatal(killed, err)
	}
	for _, e := range names {
		if strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("%s is left", e.Name())
			continue
		}
		data := filepath.Join(t.TempDir(), "new")
		if code, _, errs := vigia(
			t,
			"restore",
			filepath.Join(room, e.Name()),
			"--key-file",
			filepath.Join(in.data, "keys.json"),
			"--data",
			data,
		); code != exitOK {
			t.Errorf("%s is not whole: %s", e.Name(), errs)
		}
	}
}
