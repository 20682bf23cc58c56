package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// keyFleet is two servers on one PostgreSQL, each with a folder and a copy of the key file of its own.
type keyFleet struct {
	room, database, key string
	servers             []*server
}

func newKeyFleet(t *testing.T) *keyFleet {
	t.Helper()
	f := &keyFleet{room: t.TempDir(), database: storetest.NewAddress(t, sqldb.PostgreSQL, "")}
	f.key = crashPartner(t, f.data(0), f.database)
	for i := range 2 {
		f.servers = append(f.servers, f.newReplica(t, i))
	}
	return f
}

// data returns the folder of a replica.
func (f *keyFleet) data(i int) string { return filepath.Join(f.room, fmt.Sprint("data", i)) }

// newReplica starts a replica in a folder of its own, with a copy of the first one's root.
func (f *keyFleet) newReplica(t *testing.T, i int) *server {
	t.Helper()
	if i > 0 {
		must(t, os.MkdirAll(f.data(i), 0o700))
		copyRoot(t, filepath.Join(f.data(0), "keys.json"), filepath.Join(f.data(i), "keys.json"))
	}
	s := newServer(t, binary(t, ""), f.data(i), f.database)
	s.args[slices.Index(s.args, "--roles")+1] = "api,worker"
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

func copyRoot(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, raw, 0o600))
}

// command runs a command on the fleet's database by a root.
func (f *keyFleet) command(t *testing.T, keyFile string, args ...string) (code int, out, errs string) {
	t.Helper()
	args = append(args, "--data", filepath.Join(f.room, "admin"), "--database", f.database, "--key-file", keyFile)
	return vigia(t, args...)
}

// mustCommand is command for one that has to succeed.
func (f *keyFleet) mustCommand(t *testing.T, keyFile string, args ...string) string {
	t.Helper()
	code, out, errs := f.command(t, keyFile, args...)
	if code != exitOK {
		t.Fatalf("%v: %d %s %s", args, code, out, errs)
	}
	return out
}

// load writes to both servers and looks up at one what the other has written, until it is stopped.
type load struct {
	oracle   *oracle
	lookedUp atomic.Int64
	running  sync.WaitGroup
}

func (f *keyFleet) startLoad(t *testing.T) *load {
	t.Helper()
	l := &load{oracle: &oracle{key: f.key, servers: f.servers}}
	for range 2 {
		l.running.Go(func() { l.oracle.write(t) })
	}
	client := &http.Client{Timeout: time.Minute}
	l.running.Go(func() {
		for i := int64(0); !l.oracle.stop.Load(); i++ {
			acked := l.oracle.acked.Load()
			if acked == 0 {
				time.Sleep(lookUpPause)
				continue
			}
			// The newest of a batch that is surely acknowledged: the writers are two, so all but the last two are.
			batch := max(0, min(acked, l.oracle.next.Load()-2)-1)
			cpf := madeUpCPF(batch * crashItems)
			s := f.servers[i%2]
			got := ask(client, http.MethodGet, "http://"+s.address+"/v1/subscriptions/ouro/"+cpf, f.key, "")
			switch {
			case got.err == nil && got.status == http.StatusOK && strings.Contains(got.body, cpf):
				l.lookedUp.Add(1)
			case got.err == nil && got.status != http.StatusServiceUnavailable && got.status != http.StatusNotFound:
				t.Errorf("look-up: %d %.200s", got.status, got.body)
				return
			}
			time.Sleep(lookUpPause)
		}
	})
	t.Cleanup(l.stop)
	return l
}

func (l *load) stop() {
	l.oracle.stop.Store(true)
	l.running.Wait()
}

// awaitMore waits until the load has written and read more than now.
func (l *load) awaitMore(t *testing.T) {
	t.Helper()
	acked, looked := l.oracle.acked.Load(), l.lookedUp.Load()
	polltest.Until(t, "a load, without which it proves nothing", func() bool {
		return l.oracle.acked.Load() > acked+2 && l.lookedUp.Load() > looked+2 || t.Failed()
	})
}

// verify looks everybody up who was acknowledged, at each server.
func (f *keyFleet) verify(t *testing.T, batches int64, servers ...*server) {
	t.Helper()
	client := &http.Client{Timeout: time.Minute}
	for _, s := range servers {
		for i := int64(0); i < batches*crashItems; i += 7 {
			cpf := madeUpCPF(i)
			got := ask(client, http.MethodGet, "http://"+s.address+"/v1/subscriptions/ouro/"+cpf, f.key, "")
			if got.status != http.StatusOK || !strings.Contains(got.body, cpf) {
				t.Fatalf("person %d: %d %v %.200s", i, got.status, got.err, got.body)
			}
		}
	}
}

