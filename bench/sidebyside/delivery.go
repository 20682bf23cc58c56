package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/partner"
)

const (
	rowSide, batchSide = "queue, row by row", "queue, in batches"
	endpoints          = 10
	within             = 10 * time.Second
)

// delivery compares the dispatcher with a table queue, each in processes of its own, on both engines.
func delivery(ctx context.Context, r *report, _ string) (groups []group) {
	sides := []string{us, rowSide, batchSide}
	for _, engine := range site.Engines("") {
		d := &deliveries{events: r.Options.Events, engine: engine}
		rate := rounds(r.Options.Rounds, measure{What: "deliver, one worker, 32 connections", Unit: "events/s"}, sides,
			func(side string) float64 { return d.rate(ctx, side) })
		lost := func(what, unit string) measure {
			return measure{What: what, Unit: unit, Lower: true, Values: map[string]float64{}}
		}
		killed := []measure{
			lost("worker killed and started again: never arrived", "events"), lost("worker killed and started again: arrived twice", "events"),
			lost("worker killed and started again: all there after", "s"),
		}
		two := lost("two workers at once: arrived twice", "events")
		dead := measure{
			What: fmt.Sprintf("one of %d endpoints hangs: events for the others there in %.0f s", endpoints, within.Seconds()), Unit: "%", Values: map[string]float64{},
		}
		for _, side := range sides {
			for i, value := range d.kill(ctx, side) {
				killed[i].Values[side] = value
			}
			two.Values[side], dead.Values[side] = d.two(ctx, side), d.dead(ctx, side)
		}
		groups = append(groups, group{Name: "delivery-" + engine, Title: "Delivering events, " + engine, Sides: sides, Measures: append(append([]measure{rate}, killed...), two, dead)})
	}
	return groups
}

type deliveries struct {
	events int
	engine string
}

// receiver counts the arrivals of each event. Paths that begin with /dead never answer.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string]int
	over chan struct{}
}

func newReceiver() *receiver {
	r := &receiver{seen: map[string]int{}, over: make(chan struct{})}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasPrefix(q.URL.Path, "/dead") {
			select {
			case <-r.over:
			case <-q.Context().Done():
			}
			return
		}
		_, _ = io.Copy(io.Discard, q.Body)
		r.mu.Lock()
		r.seen[q.Header.Get("webhook-id")]++
		r.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}))
	return r
}

func (r *receiver) stop() {
	close(r.over)
	r.CloseClientConnections()
	r.Close()
}

// arrived is how many events came, and how many of them more than once.
func (r *receiver) arrived() (once, twice int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.seen {
		if n > 1 {
			twice++
		}
	}
	return len(r.seen), twice
}

// all fails unless n events have come.
func (r *receiver) all(n int) int {
	once, _ := r.arrived()
	if once < n {
		load.Fail("only %d of %d events arrived", once, n)
	}
	return once
}

// wait returns when n events have come, or the time is over.
func (r *receiver) wait(n int, limit time.Duration) {
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		if got, _ := r.arrived(); got >= n {
			return
		}
	}
}

// scene is a database with events for endpoints, of which the first may be dead, and no worker yet.
func (d *deliveries) scene(ctx context.Context, side string, dead bool) (s *site.Site, in *receiver, over func()) {
	s, in = site.Open(ctx, d.engine), newReceiver()
	urls := []string{in.URL}
	if dead {
		urls = []string{in.URL + "/dead"}
		for i := 1; i < endpoints; i++ {
			urls = append(urls, fmt.Sprintf("%s/%d", in.URL, i))
		}
	}
	if side == us {
		fillOutbox(ctx, s, urls, d.events)
	} else {
		fillQueue(ctx, s, urls, d.events)
	}
	return s, in, func() { in.stop(); s.Close() }
}

// fillOutbox gives each endpoint a partner and writes the events in turns.
func fillOutbox(ctx context.Context, s *site.Site, urls []string, events int) {
	ids := make([]partner.ID, len(urls))
	for i, url := range urls {
		ids[i] = s.NewPartner(ctx)
		load.Must(s.Endpoints.Create(ctx, ids[i], url, nil, site.Guard))
	}
	const batch = 50
	for done := 0; done < events; done += batch * len(urls) {
		for _, id := range ids {
			s.Publish(ctx, id, batch)
		}
	}
}

// worker starts a process that delivers.
func worker(side string, s *site.Site) *exec.Cmd {
	cmd := load.Self("-child", side, s.Folder, s.Address)
	load.Check(cmd.Start())
	return cmd
}

func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// deliver is what the process does until it is killed.
func deliver(ctx context.Context, side string, args []string) {
	s := site.Join(ctx, args[0], args[1])
	if side == us {
		s.Dispatch(32)
		select {}
	}
	runQueue(ctx, s.DB, side == batchSide)
}

// rate is measured from the first arrival to the last, so that the start of the process does not count.
func (d *deliveries) rate(ctx context.Context, side string) float64 {
	s, in, over := d.scene(ctx, side, false)
	defer over()
	defer kill(worker(side, s))
	in.wait(1, time.Minute)
	first, _ := in.arrived()
	took := load.Time(1, func() { in.wait(d.events, 5*time.Minute) })
	return float64(in.all(d.events)-first) / took.Elapsed.Seconds()
}

// kill kills the worker after a third of the events and starts another one.
func (d *deliveries) kill(ctx context.Context, side string) [3]float64 {
	s, in, over := d.scene(ctx, side, false)
	defer over()
	cmd := worker(side, s)
	in.wait(d.events/3, time.Minute)
	kill(cmd)
	began := time.Now()
	cmd = worker(side, s)
	in.wait(d.events, 3*time.Minute)
	took := time.Since(began)
	time.Sleep(time.Second) // repeats that are still under way
	kill(cmd)
	once, twice := in.arrived()
	return [3]float64{float64(d.events - once), float64(twice), took.Seconds()}
}

// two runs two workers, as two replicas of a service would.
func (d *deliveries) two(ctx context.Context, side string) float64 {
	s, in, over := d.scene(ctx, side, false)
	defer over()
	defer kill(worker(side, s))
	defer kill(worker(side, s))
	in.wait(d.events, 3*time.Minute)
	time.Sleep(time.Second)
	in.all(d.events)
	_, twice := in.arrived()
	return float64(twice)
}

// dead has one endpoint that takes requests and never answers.
func (d *deliveries) dead(ctx context.Context, side string) (percent float64) {
	s, in, over := d.scene(ctx, side, true)
	defer over()
	defer kill(worker(side, s))
	others := d.events / endpoints * (endpoints - 1)
	in.wait(others, within)
	once, _ := in.arrived()
	return 100 * float64(once) / float64(others)
}
