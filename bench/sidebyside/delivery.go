package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/webhook"
)

const (
	rowSide, batchSide = "queue, row by row", "queue, in batches"
	loopSide           = "plain loop" // posts and remembers nothing
	endpoints          = 10
	within             = 10 * time.Second
	conns              = 32
)

// delivery compares the dispatcher with a table queue, each in processes of its own, on both engines.
func delivery(ctx context.Context, r *report) {
	load.Each(func(engine string) {
		g := r.group("delivery-"+engine, "Delivering events, "+engine, rowSide, batchSide, loopSide)
		on := func(side string, urls []string, run func(s *scene)) {
			load.Scope(func() { run(newScene(ctx, g, site.New(ctx, engine), side, urls)) })
		}
		rate := func(urls []string) func(side string) load.Result {
			return func(side string) (r load.Result) {
				on(side, urls, func(s *scene) { r = s.rate() })
				return r
			}
		}
		judge := g.compare("deliver, one worker, 32 connections", "events/s", 1, load.Result.Rate, rate(paths(1)),
			batchSide, rowSide, loopSide)
		judge(loopSide, 0.5)
		g.compare("the same to 100 endpoints", "events/s", 0.8, load.Result.Rate, rate(paths(100)), loopSide)
		for _, side := range []string{us, rowSide, batchSide} {
			on(side, paths(1), (*scene).killed)
			on(side, paths(1), (*scene).twoWorkers)
			on(side, append([]string{"/dead"}, paths(endpoints-1)...), (*scene).oneHangs)
		}
		on(us, nil, func(s *scene) { s.first(ctx) })
		on(us, nil, func(s *scene) { s.beside(ctx) })
	})
}

// paths are those of n endpoints.
func paths(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint("/", i))
	}
	return list
}

// scene is a database with events for endpoints and no worker yet.
type scene struct {
	*site.Service
	*receiver
	g     *group
	side  string
	slots int // of each endpoint
}

func newScene(ctx context.Context, g *group, s *site.Service, side string, paths []string) *scene {
	c := &scene{Service: s, receiver: newReceiver(), g: g, side: side, slots: max(1, conns/max(1, len(paths)))}
	switch {
	case side != us:
		fillQueue(ctx, s, c.URL, paths)
	case len(paths) > 0:
		c.publish(ctx, c.hooks(ctx, paths...)...)
	}
	return c
}

// add is a figure of the scene's side.
func (c *scene) add(what, unit string, v float64) { c.g.add(what, unit, map[string]float64{c.side: v}) }

// work starts a process that delivers until it is killed.
func (c *scene) work() (kill func()) {
	cmd := load.Self("deliver", c.side, c.Data, strconv.Itoa(c.slots), c.Database)
	load.Check(cmd.Start())
	kill = sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	load.Defer(kill)
	return kill
}

// all waits for all events.
func (c *scene) all() {
	if got := c.wait(*events, 5*time.Minute); got < *events {
		load.Fail("only %d of %d events arrived", got, *events)
	}
}

// rate is measured from the first arrival to the last, so that the start of the process does not count.
func (c *scene) rate() load.Result {
	c.work()
	first := c.wait(1, time.Minute)
	return load.Time(*events-first, c.all)
}

// killed kills the worker after a third of the events and starts another one.
func (c *scene) killed() {
	kill := c.work()
	c.wait(*events/3, time.Minute)
	kill()
	took := load.Time(1, func() {
		kill = c.work()
		c.wait(*events, 3*time.Minute)
	})
	time.Sleep(time.Second) // repeats that are still under way
	kill()
	got, repeated := c.arrived()
	c.add("worker killed and started again: never arrived", "events", float64(*events-got))
	c.add("worker killed and started again: arrived twice", "events", float64(repeated))
	c.add("worker killed and started again: all there after", "s", took.Elapsed.Seconds())
}

// twoWorkers runs two, as two replicas of a service would.
func (c *scene) twoWorkers() {
	c.work()
	c.work()
	c.all()
	time.Sleep(time.Second)
	_, twice := c.arrived()
	c.add("two workers at once: arrived twice", "events", float64(twice))
}

// oneHangs tells how many per cent of the events for the other endpoints came.
func (c *scene) oneHangs() {
	c.work()
	others := *events / endpoints * (endpoints - 1)
	what := fmt.Sprintf("one of %d endpoints hangs: events for the others there in %.0f s", endpoints, within.Seconds())
	c.add(what, "%", 100*float64(c.wait(others, within))/float64(others))
}