// TestKeysOfTwoReplicas rotates, drops and changes the root while two servers with a folder and a key file each are
// written to and read from; then one is replaced as a pod is, with a fresh folder and the same secret.
func TestKeysOfTwoReplicas(t *testing.T) {
	f := newKeyFleet(t)
	first := filepath.Join(f.data(0), "keys.json")
	was, err := os.ReadFile(first)
	must(t, err)
	l := f.startLoad(t)
	rounds := 1
	if long() {
		rounds = 10
	}
	for range rounds {
		l.awaitMore(t)
		f.mustCommand(t, first, "keys", "rotate")
		l.awaitMore(t)
		f.dropKeys(t, first)
		l.awaitMore(t)
	}
	next := filepath.Join(f.room, "next.json")
	f.mustCommand(t, first, "keys", "root", "--new", next)
	if code, _, errs := f.command(t, next, "keys", "root", "--drop-old"); code == exitOK ||
		!strings.Contains(errs, f.data(1)) {
		t.Errorf("the old root was taken out under servers that need it: %d %s", code, errs)
	}
	for i, s := range f.servers {
		l.awaitMore(t)
		s.stopGently(t)
		own := filepath.Join(f.data(i), "next.json")
		copyRoot(t, next, own)
		s.args = append(s.args, "--key-file", own)
		s.start(t)
	}
	l.awaitMore(t)
	f.mustCommand(t, next, "keys", "root", "--drop-old")
	f.mustCommand(t, next, "keys", "rotate")
	l.awaitMore(t)
	f.dropKeys(t, next)
	l.stop()
	if code, _, errs := f.command(t, first, "keys", "status"); code == exitOK ||
		!strings.Contains(errs, "open under the root") {
		t.Errorf("the former root: %d %s", code, errs)
	}
	if now, err := os.ReadFile(first); err != nil || string(now) != string(was) {
		t.Error("a key file was written by a running service:", err)
	}
	f.servers[0].kill()
	must(t, os.RemoveAll(f.data(0)))
	must(t, os.MkdirAll(f.data(0), 0o700))
	copyRoot(t, next, filepath.Join(f.data(0), "next.json"))
	f.servers[0].start(t)
	f.verify(t, l.oracle.acked.Load(), f.servers...)
	f.mustCommand(t, next, "check")
	t.Logf("%d batches and %d look-ups under rotations, drops and a change of roots, %d requests sent again",
		l.oracle.acked.Load(), l.lookedUp.Load(), l.oracle.retried.Load())
}

// dropKeys drops the old keys as soon as nothing needs them any more.
func (f *keyFleet) dropKeys(t *testing.T, keyFile string) {
	t.Helper()
	polltest.Until(t, "nothing to need the old keys", func() bool {
		code, out, errs := f.command(t, keyFile, "keys", "drop")
		if code != exitOK && !strings.Contains(errs, "seal") && !strings.Contains(errs, "keys") {
			t.Fatal(code, out, errs)
		}
		return code == exitOK
	})
}

// stopGently ends a server as a supervisor does.
func (s *server) stopGently(t *testing.T) {
	t.Helper()
	must(t, s.cmd.Process.Signal(syscall.SIGTERM))
	_ = s.cmd.Wait()
}

// TestStoppedReplicaWakesAfterADrop stops one of two servers in the middle of its writes, rotates, rewrites and drops,
// and lets it go on: nothing is written under the dropped key, and nothing that was acknowledged is lost.
func TestStoppedReplicaWakesAfterADrop(t *testing.T) {
	ctx := context.Background()
	f := newKeyFleet(t)
	a, err := app.OpenApp(ctx, config.Common{
		Data: filepath.Join(f.room, "admin"), Database: f.database, KeyFile: filepath.Join(f.data(0), "keys.json"),
	}, sqldb.Options{MaxConns: 4})
	must(t, err)
	t.Cleanup(func() { _ = a.Close() })
	stopped := f.servers[1]
	o := &oracle{key: f.key, servers: []*server{stopped}}
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() { o.write(t) })
	}
	rounds := 3
	if long() {
		rounds = 30
	}
	for round := range rounds {
		acked := o.acked.Load()
		polltest.Until(t, "writes", func() bool { return o.acked.Load() > acked+3 || t.Failed() })
		must(t, stopped.cmd.Process.Signal(syscall.SIGSTOP))
		must(t, a.Store.Upkeep.RotateKeys(ctx))
		polltest.Until(t, "the keys to be dropped", func() bool {
			// It counts as gone at once; an operator has to wait for that.
			dropped, err := a.Store.Upkeep.DropOldKeys(ctx, time.Nanosecond)
			if err != nil && !errors.Is(err, seal.ErrKeyNeeded) {
				t.Fatal(round, err)
			}
			return err == nil && len(dropped) > 0
		})
		must(t, stopped.cmd.Process.Signal(syscall.SIGCONT))
	}
	acked := o.acked.Load()
	polltest.Until(t, "writes", func() bool { return o.acked.Load() > acked+3 || t.Failed() })
	o.stop.Store(true)
	writers.Wait()
	f.verify(t, o.acked.Load(), f.servers...)
	f.mustCommand(t, filepath.Join(f.data(0), "keys.json"), "check")
	t.Logf("%d batches in %d rounds, %d sent again", o.acked.Load(), rounds, o.retried.Load())
}
