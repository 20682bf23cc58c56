package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestPausedReplica stops one of two servers in the middle of a transaction that holds a partner's counter: the
// other one answers the partner again soon, by 200 or meanwhile by 503 with a time to come back.
func TestPausedReplica(t *testing.T) {
	pauses := 2
	if long() {
		pauses = 20
	}
	f := newFleet(t, storetest.NewAddress(t, sqldb.PostgreSQL, ""), 2)
	db, err := sqldb.OpenDatabase(context.Background(), f.database, sqldb.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	paused, other := f.servers[0], f.servers[1]
	var stop atomic.Bool
	var next atomic.Int64
	var writers sync.WaitGroup
	client := &http.Client{Timeout: time.Minute}
	for range 3 { // large requests, most of whose time is in the transaction
		writers.Go(func() {
			for !stop.Load() {
				got := ask(
					client,
					http.MethodPost,
					"http://"+paused.address+"/v1/subscriptions",
					f.key,
					largeBody(next.Add(1)),
				)
				if got.err == nil && got.status != http.StatusOK && got.header.Get("retry-after") == "" {
					t.Errorf("the server that was paused answers %d %.200s", got.status, got.body)
				}
			}
		})
	}
	var slowest time.Duration
	for range pauses {
		pauseHolding(t, db, paused)
		began := time.Now()
		for try := 0; ; try++ {
			got := ask(
				client,
				http.MethodPost,
				"http://"+other.address+"/v1/subscriptions",
				f.key,
				fmt.Sprintf("["+itemJSON+"]", madeUpCPF(50_000_000+next.Add(1))),
			)
			if got.status == http.StatusOK {
				break
			}
			later := got.status == http.StatusServiceUnavailable || got.status == http.StatusConflict
			if got.err != nil || !later || got.header.Get("retry-after") == "" || time.Since(began) > time.Minute {
				t.Errorf("%v after a pause: %d %v %.300s", time.Since(began), got.status, got.err, got.body)
				break
			}
		}
		slowest = max(slowest, time.Since(began))
		if err := paused.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	writers.Wait()
	if slowest > 9*time.Second { // the time-outs of a lock and of an idle transaction together
		t.Errorf("the other replica wrote %v after the pause", slowest)
	}
	t.Logf("%d pauses, the other replica wrote after %v at most", pauses, slowest)
}

// largeBody is a bulk request of 2,000 people.
func largeBody(n int64) string {
	body := make([]byte, 0, 1<<20)
	for i := range int64(2000) {
		body = append(body, ',')
		body = fmt.Appendf(body, itemJSON, madeUpCPF(n*2000+i))
	}
	body[0] = '['
	return string(append(body, ']'))
}

// pauseHolding stops a server at a moment at which one of its sessions holds a counter's row.
func pauseHolding(t *testing.T, db *sqldb.DB, s *server) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		// What the server was still at is over after a moment: what is left waits for the process.
		time.Sleep(100 * time.Millisecond)
		err := db.InTransaction(context.Background(), func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(context.Background(), `SELECT last FROM subscription_counter FOR UPDATE NOWAIT`)
			return err
		})
		if err != nil && !sqldb.IsLockTimeout(err) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the server was never stopped in a transaction")
}

// TestPausedReplicaWithWaiters stops a server while several of its sessions wait for one counter. When the session that
// holds it is ended by the database, the next in the queue is one that nobody drives either. Each must not cost another
// time-out: a session that waits gives up before a holder is ended.
func TestPausedReplicaWithWaiters(t *testing.T) {
	ctx := context.Background()
	f := newFleet(t, storetest.NewAddress(t, sqldb.PostgreSQL, ""), 2)
	db, err := sqldb.OpenDatabase(ctx, f.database, sqldb.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	paused, other := f.servers[0], f.servers[1]
	client := &http.Client{Timeout: time.Minute}
	create := func(s *server, n int64) outcome {
		return ask(
			client,
			http.MethodPost,
			"http://"+s.address+"/v1/subscriptions",
			f.key,
			fmt.Sprintf("["+itemJSON+"]", madeUpCPF(n)),
		)
	}
	suspend := func(s *server, n int64) outcome {
		return ask(
			client,
			http.MethodPost,
			"http://"+s.address+"/v1/subscriptions/ouro/"+madeUpCPF(n)+"/changes",
			f.key,
			`{"move":"suspend"}`,
		)
	}
	const waiters = 3
	for n := range int64(waiters) + 2 {
		if got := create(other, n); got.status != http.StatusOK {
			t.Fatal(got.status, got.err, got.body)
		}
	}
	if got := suspend(other, waiters+1); got.status != http.StatusOK { // makes the counter of events
		t.Fatal(got.status, got.err, got.body)
	}
	var writers sync.WaitGroup
	defer writers.Wait()
	var stopped atomic.Bool
	defer stopped.Store(true)
	err = db.InTransaction(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.ExecContext(ctx, `SELECT last FROM event_counter FOR UPDATE`); err != nil {
			return err
		}
		for n := range int64(waiters) {
			writers.Go(func() {
				for !stopped.Load() { // on a busy machine one gives up before the last has begun to wait
					suspend(paused, n)
					time.Sleep(10 * time.Millisecond)
				}
			})
		}
		const locked = `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
		for waiting := 0; waiting < waiters; time.Sleep(10 * time.Millisecond) { // the idle time-out of this session bounds it
			// A transaction keeps the list of sessions that it saw first, and the waiters' may be younger.
			if _, err := tx.ExecContext(ctx, `SELECT pg_stat_clear_snapshot()`); err != nil {
				return err
			}
			if err := tx.QueryRowContext(ctx, locked).Scan(&waiting); err != nil {
				return err
			}
		}
		stopped.Store(true)
		return paused.cmd.Process.Signal(syscall.SIGSTOP)
	})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for got := suspend(other, waiters); got.status != http.StatusOK; got = suspend(other, waiters) {
		if got.err != nil || got.header.Get("retry-after") == "" {
			t.Errorf("%v after a pause: %d %v %.300s", time.Since(began), got.status, got.err, got.body)
			break
		}
	}
	took := time.Since(began)
	if err := paused.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if took > 9*time.Second { // the time-outs of a lock and of an idle transaction together
		t.Errorf("the other replica wrote %v after the pause", took)
	}
	t.Logf("the other replica wrote %v after the pause", took)
}
