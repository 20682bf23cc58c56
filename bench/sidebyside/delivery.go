package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/config"
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
func delivery(ctx context.Context, _ *report, folder string) (groups []group) {
	for _, engine := range load.Engines() {
		g := group{Name: "delivery-" + engine, Title: "Delivering events, " + engine, Sides: []string{us, rowSide, batchSide, loopSide}}
		made := 0
		on := func(side string, urls []string, run func(s *scene)) {
			made++
			s := newScene(ctx, site.New(ctx, fmt.Sprintf("%s/%s-%d", folder, engine, made), engine), side, urls)
			err := load.Try(func() { run(s) })
			s.close()
			load.Check(err)
		}
		rate := func(urls []string) func(side string) load.Result {
			return func(side string) (r load.Result) {
				on(side, urls, func(s *scene) { r = s.rate() })
				return r
			}
		}
		g.compare("deliver, one worker, 32 connections", "events/s", 1, load.Result.Rate, rate(paths(1)), batchSide, rowSide, loopSide)
		g.least(loopSide, 0.5)
		g.compare("the same to 100 endpoints", "events/s", 0.8, load.Result.Rate, rate(paths(100)), loopSide)
		never, twice, after, two, hang := map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}
		for _, side := range []string{us, rowSide, batchSide} {
			on(side, paths(1), func(s *scene) { never[side], twice[side], after[side] = s.killed() })
			on(side, paths(1), func(s *scene) { two[side] = s.twoWorkers() })
			on(side, append([]string{"/dead"}, paths(endpoints-1)...), func(s *scene) { hang[side] = s.oneHangs() })
		}
		on(us, nil, func(s *scene) { s.first(ctx) })
		on(us, nil, func(s *scene) { s.beside(ctx) })
		g.add("worker killed and started again: never arrived", "events", never)
		g.add("worker killed and started again: arrived twice", "events", twice)
		g.add("worker killed and started again: all there after", "s", after)
		g.add("two workers at once: arrived twice", "events", two)
		g.Measures = append(g.Measures, measure{
			What: fmt.Sprintf("one of %d endpoints hangs: events for the others there in %.0f s", endpoints, within.Seconds()), Unit: "%", Values: hang,
		})
		groups = append(groups, g)
	}
	return groups
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
	*site.Receiver
	side    string
	slots   int // of each endpoint
	workers []*exec.Cmd
}

func newScene(ctx context.Context, s *site.Service, side string, paths []string) *scene {
	c := &scene{Service: s, Receiver: site.NewReceiver(), side: side, slots: max(1, conns/max(1, len(paths)))}
	if side != us {
		fillQueue(ctx, s, c.URL, paths)
		return c
	}
	var hooks []alert.Endpoint
	for _, path := range paths {
		hooks = append(hooks, s.Hook(ctx, c.URL+path))
	}
	if len(hooks) > 0 {
		s.Publish(ctx, *events, hooks...)
	}
	return c
}

func (c *scene) close() {
	for len(c.workers) > 0 {
		c.kill()
	}
	c.Receiver.Stop()
	c.Service.Close()
}

// work starts a process that delivers, and kill kills the one that was started first.
func (c *scene) work() {
	cmd := load.Self("deliver", c.side, c.Data, strconv.Itoa(c.slots), c.Database)
	load.Check(cmd.Start())
	c.workers = append(c.workers, cmd)
}

func (c *scene) kill() {
	_ = c.workers[0].Process.Kill()
	_ = c.workers[0].Wait()
	c.workers = c.workers[1:]
}

// all waits for all events.
func (c *scene) all() {
	if got := c.Wait(*events, 5*time.Minute); got < *events {
		load.Fail("only %d of %d events arrived", got, *events)
	}
}

// rate is measured from the first arrival to the last, so that the start of the process does not count.
func (c *scene) rate() load.Result {
	c.work()
	first := c.Wait(1, time.Minute)
	return load.Time(*events-first, c.all)
}

// killed kills the worker after a third of the events and starts another one.
func (c *scene) killed() (never, twice, seconds float64) {
	c.work()
	c.Wait(*events/3, time.Minute)
	c.kill()
	took := load.Time(1, func() {
		c.work()
		c.Wait(*events, 3*time.Minute)
	})
	time.Sleep(time.Second) // repeats that are still under way
	c.kill()
	got, repeated := c.Arrived()
	return float64(*events - got), float64(repeated), took.Elapsed.Seconds()
}

// twoWorkers runs two, as two replicas of a service would.
func (c *scene) twoWorkers() float64 {
	c.work()
	c.work()
	c.all()
	time.Sleep(time.Second)
	_, twice := c.Arrived()
	return float64(twice)
}

// oneHangs tells how many per cent of the events for the other endpoints came.
func (c *scene) oneHangs() float64 {
	c.work()
	others := *events / endpoints * (endpoints - 1)
	return 100 * float64(c.Wait(others, within)) / float64(others)
}

// first times the way from an event to its first attempt by a worker that learns of it by looking.
func (c *scene) first(ctx context.Context) {
	c.work()
	took := c.times(ctx, c.Hook(ctx, c.URL))
	p95 := load.Percentile(took, 95)
	load.Bar(p95 < time.Second, "event to first attempt: p50 %v, p95 %v; less than a second", load.Median(took), p95)
}