// first times the way from an event to its first attempt by a worker that learns of it by looking.
func (c *scene) first(ctx context.Context) {
	c.work()
	took := c.times(ctx, c.hooks(ctx, ""))
	p95 := load.Percentile(took, 95)
	load.Bar(p95 < time.Second, "event to first attempt: p50 %v, p95 %v; less than a second", load.Median(took), p95)
}

// times writes events for endpoints in turns, and returns how long each took to its first attempt.
func (c *scene) times(ctx context.Context, hooks []alert.Endpoint) (took []time.Duration) {
	const probes, pace = 400, 5 * time.Millisecond // the worker is awake but not at its limit
	written, before := map[string]time.Time{}, c.wait(0, time.Minute)
	for i := range probes {
		e := newEvent(hooks[i%len(hooks)].Partner, i)
		written[string(e.ID)] = time.Now()
		load.Check(c.Store.Alerts.AddEvents(ctx, e.Partner, e))
		time.Sleep(pace)
	}
	if got := c.wait(before+probes, time.Minute) - before; got < probes {
		load.Fail("%d of %d events arrived", got, probes)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, at := range written {
		took = append(took, c.seen[id][0].Sub(at))
	}
	return took
}

// beside times events of 99 endpoints without and with one that hangs and has more waiting than all others. Switched
// off it is not there: its events are held.
func (c *scene) beside(ctx context.Context) {
	dead := c.hooks(ctx, "/dead")[0]
	c.publish(ctx, dead)
	alive := c.hooks(ctx, paths(99)...)
	load.Defer(dispatch(c.Service, 4))
	side := func(set func(context.Context, partner.ID, alert.EndpointID) (alert.Endpoint, error)) func() load.Result {
		return func() load.Result {
			load.Must(set(ctx, dead.Partner, dead.ID))
			time.Sleep(time.Second) // so that it hangs, or has stopped to
			took := c.times(ctx, alive)
			return load.Result{Requests: 1, Elapsed: load.Percentile(took, 95), P50: load.Median(took)}
		}
	}
	took := load.Compare(fmt.Sprintf("%v, event to first attempt at 99 endpoints", c.Service), "times the p95 goes into a second",
		load.Result.Rate, load.Side{Name: "alone", Run: side(c.Webhooks.DisableEndpoint)},
		load.Side{Name: "beside one that hangs", Run: side(c.Webhooks.EnableEndpoint), Least: 1 / 1.5})
	p95 := load.Median(took[1].Values(func(r load.Result) float64 { return r.Elapsed.Seconds() }))
	load.Bar(p95 <= 2, "the p95 beside %d events for one that hangs: %.3f s; at most 2", *events, p95)
}

// guard lets webhooks reach this machine.
var guard = webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})

// newEvent is an alert of the usual size about a person of its own.
func newEvent(id partner.ID, n int) alert.Event {
	user := partner.UserHash(fmt.Sprintf("%064x", n))
	return load.Must(alert.NewEvent(id, alert.LeakDetected, user, time.Now(), alert.Leak{Findings: []alert.LeakFinding{{
		ID: "0198c0de-7a00-7000-8000-0000000000d1", Asset: "0198c0de-7a00-7000-8000-000000000001", Kind: "email",
		Status: cyber.Status("comprometido"), Breach: "loja-exemplo", Severity: cyber.Severity("high"),
	}}}))
}

// hooks gives partners of their own an endpoint each.
func (c *scene) hooks(ctx context.Context, paths ...string) (list []alert.Endpoint) {
	for _, path := range paths {
		p, _ := c.NewPartner(ctx, site.NoLimits)
		list = append(list, load.Must(c.Webhooks.CreateEndpoint(ctx, p.ID, c.URL+path, nil, guard)))
	}
	return list
}

// publish writes all events for endpoints, in turns.
func (c *scene) publish(ctx context.Context, hooks ...alert.Endpoint) {
	const batch = 50
	for done := 0; done < *events; done += batch {
		var some []alert.Event
		id := hooks[done/batch%len(hooks)].Partner
		for i := done; i < min(done+batch, *events); i++ {
			some = append(some, newEvent(id, i))
		}
		load.Check(c.Store.Alerts.AddEvents(ctx, id, some...))
	}
}

// dispatch starts a dispatcher with that many slots for an endpoint and no rate limit.
func dispatch(s *site.Service, slots int) (stop func()) {
	rule := webhook.DefaultGate
	rule.Concurrent, rule.PerSecond = slots, 0
	client := guard.NewClient(webhook.ClientOptions{})
	d := alert.NewDispatcher(s.Store.Alerts, client, time.Now, slog.New(slog.DiscardHandler), alert.DispatcherOptions{
		Gate: rule, NextTry: webhook.NewSchedule(func() float64 { return 0.5 }).NextAttempt,
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.Run(ctx); close(done) }()
	return func() { cancel(); <-done; client.CloseIdleConnections() }
}

// receiver counts the arrivals of each event. Paths that begin with /dead never answer.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	seen  map[string][]time.Time
	twice int
}

