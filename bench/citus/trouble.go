package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// workers are the addresses of the cluster's workers.
func workers() (list []*url.URL) {
	for _, address := range strings.Fields(os.Getenv("VIGIA_TEST_CITUS")) {
		list = append(list, load.Must(url.Parse(address)))
	}
	return list
}

// rebalance takes all partners off one worker and brings half of them back, while requests go on.
func rebalance(ctx context.Context, s *side) {
	port := load.Must(strconv.Atoi(workers()[1].Port()))
	for _, step := range []struct {
		name string
		keep bool
	}{{"off one worker", false}, {"back to both", true}} {
		s.writeDuring(ctx, func(w *writer) string {
			time.Sleep(time.Second) // so that there is something under way
			w.slowest.Store(0)
			took := load.Time(1, func() {
				site.Exec(
					ctx,
					s.db,
					`SELECT citus_set_node_property('127.0.0.1', $1, 'shouldhaveshards', $2)`,
					port,
					step.keep,
				)
				site.Exec(ctx, s.db, `SELECT citus_rebalance_start()`)
				site.Exec(ctx, s.db, `SELECT citus_rebalance_wait()`)
			})
			return fmt.Sprintf("rebalance, %-16s %6.1f s", step.name, took.Elapsed.Seconds())
		})
	}
}

func killWorker(ctx context.Context, s *side) {
	killDuring(ctx, s, "a worker", workers()[0].String())
}

func killCoordinator(ctx context.Context, s *side) {
	killDuring(ctx, s, "the coordinator", os.Getenv("VIGIA_TEST_POSTGRES"))
}

// killDuring ends a node as a crash would, brings it back after ten seconds, and sees what came through.
func killDuring(ctx context.Context, s *side, what, address string) {
	server := newNode(ctx, address)
	var back time.Time
	w := s.writeDuring(ctx, func(w *writer) string {
		time.Sleep(2 * time.Second)
		w.slowest.Store(0)
		server.kill()
		died := time.Now()
		time.Sleep(10 * time.Second)
		server.start()
		restarted = append(restarted, server)
		back = time.Now()
		time.Sleep(5 * time.Second)
		return fmt.Sprintf("%s dead for %.1f s", what, back.Sub(died).Seconds())
	})
	for i := range w.tenants {
		t := &w.tenants[i]
		fmt.Printf(
			"       partner %d at %s: %d kept, %d refused with 503, %d not kept; served again %v after the node was "+
				"back\n",
			i+1,
			s.homes.Addresses[i],
			t.kept,
			t.unavailable,
			len(t.unsure),
			max(0, t.lastFailure.Sub(back)).Round(10*time.Millisecond),
		)
	}
}

// writer sends subscriptions of one person for each partner, over and over.
type writer struct {
	*side
	tenants [tenants]writes
	slowest atomic.Int64
}

type writes struct {
	kept, unavailable int
	lastFailure       time.Time
	unsure            []int // people whose request was not answered with 200
}

// writeDuring writes while work is done, and counts. Whoever was not told that a subscription is kept asks again; then
// all there are must be all that were asked for.
func (s *side) writeDuring(ctx context.Context, work func(w *writer) (what string)) *writer {
	w, what := &writer{side: s}, ""
	count := func() int64 { return site.Count(ctx, s.db, `SELECT count(*) FROM subscription`) }
	before := count()
	load.Beside(func() { what = work(w) }, tenants, func(i int) { w.write(ctx, i) })
	var kept, failed int
	for i := range w.tenants {
		t := &w.tenants[i]
		for _, person := range t.unsure {
			s.create(ctx, i, person)
		}
		kept, failed = kept+t.kept, failed+len(t.unsure)
	}
	lost := int64(kept+failed) - (count() - before)
	load.Bar(lost == 0, "%s: %d kept, %d failed, %d lost, slowest %v", what, kept, failed, lost,
		time.Duration(w.slowest.Load()).Round(time.Millisecond))
	return w
}

// write sends one person of a partner.
func (w *writer) write(ctx context.Context, i int) {
	t, person := &w.tenants[i], int(w.person.Add(1))
	began := time.Now()
	status := w.create(ctx, i, person)
	took := int64(time.Since(began))
	for old := w.slowest.Load(); took > old && !w.slowest.CompareAndSwap(old, took); old = w.slowest.Load() {
	}
	if status == http.StatusOK {
		t.kept++
		return
	}
	t.unsure, t.lastFailure = append(t.unsure, person), time.Now()
	if status == http.StatusServiceUnavailable {
		t.unavailable++
		time.Sleep(10 * time.Millisecond)
		return
	}
	load.Bar(false, "partner %d was answered %d", i+1, status)
}

// create asks for a person's subscription.
func (s *side) create(ctx context.Context, i, person int) (status int) {
	status, _, _ = s.tenants[i].Do(ctx, http.MethodPost, "/v1/subscriptions", site.Items(person, person+1, site.Item))
	return status
}

// node is a server of the cluster, which runs as the owner of its folder.
type node struct {
	data, port string
	owner      *syscall.Credential
}

func newNode(ctx context.Context, address string) *node {
	db := load.Must(sqldb.OpenDatabase(ctx, address, sqldb.Options{MaxConns: 1}))
	defer func() { _ = db.Close() }()
	w := &node{}
	load.Check(db.ReadPool().QueryRowContext(ctx, `SELECT current_setting('data_directory'), current_setting('port')`).Scan(&w.data, &w.port))
	if info, ok := load.Must(os.Stat(w.data)).Sys().(*syscall.Stat_t); ok && os.Getuid() == 0 {
		w.owner = &syscall.Credential{Uid: info.Uid, Gid: info.Gid}
	}
	return w
}

// kill ends the server's first process at once; the others notice and go.
func (w *node) kill() {
	note := load.Must(os.ReadFile(filepath.Join(w.data, "postmaster.pid")))
	pid := load.Must(strconv.Atoi(strings.SplitN(string(note), "\n", 2)[0]))
	load.Check(syscall.Kill(pid, syscall.SIGKILL))
}

func (w *node) start() {
	for until := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // what is left of the old one needs a moment to go
		out, err := w.control("start", "-w", "-o", "-p "+w.port, "-l", filepath.Join(filepath.Dir(w.data), "again.log"))
		if err == nil {
			return
		}
		if time.Now().After(until) {
			load.Fail("the node does not start: %w\n%s", err, out)
		}
	}
}

func (w *node) control(what string, more ...string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(os.Getenv("PG_BIN"), "pg_ctl"), append([]string{what, "-D", w.data}, more...)...)
	cmd.Dir, cmd.SysProcAttr = filepath.Dir(w.data), &syscall.SysProcAttr{Credential: w.owner}
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir) // nodes look for certificates there
	return cmd.CombinedOutput()
}
