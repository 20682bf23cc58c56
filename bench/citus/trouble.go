package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
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
	"github.com/vigiahq/vigia/internal/sqldb"
)

// rebalance takes all partners off one worker and brings half of them back, while requests go on.
func rebalance(ctx context.Context, s *side) {
	admin := load.Must(sqldb.Open(ctx, s.Database, sqldb.Options{StatementTimeout: time.Hour}))
	defer func() { _ = admin.Close() }()
	worker := strings.Fields(os.Getenv("VIGIA_TEST_CITUS"))[1]
	port := load.Must(strconv.Atoi(strings.Split(worker[strings.LastIndex(worker, ":")+1:], "/")[0]))
	for _, step := range []struct {
		name string
		keep bool
	}{{"off one worker", false}, {"back to both", true}} {
		w := s.write(ctx)
		time.Sleep(time.Second) // so that there is something under way
		site.Exec(ctx, admin, `SELECT citus_set_node_property('127.0.0.1', $1, 'shouldhaveshards', $2)`, port, step.keep)
		moved := w.moment()
		begin := time.Now()
		site.Exec(ctx, admin, `SELECT citus_rebalance_start()`)
		site.Exec(ctx, admin, `SELECT citus_rebalance_wait()`)
		took := time.Since(begin)
		fmt.Printf("rebalance, %-16s %6.1f s   %s\n", step.name, took.Seconds(), w.end(moved))
	}
}

// restarted are servers that the script which made them does not know any more.
var restarted []*worker

// kill ends one worker as a crash would, brings it back after five seconds, and sees what came through.
func kill(ctx context.Context, s *side) {
	server := newWorker(ctx, strings.Fields(os.Getenv("VIGIA_TEST_CITUS"))[0])
	w := s.write(ctx)
	time.Sleep(2 * time.Second)
	before := w.moment()
	server.kill()
	died := time.Now()
	time.Sleep(5 * time.Second)
	server.start()
	restarted = append(restarted, server)
	back := time.Now()
	time.Sleep(5 * time.Second)
	fmt.Printf("a worker dead for %.1f s   %s\n", back.Sub(died).Seconds(), w.end(before))
	for i := range w.tenants {
		t := &w.tenants[i]
		fmt.Printf("  partner %d: %d kept, %d refused with 503, %d other failures; served again %v after the worker was back\n",
			i+1, t.kept.Load(), t.unavailable.Load(), t.failed.Load(), max(0, time.Unix(0, t.lastFailure.Load()).Sub(back)).Round(10*time.Millisecond))
	}
}

// writer sends subscriptions of one person for each partner, over and over.
type writer struct {
	s       *side
	stop    context.CancelFunc
	done    chan struct{}
	tenants [tenants]writes
	slowest atomic.Int64
}

type writes struct {
	kept, unavailable, failed, lastFailure atomic.Int64
	total                                  int   // subscriptions before
	unsure                                 []int // people whose request was not answered with 200
}

func (s *side) write(ctx context.Context) *writer {
	ctx, stop := context.WithCancel(ctx)
	w := &writer{s: s, stop: stop, done: make(chan struct{})}
	for i := range w.tenants {
		w.tenants[i].total = s.total(i)
	}
	go func() {
		load.Parallel(tenants, func(i int) {
			for ctx.Err() == nil {
				w.one(i)
			}
		})
		close(w.done)
	}()
	return w
}

// one sends one person.
func (w *writer) one(i int) {
	t, person := &w.tenants[i], int(w.s.person.Add(1))
	begin := time.Now()
	status := w.s.create(i, person)
	took := time.Since(begin)
	for {
		old := w.slowest.Load()
		if int64(took) <= old || w.slowest.CompareAndSwap(old, int64(took)) {
			break
		}
	}
	if status == http.StatusOK {
		t.kept.Add(1)
		return
	}
	t.unsure = append(t.unsure, person)
	t.lastFailure.Store(time.Now().UnixNano())
	if status == http.StatusServiceUnavailable {
		t.unavailable.Add(1)
		time.Sleep(10 * time.Millisecond)
	} else {
		t.failed.Add(1)
	}
}

