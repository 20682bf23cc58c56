package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

const (
	rowSide, batchSide = "queue, row by row", "queue, in batches"
	endpoints          = 10
	within             = 10 * time.Second
)

// delivery compares the dispatcher with a table queue, each in processes of its own, on both engines.
func delivery(ctx context.Context, r *report, _ string) (groups []group, err error) {
	sides := []string{us, rowSide, batchSide}
	for _, engine := range []sqldb.Engine{sqldb.SQLite, sqldb.PostgreSQL} {
		d := &deliveries{events: r.Options.Events, engine: engine}
		g := group{Name: "delivery-" + string(engine), Title: "Delivering events, " + string(engine), Sides: sides}
		rate := measure{What: "deliver, one worker, 32 connections", Unit: "events/s"}
		if err := rounds(r.Options.Rounds, &rate, sides, func(side string) (float64, error) { return d.rate(ctx, side) }); err != nil {
			return nil, err
		}
		g.Measures = append(g.Measures, rate)
		killed := []measure{
			{What: "worker killed and started again: never arrived", Unit: "events", Lower: true, Values: map[string]float64{}},
			{What: "worker killed and started again: arrived twice", Unit: "events", Lower: true, Values: map[string]float64{}},
			{What: "worker killed and started again: all there after", Unit: "s", Lower: true, Values: map[string]float64{}},
		}
		two := measure{What: "two workers at once: arrived twice", Unit: "events", Lower: true, Values: map[string]float64{}}
		dead := measure{
			What: fmt.Sprintf("one of %d endpoints hangs: events for the others there in %.0f s", endpoints, within.Seconds()), Unit: "%", Values: map[string]float64{},
		}
		for _, side := range sides {
			values, err := d.kill(ctx, side)
			if err != nil {
				return nil, fmt.Errorf("%s: kill: %w", side, err)
			}
			for i := range killed {
				killed[i].Values[side] = values[i]
			}
			if two.Values[side], err = d.two(ctx, side); err != nil {
				return nil, fmt.Errorf("%s: two: %w", side, err)
			}
			if dead.Values[side], err = d.dead(ctx, side); err != nil {
				return nil, fmt.Errorf("%s: dead: %w", side, err)
			}
		}
		groups = append(groups, group{Name: g.Name, Title: g.Title, Sides: sides, Measures: append(append(g.Measures, killed...), two, dead)})
	}
	return groups, nil
}

type deliveries struct {
	events int
	engine sqldb.Engine
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

// wait returns when n events have come, or the time is over.
func (r *receiver) wait(n int, limit time.Duration) {
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		if got, _ := r.arrived(); got >= n {
			return
		}
	}
}

// scene is a database with events for endpoints, of which the first may be dead, and no worker yet.
func (d *deliveries) scene(ctx context.Context, side string, dead bool) (*site.Site, *receiver, error) {
	s, err := site.Open(ctx, d.engine)
	if err != nil {
		return nil, nil, err
	}
	in := newReceiver()
	urls := []string{in.URL}
	if dead {
		urls = nil
		for i := range endpoints {
			urls = append(urls, fmt.Sprintf("%s/%d", in.URL, i))
		}
		urls[0] = in.URL + "/dead"
	}
	if side == us {
		err = fillOutbox(ctx, s, urls, d.events)
	} else {
		err = fillQueue(ctx, s, urls, d.events)
	}
	if err != nil {
		in.stop()
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, in, nil
}

// fillOutbox gives each endpoint a partner and writes the events in turns.
func fillOutbox(ctx context.Context, s *site.Site, urls []string, events int) error {
	ids := make([]partner.ID, len(urls))
	for i, url := range urls {
		var err error
		if ids[i], err = s.NewPartner(ctx); err != nil {
			return err
		}
		if _, err := s.Endpoints.Create(ctx, ids[i], url, nil, site.Guard); err != nil {
			return err
		}
	}
	const batch = 50
	for done := 0; done < events; done += batch * len(urls) {
		for _, id := range ids {
			if err := site.Publish(ctx, s, id, batch); err != nil {
				return err
			}
		}
	}
	return nil
}

// worker starts a process that delivers.
func worker(side string, s *site.Site) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-child", side, s.Folder, s.Address)
	cmd.Stderr = os.Stderr
	return cmd, cmd.Start()
}

func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// deliver is what the process does until it is killed.
func deliver(ctx context.Context, side string, args []string) error {
	s, err := site.Join(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	if side == us {
		s.Dispatch(32)
		select {}
	}
	return runQueue(ctx, s.DB, side == batchSide)
}

// rate is measured from the first arrival to the last, so that the start of the process does not count.
func (d *deliveries) rate(ctx context.Context, side string) (float64, error) {
	s, in, err := d.scene(ctx, side, false)
	if err != nil {
		return 0, err
	}
	defer in.stop()
	cmd, err := worker(side, s)
	if err != nil {
		return 0, errors.Join(err, s.Close())
	}
	in.wait(1, time.Minute)
	begin := time.Now()
	first, _ := in.arrived()
	in.wait(d.events, 5*time.Minute)
	took := time.Since(begin)
	last, _ := in.arrived()
	kill(cmd)
	if last < d.events {
		return 0, errors.Join(fmt.Errorf("only %d of %d events arrived", last, d.events), s.Close())
	}
	return float64(last-first) / took.Seconds(), s.Close()
}

// kill kills the worker after a third of the events and starts another one.
func (d *deliveries) kill(ctx context.Context, side string) (values [3]float64, err error) {
	s, in, err := d.scene(ctx, side, false)
	if err != nil {
		return values, err
	}
	defer in.stop()
	defer func() { err = errors.Join(err, s.Close()) }()
	cmd, err := worker(side, s)
	if err != nil {
		return values, err
	}
	in.wait(d.events/3, time.Minute)
	kill(cmd)
	began := time.Now()
	if cmd, err = worker(side, s); err != nil {
		return values, err
	}
	in.wait(d.events, 3*time.Minute)
	took := time.Since(began)
	time.Sleep(time.Second) // repeats that are still under way
	kill(cmd)
	once, twice := in.arrived()
	return [3]float64{float64(d.events - once), float64(twice), took.Seconds()}, nil
}

// two runs two workers, as two replicas of a service would.
func (d *deliveries) two(ctx context.Context, side string) (twice float64, err error) {
	s, in, err := d.scene(ctx, side, false)
	if err != nil {
		return 0, err
	}
	defer in.stop()
	defer func() { err = errors.Join(err, s.Close()) }()
	for range 2 {
		cmd, err := worker(side, s)
		if err != nil {
			return 0, err
		}
		defer kill(cmd)
	}
	in.wait(d.events, 3*time.Minute)
	time.Sleep(time.Second)
	once, n := in.arrived()
	if once < d.events {
		return 0, fmt.Errorf("only %d of %d events arrived", once, d.events)
	}
	return float64(n), nil
}

// dead has one endpoint that takes requests and never answers.
func (d *deliveries) dead(ctx context.Context, side string) (percent float64, err error) {
	s, in, err := d.scene(ctx, side, true)
	if err != nil {
		return 0, err
	}
	defer in.stop()
	defer func() { err = errors.Join(err, s.Close()) }()
	cmd, err := worker(side, s)
	if err != nil {
		return 0, err
	}
	defer kill(cmd)
	others := d.events / endpoints * (endpoints - 1)
	in.wait(others, within)
	once, _ := in.arrived()
	return 100 * float64(once) / float64(others), nil
}
