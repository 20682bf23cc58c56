package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/subscription"
)

// filled is a service with a list of some length.
type filled struct {
	*site.Service
	length int64
	person int // the last who was made up
}

// fill makes a long list of a few people who can be asked for and of copies, which have no CPF.
func fill(ctx context.Context, engine string, length, values int64) *filled {
	s := &filled{Service: site.New(ctx, engine), length: length, person: subscribed}
	s.Listen(ctx, "api", 16)
	s.Ask("POST", list, site.Items(1, subscribed+1, site.Item))
	s.Ask("POST", "/v1/cyber/monitoring", site.Watched(1))
	db := s.DB(ctx)
	s.FillSubscriptions(ctx, db, length)
	s.FillValues(ctx, db, values, "monitorado")
	return s
}

// scale asks the same of a short list and of a long one.
func scale(ctx context.Context) {
	program := site.Build(ctx, ".")
	load.Each(func(engine string) {
		short, long := fill(ctx, engine, *few, *few), fill(ctx, engine, *many, *values)
		side := func(s *filled, least float64, next func(s *filled) (string, []byte)) load.Side {
			return s.Side(ctx, load.Figure(float64(s.length)), least, func() (string, []byte) { return next(s) })
		}
		for _, c := range []struct {
			name string
			next func(s *filled) (path string, body []byte)
		}{
			{"list, first page of 100", func(*filled) (string, []byte) { return page(1), nil }},
			{"list, last page of 100", func(s *filled) (string, []byte) { return page(s.length / 100), nil }},
			{"get", func(*filled) (string, []byte) { return one(1 + rand.IntN(subscribed)), nil }},
			{"create one", func(s *filled) (string, []byte) { s.person++; return list, site.Items(s.person, s.person+1, site.Item) }},
			{"watch a value", func(s *filled) (string, []byte) { s.person++; return "/v1/cyber/monitoring", site.Watched(s.person) }},
			{"values of a person", func(*filled) (string, []byte) { return fmt.Sprintf("/v1/cyber/monitoring/%064x", 1), nil }},
		} {
			load.PerSecond(engine+", "+c.name, side(short, 0, c.next), side(long, 1/1.5, c.next))
		}
		long.pages(ctx)
		var idle int64
		start := func(s *filled, least float64) load.Side {
			s.Stop()
			return load.Side{Name: load.Figure(float64(s.length)), Least: least, Run: func() load.Result {
				var p site.Process
				r := load.Time(1, func() { p = site.Serve(ctx, program, s.Common) })
				idle = max(idle, load.Memory(p.PID, "VmRSS"))
				p.Stop()
				return r
			}}
		}
		load.Compare(engine+", start of a server until it is ready", "starts/s", load.Result.Rate, start(short, 0), start(long, 1/1.5))
		load.Bar(idle < 60<<20, "%s, a server that has just started: %d MiB of memory; less than 60", engine, idle>>20)
	})
}

// page is the path of a page of a hundred.
func page(n int64) string { return fmt.Sprintf("%s?page=%d&page_size=100", list, n) }

// pages compares the last page with the first, one request after the other; then many come past their date, as at
// midnight, and no sweep has been by.
func (s *filled) pages(ctx context.Context) {
	defer func(n int) { load.Conns = n }(load.Conns)
	load.Conns = 1
	side := func(name string, n int64, least float64) load.Side {
		return s.Side(ctx, name, least, load.Get(page(n)))
	}
	took := load.Compare(fmt.Sprintf("%v, pages of %d subscriptions", s, s.length), "pages/s", load.Result.Rate, side("first", 1, 0), side("last", s.length/100, 1.0/3))
	p50 := load.Median(took[1].Took())
	load.Bar(p50 <= 200*time.Millisecond, "the last page takes %v; at most 200 ms", p50)
	db, over, middle := s.DB(ctx), min(100_000, s.length/4), s.length/2
	site.Exec(ctx, db, `UPDATE subscription SET expiry_day = $2 WHERE partner_id = $1 AND seq > $3 AND seq <= $4`, s.Partner.ID.Number(),
		int64(subscription.DayInBrazil(time.Now()))-1, middle, middle+over)
	s.CountSubscriptions(ctx, db)
	load.Compare(fmt.Sprintf("%v, the same while %d are past their date", s, over), "pages/s", load.Result.Rate, side("first", 1, 0),
		side("across them", middle/100+1, 0), side("last", (s.length-over)/100, 1.0/3))
}

// replicas compares one server process with two of them and, if there is another checkout, with one of that.
func replicas(ctx context.Context) {
	s, program := site.New(ctx, "postgres"), site.Build(ctx, ".")
	var servers []load.Server
	var names []string
	serve := func(name, program string, c config.Common, header string, n int) {
		to := load.Server{Header: header}
		for range n {
			to.Addresses = append(to.Addresses, site.Serve(ctx, program, c, "--roles", "api").Address)
		}
		names, servers = append(names, name), append(servers, to)
	}
	if load.Against != "" {
		other, c, header := otherInstallation(ctx)
		serve("other checkout", other, c, header, 1)
	}
	serve("one replica", program, s.Common, s.Header, 1)
	serve("two replicas", program, s.Common, s.Header, 2)
	person := 0
	compare := func(what string, least float64, next func() (path string, body []byte)) {
		if load.Against == "" { // what the bar is a share of
			least = 0
		}
		var sides []load.Side
		for i, to := range servers {
			sides = append(sides, to.Side(ctx, names[i], least, next))
		}
		load.PerSecond(fmt.Sprintf("%s, %d connections of one partner", what, load.Conns), sides...)
	}
	compare("POST /subscriptions, 10 items", 5, func() (string, []byte) {
		person += 10
		return list, site.Items(person-10, person, site.Item)
	})
	compare("GET /subscriptions, 10 items", 0, load.Get(list+"?page_size=10"))
}

// otherInstallation builds the program of the other checkout and makes a partner with it.
func otherInstallation(ctx context.Context) (program string, c config.Common, header string) {
	program, c = site.Build(ctx, load.Against), config.Common{Data: load.Folder(), Database: site.NewSchema(ctx)}
	run := func(args ...string) []byte { return site.Output(site.Command(ctx, program, c, args...)) }
	var p struct {
		ID  string `json:"partner_id"`
		Key string `json:"api_key"`
	}
	create := []string{"partner", "create", "--name", "Banco", "--rate", "1000000", "--burst", "1000000", "--json"}
	load.Check(json.Unmarshal(run(create...), &p))
	run("plan", "create", "--partner", p.ID, "--id", site.Plan, "--name", "Ouro")
	return program, c, "X-Api-Key: " + p.Key
}
