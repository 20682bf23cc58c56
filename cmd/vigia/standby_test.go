package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLitestream replicates the SQLite file of a server that is written to, by Litestream as it comes, kills both, and
// serves what Litestream restores: it is whole, and holds what was acknowledged up to three seconds before the kill. It
// runs at full size only: building Litestream takes minutes.
func TestLitestream(t *testing.T) {
	if !long() {
		return
	}
	litestream, err := filepath.Abs("../../bin/litestream")
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		room := t.TempDir()
		folder, replica, standby := filepath.Join(room, "data"), "file://"+filepath.Join(room, "replica"), filepath.Join(room, "standby")
		key := crashPartner(t, folder, "")
		s := newServer(t, binary(t, ""), folder, "")
		s.start(t)
		t.Cleanup(s.kill)
		follower := exec.Command(litestream, "replicate", filepath.Join(folder, "vigia.db"), replica)
		follower.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		var said strings.Builder
		follower.Stdout, follower.Stderr = &said, &said
		if err := follower.Start(); err != nil {
			t.Fatal("make bin/litestream:", err)
		}
		var acked []time.Time // by batch
		for began := time.Now(); time.Since(began) < 15*time.Second; {
			batch := int64(len(acked))
			got := ask(
				http.DefaultClient,
				http.MethodPost,
				"http://"+s.address+"/v1/subscriptions",
				key,
				crashBody(batch),
			)
			if got.status != http.StatusOK {
				t.Fatal(got.status, got.err, got.body)
			}
			acked = append(acked, time.Now())
			time.Sleep(20 * time.Millisecond)
		}
		killed := time.Now()
		_ = follower.Process.Kill()
		_ = follower.Wait()
		s.kill()
		if err := os.Mkdir(standby, 0o700); err != nil {
			t.Fatal(err)
		}
		restored := filepath.Join(standby, "vigia.db")
		if out, err := exec.Command(litestream, "restore", "-o", restored, replica).CombinedOutput(); err != nil {
			t.Fatalf("restore: %v %s\n%s", err, out, said.String())
		}
		keys, err := os.ReadFile(filepath.Join(folder, "keys.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(standby, "keys.json"), keys, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(restored, 0o600); err != nil {
			t.Fatal(err)
		}
		checkWhole(t, standby)
		second := newServer(t, binary(t, ""), standby, "")
		second.start(t)
		t.Cleanup(second.kill)
		due, missing, last := 0, 0, 0
		for batch, at := range acked {
			path := fmt.Sprintf("/v1/subscriptions/ouro/%s", madeUpCPF(int64(batch)*crashItems))
			there := ask(http.DefaultClient, http.MethodGet, "http://"+second.address+path, key, "").status == http.StatusOK
			if there {
				last = batch
			}
			if at.Before(killed.Add(-3 * time.Second)) {
				if due++; !there {
					missing++
				}
			}
		}
		if missing > 0 || due == 0 {
			t.Errorf(
				"%d of %d batches that were acknowledged 3 s before the kill are missing\n%s",
				missing,
				due,
				said.String(),
			)
		}
		t.Logf(
			"round %d: %d batches, the standby ends %v before the kill",
			round,
			len(acked),
			killed.Sub(acked[last]).Round(time.Millisecond),
		)
		second.kill()
	}
}