func newReceiver() *receiver {
	r := &receiver{seen: map[string][]time.Time{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		if strings.HasPrefix(q.URL.Path, "/dead") {
			<-q.Context().Done()
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		id := q.Header.Get("webhook-id")
		if r.seen[id] = append(r.seen[id], time.Now()); len(r.seen[id]) == 2 {
			r.twice++
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	load.Defer(func() { r.CloseClientConnections(); r.Close() }) // with what hangs
	return r
}

// arrived is how many events came, and how many of them more than once.
func (r *receiver) arrived() (once, twice int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen), r.twice
}

// wait returns how many events have come when there are n, or when the time is over.
func (r *receiver) wait(n int, limit time.Duration) (got int) {
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		if got, _ = r.arrived(); got >= n {
			break
		}
	}
	return got
}

// deliver is what the process does until it is killed.
func deliver(ctx context.Context) {
	side, c := flag.Arg(0), config.Common{Data: flag.Arg(1), Database: flag.Arg(3)}
	if side == us {
		dispatch(site.Open(ctx, c), load.Must(strconv.Atoi(flag.Arg(2))))
		select {}
	}
	runQueue(ctx, load.Must(sqldb.OpenDatabase(ctx, c.DatabaseAddress(), sqldb.Options{})), side)
}

// The queue that a team writes in an afternoon: a table of what to post, and a loop that selects, posts and marks as
// done. It posts the same bodies with the same client and time-out over as many connections, and signs them with one
// secret (ours also signs with a public key).
func fillQueue(ctx context.Context, s *site.Service, url string, paths []string) {
	db := s.DB(ctx)
	site.Exec(ctx, db, `CREATE TABLE queue (id BIGINT PRIMARY KEY, event TEXT NOT NULL, url TEXT NOT NULL, body TEXT NOT NULL,
		done BIGINT NOT NULL)`)
	site.Exec(ctx, db, `CREATE INDEX queue_open ON queue (done, id)`)
	site.LoadRows(ctx, db, "queue", "id event url body done", 0, int64(*events)-1, func(i int64) ([]any, error) {
		e := newEvent(s.Partner.ID, int(i))
		body, err := e.MarshalBody()
		return []any{i, string(e.ID), url + paths[int(i)%len(paths)], string(body), int64(0)}, err
	})
}

type queued struct {
	id int64
	webhook.Attempt
}

// runQueue works until the process is killed. The plain loop reads all at once, signs as ours does and marks nothing.
func runQueue(ctx context.Context, db *sqldb.DB, side string) {
	client, most := guard.NewClient(webhook.ClientOptions{}), 100
	keys := []webhook.Key{load.Must(webhook.NewSecret(rand.Reader))}
	if side == loopSide {
		keys, most = append(keys, load.Must(webhook.NewSigningKey(rand.Reader))), 1<<30
	}
	for {
		batch := selectOpen(ctx, db, most)
		if len(batch) == 0 {
			time.Sleep(100 * time.Millisecond)
		}
		var next atomic.Int64
		sent := make([][]int64, conns)
		load.Parallel(conns, func(w int) {
			for i := next.Add(1) - 1; i < int64(len(batch)); i = next.Add(1) - 1 {
				q := batch[i]
				q.At, q.Keys = time.Now(), keys
				switch out := webhook.SendAttempt(ctx, client, q.Attempt); {
				case out.Status != http.StatusNoContent:
				case side == batchSide:
					sent[w] = append(sent[w], q.id)
				case side == rowSide:
					_ = load.Try(func() { markDone(ctx, db, q.id) }) // it stays open and is sent again
				}
			}
		})
		if done := slices.Concat(sent...); len(done) > 0 {
			markDone(ctx, db, done...)
		}
		if side == loopSide {
			select {}
		}
	}
}

func selectOpen(ctx context.Context, db *sqldb.DB, most int) (list []queued) {
	rows := load.Must(db.ReadPool().QueryContext(ctx, `SELECT id, event, url, body FROM queue WHERE done = 0 ORDER BY id LIMIT $1`, most))
	defer rows.Close()
	for rows.Next() {
		var q queued
		load.Check(rows.Scan(&q.id, &q.EventID, &q.URL, &q.Body))
		list = append(list, q)
	}
	load.Check(rows.Err())
	return list
}

func markDone(ctx context.Context, db *sqldb.DB, ids ...int64) {
	site.Exec(ctx, db, `UPDATE queue SET done = 1 WHERE id IN (`+strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")+`)`)
}
