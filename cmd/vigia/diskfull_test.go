package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// smallDisk is a file system of a few megabytes that can be filled and made larger.
type smallDisk struct{ folder string }

// newSmallDisk mounts one. Who owns it is for the caller to say.
func newSmallDisk(t *testing.T, megabytes int) *smallDisk {
	t.Helper()
	// Not t.TempDir: its parents are closed to the user that PostgreSQL runs as.
	folder, err := os.MkdirTemp("", "vigia-disk")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0755", megabytes)); err != nil {
		t.Fatalf(
			"a small file system cannot be mounted, so a full disk cannot be tried: run as root, with the right to "+
				"mount (%v)",
			err,
		)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
		_ = os.Remove(folder)
	})
	return &smallDisk{folder}
}

// fill takes what is left, down to the last page.
func (d *smallDisk) fill(t *testing.T) {
	t.Helper()
	f, err := os.Create(filepath.Join(d.folder, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	_ = f.Close()
}

func (d *smallDisk) grow(t *testing.T, megabytes int) {
	t.Helper()
	if err := syscall.Mount("", d.folder, "", syscall.MS_REMOUNT, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Fatal(err)
	}
}

// TestDiskFull fills the disk under a server that is written to. Meanwhile writes are answered 503 with a time to come
// back and reads 200; when the disk has grown the same process writes again, and nothing acknowledged is missing.
//
// On PostgreSQL the disk that fills is that of the tables. A full disk under its write-ahead log stops the server
// itself, which is what TestPostgresCrash is about.
func TestDiskFull(t *testing.T) {
	const small, large = 24, 256
	t.Run(string(sqldb.SQLite), func(t *testing.T) {
		disk := newSmallDisk(t, small)
		folder := filepath.Join(disk.folder, "data")
		f := &fleet{folder: folder, key: crashPartner(t, folder, "")}
		s := newServer(t, binary(t, ""), folder, "")
		s.start(t)
		t.Cleanup(s.kill)
		f.servers = []*server{s}
		fillAndGrow(t, f, disk, sqldb.SQLite, large)
	})
	t.Run(string(sqldb.PostgreSQL), func(t *testing.T) {
		pg := startPostgres(t, "autovacuum = off")
		disk := newSmallDisk(t, small)
		f := newFleet(t, pg.NewDatabaseIn(t, "small", disk.folder), 2)
		fillAndGrow(t, f, disk, sqldb.PostgreSQL, large)
	})
}

func fillAndGrow(t *testing.T, f *fleet, disk *smallDisk, engine sqldb.Engine, large int) {
	t.Helper()
	o := &oracle{key: f.key, servers: f.servers}
	// One batch is there for certain before the disk fills, to be read then.
	first := ask(
		http.DefaultClient,
		http.MethodPost,
		"http://"+f.servers[0].address+"/v1/subscriptions",
		f.key,
		crashBody(0),
	)
	if first.status != http.StatusOK {
		t.Fatal(first.status, first.err, first.body)
	}
	o.next.Store(1)
	o.acked.Store(1)
	writers := o.persist(t, f.servers)
	defer func() { o.stop.Store(true) }()
	wait := func(what string, until func() bool) {
		t.Helper()
		polltest.Watch(t, func() (string, bool) {
			return fmt.Sprintf("waited for %s: %d batches, %d refused", what, o.acked.Load(), o.retried.Load()), until()
		})
	}
	wait("the first batches", func() bool { return o.acked.Load() >= 4 })
	disk.fill(t)
	// What was free inside the database's own files is used up first: full is when many were refused and none served.
	var acked, refused int64
	wait("a full disk", func() bool {
		if now := o.acked.Load(); now != acked {
			acked, refused = now, o.retried.Load()
		}
		return o.retried.Load() > refused+40
	})
	for _, path := range []string{"/v1/subscriptions", "/v1/subscriptions/ouro/" + madeUpCPF(0), "/v1/cyber/services"} {
		for _, s := range f.servers {
			if got := ask(
				http.DefaultClient,
				http.MethodGet,
				"http://"+s.address+path,
				f.key,
				"",
			); got.status != http.StatusOK {
				t.Errorf("with a full disk %s answers %d %v %.200s", path, got.status, got.err, got.body)
			}
		}
	}
	full := o.retried.Load()
	for _, s := range f.servers {
		// A small write that found room in a page counts as success until the next one is refused.
		wait("a /readyz that tells of the full disk", func() bool {
			return ask(http.DefaultClient, http.MethodGet, "http://"+s.console+"/readyz", "", "").status == http.StatusServiceUnavailable
		})
	}
	disk.grow(t, large)
	start := time.Now()
	wait("a served write", func() bool { return o.acked.Load() > acked })
	took := time.Since(start)
	more := o.acked.Load() + 8
	wait("more of them", func() bool { return o.acked.Load() >= more })
	o.stop.Store(true)
	writers.Wait()
	for _, s := range f.servers {
		if got := ask(
			http.DefaultClient,
			http.MethodGet,
			"http://"+s.console+"/readyz",
			"",
			"",
		); got.status != http.StatusOK {
			t.Errorf("with room again /readyz answers %d %s", got.status, got.body)
		}
		if err := syscall.Kill(s.cmd.Process.Pid, 0); err != nil {
			t.Error("a server did not live through it:", err)
		}
	}
	verifyAfterCrashes(t, o, engine, f.folder, 0)
	t.Logf("full after %d batches, %d writes refused, served %v after the disk grew", acked, full, took)
	if f.admin != nil {
		if err := f.admin.Store.CheckReady(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// TestDiskRefusesWrites: a server whose disk takes no writes says so at /readyz although nobody writes, and is ready
// again when the disk is. On PostgreSQL the file system of the data folder really becomes read-only. Under SQLite the
// open log forbids that, so the system calls are made to fail.
func TestDiskRefusesWrites(t *testing.T) {
	isReady := func(s *server) bool {
		return ask(http.DefaultClient, http.MethodGet, "http://"+s.console+"/readyz", "", "").status == http.StatusOK
	}
	wait := func(t *testing.T, s *server, ready bool) {
		t.Helper()
		polltest.Watch(t, func() (string, bool) {
			return fmt.Sprintf("/readyz never turned to ready=%v", ready), isReady(s) == ready
		})
	}
	t.Run(string(sqldb.SQLite), func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "data")
		s := newServer(t, binary(t, ""), folder, "")
		s.start(t)
		t.Cleanup(s.kill)
		detach := attach(t, s.cmd.Process.Pid, badCall{"pwrite64", "error=EROFS", "1+"})
		wait(t, s, false)
		detach()
		wait(t, s, true)
	})
	t.Run(string(sqldb.PostgreSQL), func(t *testing.T) {
		disk := newSmallDisk(t, 64)
		folder := filepath.Join(disk.folder, "data")
		s := newServer(t, binary(t, ""), folder, storetest.NewAddress(t, sqldb.PostgreSQL, ""))
		s.start(t)
		t.Cleanup(s.kill)
		remount := func(flags uintptr) {
			t.Helper()
			// Refused while a file is open to be written, as that of the server's own look is for a moment.
			for start := time.Now(); ; time.Sleep(time.Millisecond) {
				err := syscall.Mount("", disk.folder, "", syscall.MS_REMOUNT|flags, "")
				if err == nil {
					return
				}
				if !errors.Is(err, syscall.EBUSY) || time.Since(start) > time.Minute {
					t.Fatal(err)
				}
			}
		}
		remount(syscall.MS_RDONLY)
		wait(t, s, false)
		remount(0)
		wait(t, s, true)
	})
}