// moment forgets how slow requests were up to now, and says how many were kept.
func (w *writer) moment() (kept int64) {
	w.slowest.Store(0)
	for i := range w.tenants {
		kept += w.tenants[i].kept.Load()
	}
	return kept
}

// end stops and counts. Whoever was not told that a subscription is kept asks again; then all there are must be all that
// were asked for.
func (w *writer) end(before int64) string {
	slowest := time.Duration(w.slowest.Load())
	w.stop()
	<-w.done
	var kept, failed, lost int
	for i := range w.tenants {
		t := &w.tenants[i]
		for _, person := range t.unsure {
			w.s.create(i, person)
		}
		asked := int(t.kept.Load()) + len(t.unsure)
		kept, failed, lost = kept+int(t.kept.Load()), failed+len(t.unsure), lost+asked-(w.s.total(i)-t.total)
	}
	return fmt.Sprintf("%d kept (%d of them meanwhile), %d failed, %d lost, slowest %v", kept, int64(kept)-before, failed, lost, slowest.Round(time.Millisecond))
}

// create asks for a person's subscription.
func (s *side) create(i, person int) (status int) {
	req := load.Must(http.NewRequest(http.MethodPost, "http://"+s.API+"/v1/subscriptions", bytes.NewReader(site.Items(person, person+1, site.Item))))
	name, value, _ := strings.Cut(s.tenants[i].header, ": ")
	req.Header.Set(name, value)
	req.Header.Set("content-type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// total is how many subscriptions a partner has, counted row by row.
func (s *side) total(i int) (n int) {
	ctx := context.Background()
	db := load.Must(sqldb.Open(ctx, s.Database, sqldb.Options{MaxConns: 1}))
	defer func() { _ = db.Close() }()
	load.Check(db.Reader().QueryRowContext(ctx, `SELECT count(*) FROM subscription WHERE partner_id = $1`, s.tenants[i].id.Number()).Scan(&n))
	return n
}

// worker is a server of the cluster, which runs as the owner of its folder.
type worker struct {
	bin, data string
	port      string
	owner     *syscall.Credential
}

func newWorker(ctx context.Context, address string) *worker {
	db := load.Must(sqldb.Open(ctx, address, sqldb.Options{MaxConns: 1}))
	defer func() { _ = db.Close() }()
	w := &worker{bin: os.Getenv("PG_BIN")}
	load.Check(db.Reader().QueryRowContext(ctx, `SELECT current_setting('data_directory'), current_setting('port')`).Scan(&w.data, &w.port))
	if info, ok := load.Must(os.Stat(w.data)).Sys().(*syscall.Stat_t); ok && os.Getuid() == 0 {
		w.owner = &syscall.Credential{Uid: info.Uid, Gid: info.Gid}
	}
	return w
}

// kill ends the server's first process at once; the others notice and go.
func (w *worker) kill() {
	note := load.Must(os.ReadFile(filepath.Join(w.data, "postmaster.pid")))
	pid := load.Must(strconv.Atoi(strings.SplitN(string(note), "\n", 2)[0]))
	load.Check(syscall.Kill(pid, syscall.SIGKILL))
}

func (w *worker) start() {
	for until := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // what is left of the old one needs a moment to go
		out, err := w.control("start", "-w", "-o", "-p "+w.port, "-l", filepath.Join(filepath.Dir(w.data), "again.log"))
		if err == nil {
			return
		}
		if time.Now().After(until) {
			load.Fail("the worker does not start: %w\n%s", err, out)
		}
	}
}

func (w *worker) stop() { _, _ = w.control("stop", "-m", "immediate") }

func (w *worker) control(what string, more ...string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(w.bin, "pg_ctl"), append([]string{what, "-D", w.data}, more...)...)
	cmd.Dir, cmd.SysProcAttr = filepath.Dir(w.data), &syscall.SysProcAttr{Credential: w.owner}
	return cmd.CombinedOutput()
}