// times writes events for endpoints in turns, and returns how long each took to its first attempt.
func (c *scene) times(ctx context.Context, hooks ...alert.Endpoint) (took []time.Duration) {
	const probes, pace = 400, 5 * time.Millisecond // the worker is awake but not at its limit
	written, before := map[string]time.Time{}, c.Wait(0, time.Minute)
	for i := range probes {
		id := hooks[i%len(hooks)].Partner
		e := site.NewEvent(id, i)
		written[string(e.ID)] = time.Now()
		load.Check(c.Store.Alerts.AddEvents(ctx, id, e))
		time.Sleep(pace)
	}
	if got := c.Wait(before+probes, time.Minute) - before; got < probes {
		load.Fail("%d of %d events arrived", got, probes)
	}
	for id, at := range written {
		took = append(took, c.First(id).Sub(at))
	}
	return took
}

// beside times events of 99 endpoints without and with one that hangs and has more waiting than all others. Switched
// off it is not there: its events are held.
func (c *scene) beside(ctx context.Context) {
	dead := c.Hook(ctx, c.URL+"/dead")
	c.Publish(ctx, *events, dead)
	var alive []alert.Endpoint
	for _, path := range paths(99) {
		alive = append(alive, c.Hook(ctx, c.URL+path))
	}
	defer c.Dispatch(4)()
	side := func(set func(context.Context, partner.ID, alert.EndpointID) (alert.Endpoint, error)) func() load.Result {
		return func() load.Result {
			load.Must(set(ctx, dead.Partner, dead.ID))
			time.Sleep(time.Second) // so that it hangs, or has stopped to
			took := c.times(ctx, alive...)
			return load.Result{Requests: 1, Elapsed: load.Percentile(took, 95), P50: load.Median(took)}
		}
	}
	took := load.Compare(fmt.Sprintf("%v, event to first attempt at 99 endpoints", c.Service), "times the p95 goes into a second", load.Result.Rate,
		load.Side{Name: "alone", Run: side(c.Webhooks.Disable)}, load.Side{Name: "beside one that hangs", Run: side(c.Webhooks.Enable), Least: 1 / 1.5})
	p95 := load.Median(took[1].Values(func(r load.Result) float64 { return r.Elapsed.Seconds() }))
	load.Bar(p95 <= 2, "the p95 beside %d events for one that hangs: %.3f s; at most 2", *events, p95)
}

// deliver is what the process does until it is killed.
func deliver(ctx context.Context, _ string) {
	side, c := flag.Arg(0), config.Common{Data: flag.Arg(1), Database: flag.Arg(3)}
	if side == us {
		site.Join(ctx, c).Dispatch(load.Must(strconv.Atoi(flag.Arg(2))))
		select {}
	}
	runQueue(ctx, load.Must(sqldb.Open(ctx, c.DatabaseAddress(), sqldb.Options{})), side)
}

// The queue that a team writes in an afternoon: a table of what to post, and a loop that selects, posts and marks as
// done. It posts the same bodies with the same client and time-out over as many connections, and signs them with one
// secret (ours also signs with a public key).
func fillQueue(ctx context.Context, s *site.Service, url string, paths []string) {
	db := s.DB(ctx)
	site.Exec(ctx, db, `CREATE TABLE queue (id BIGINT PRIMARY KEY, event TEXT NOT NULL, url TEXT NOT NULL, body TEXT NOT NULL, done BIGINT NOT NULL)`)
	site.Exec(ctx, db, `CREATE INDEX queue_open ON queue (done, id)`)
	site.LoadRows(ctx, db, "queue", "id event url body done", 0, int64(*events)-1, func(i int64) ([]any, error) {
		e := site.NewEvent(s.Partner.ID, int(i))
		body, err := e.Body()
		return []any{i, string(e.ID), url + paths[int(i)%len(paths)], string(body), int64(0)}, err
	})
}

type queued struct {
	id               int64
	event, url, body string
}

// runQueue works until the process is killed. The plain loop reads all at once, signs as ours does and marks nothing.
func runQueue(ctx context.Context, db *sqldb.DB, side string) {
	client, most := site.Guard.Client(webhook.ClientOptions{}), 100
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
				out := webhook.Send(ctx, client, webhook.Attempt{URL: q.url, EventID: q.event, At: time.Now(), Body: []byte(q.body), Keys: keys})
				switch {
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
	rows := load.Must(db.Reader().QueryContext(ctx, `SELECT id, event, url, body FROM queue WHERE done = 0 ORDER BY id LIMIT $1`, most))
	defer rows.Close()
	for rows.Next() {
		var q queued
		load.Check(rows.Scan(&q.id, &q.event, &q.url, &q.body))
		list = append(list, q)
	}
	load.Check(rows.Err())
	return list
}

func markDone(ctx context.Context, db *sqldb.DB, ids ...int64) {
	site.Exec(ctx, db, `UPDATE queue SET done = 1 WHERE id IN (`+strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")+`)`)
}
