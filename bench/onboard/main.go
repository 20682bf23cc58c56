// Command onboard measures how fast a large bank comes on board, and what it costs others:
//
//	scripts/with-postgres go run ./bench/onboard                  # both engines
//	go run ./bench/onboard -engines sqlite -only lists,people     # a part of it
//	go run ./bench/onboard -engines sqlite -grown 50000           # short
//
// The server, its client and the database share the machine: where it does other work, believe the ratios.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

var (
	engines = flag.String("engines", "sqlite,postgres", "the engines to measure, one after the other")
	values  = flag.Int("values", 30_000, "values to watch in lists of 1,000, in each round")
	people  = flag.Int("people", 10_000, "people to enrol in a plan that watches three values, in each round")
	batch   = flag.Int("batch", 100, "people in one request")
	hits    = flag.Int("hits", 15_000, "watched values that a breach hits")
	small   = flag.Int64("small", 10_000, "watched values before they have grown")
	grown   = flag.Int64("grown", 1_000_000, "watched values after they have grown")
)

// bars are what each engine has to reach a second.
var bars = map[string]struct{ values, people, hits float64 }{
	"sqlite":   {values: 8000, people: 2000, hits: 5000},
	"postgres": {values: 5000, people: 2000, hits: 3000},
}

func main() {
	load.Main("rounds=3 c=2",
		load.Step{Name: "lists", Run: onEachEngine(measureLists)},
		load.Step{Name: "people", Run: onEachEngine(measurePeople)},
		load.Step{Name: "hits", Run: onEachEngine(measureHits)},
		load.Step{Name: "growth", Run: onEachEngine(measureGrowth)},
	)
}

// onEachEngine runs a measurement on a new installation of each engine.
func onEachEngine(run func(ctx context.Context, s *site.Service, engine string)) func(context.Context) {
	return func(ctx context.Context) {
		for engine := range strings.SplitSeq(*engines, ",") {
			load.Scope(func() { run(ctx, site.New(ctx, engine), engine) })
		}
	}
}

// reach prints the median of some rates and judges it.
func reach(what, engine string, rates []float64, least float64) {
	var all []string
	for _, r := range rates {
		all = append(all, load.Figure(r))
	}
	median := load.Median(rates)
	load.Bar(median >= least, "%s, %s: %s a second (rounds %s); at least %s",
		what, engine, load.Figure(median), strings.Join(all, " "), load.Figure(least))
}

// threeValues are the items of a list that watch an address, the CPF and a number of the n-th person.
func threeValues(n int, salt string) []string {
	cpf := site.CPF(n)
	user := string(partner.LongUserHash(cpf, salt))
	item := func(kind, value string) string {
		return fmt.Sprintf(`{"type":%q,"value":%q,"userHash":%q}`, kind, value, user)
	}
	return []string{
		item("email", "pessoa"+cpf+"@exemplo.com.br"),
		item("cpf", cpf),
		item("phone", phone(n)),
	}
}

// phone is the number of the n-th person.
func phone(n int) string { return fmt.Sprintf("+55119%08d", 10_000_000+n%90_000_000) }

// measureLists watches values in lists of 1,000.
func measureLists(ctx context.Context, s *site.Service, engine string) {
	neighbour := newNeighbour(ctx, s)
	next := 0
	watch := func() load.Result {
		var bodies [][]byte
		for range *values / 1000 {
			var items []string
			for ; len(items) < 1000; next++ {
				items = append(items, threeValues(next, s.Credentials.Salt)...)
			}
			bodies = append(bodies, []byte(`{"items":[`+strings.Join(items[:1000], ",")+`]}`))
		}
		return load.Time(len(bodies)*1000, func() { sendAll(s.Server, "/v1/cyber/assets", bodies) })
	}
	var alone []float64
	for range load.Rounds {
		alone = append(alone, watch().Rate())
	}
	reach("values in lists of 1,000, alone", engine, alone, bars[engine].values)
	neighbour.compare(engine, "values in lists of 1,000", 0, watch)
}

// sendAll posts bodies over the connections of the run, each of them once.
func sendAll(to load.Server, path string, bodies [][]byte) {
	var taken atomic.Int64
	load.Parallel(load.Conns, func(int) {
		for {
			i := taken.Add(1) - 1
			if i >= int64(len(bodies)) {
				return
			}
			to.Ask("POST", path, bodies[i])
		}
	})
}

// measurePeople enrols people in a plan that watches three values, beside a neighbour who writes 20 times a second.
func measurePeople(ctx context.Context, s *site.Service, engine string) {
	const watching = "vigiado"
	load.Must(s.Plans.CreatePlan(ctx, plan.Plan{
		ID:       watching,
		Partner:  s.Partner.ID,
		Name:     "Vigiado",
		Coverage: plan.DemoCoverage(),
		Watch:    plan.NewWatch(plan.WatchedKinds...),
	}))
	neighbour := newNeighbour(ctx, s)
	next := 0
	enrol := func() load.Result {
		var bodies [][]byte
		for range *people / *batch {
			bodies = append(bodies, site.Items(next, next+*batch, func(n int) string {
				item := strings.Replace(site.Item(n), `"plan_id":"`+site.Plan+`"`, `"plan_id":"`+watching+`"`, 1)
				return strings.Replace(item, "5511987654321", phone(n), 1)
			}))
			next += *batch
		}
		return load.Time(len(bodies)**batch, func() { sendAll(s.Server, "/v1/subscriptions", bodies) })
	}
	enrol() // warms up
	var alone []float64
	for range load.Rounds {
		alone = append(alone, enrol().Rate())
	}
	reach("people with three values, alone", engine, alone, bars[engine].people)
	neighbour.compare(engine, "people with three values", bars[engine].people*17/30, enrol)
	if n := site.Count(ctx, s.DB(ctx), `SELECT count(*) FROM asset WHERE source = 2`); n != 3*int64(next) {
		load.Fail("%d values are watched for %d people", n, next)
	}
}

// neighbour is another partner, who watches single values.
type neighbour struct {
	load.Server
	next int
}

// newNeighbour makes another partner, and has the service listen to both.
func newNeighbour(ctx context.Context, s *site.Service) *neighbour {
	_, other := s.NewPartner(ctx, site.NoLimits)
	s.Listen(ctx, "api", 64)
	return &neighbour{Server: load.Server{Addresses: s.Addresses, Header: site.Header(other)}}
}

// compare measures work beside the neighbour, and the neighbour's writes before and meanwhile.
func (n *neighbour) compare(engine, what string, least float64, work func() load.Result) {
	quiet := n.writeDuring(func() { time.Sleep(5 * time.Second) })
	var rates []float64
	busy := n.writeDuring(func() {
		for range load.Rounds {
			rates = append(rates, work().Rate())
		}
	})
	reach(what+", beside a neighbour", engine, rates, least)
	before, during := load.Percentile(quiet, 95), load.Percentile(busy, 95)
	load.Bar(during <= 5*before, "the neighbour's writes, %s: p95 %v before and %v during, %.1f times; at most 5",
		engine, before.Round(10*time.Microsecond), during.Round(10*time.Microsecond), float64(during)/float64(before))
}

// writeDuring writes 20 times a second while work goes on, and returns how long each write took from the moment that it
// was due: one that is late because the last one took long has waited.
func (n *neighbour) writeDuring(work func()) (took []time.Duration) {
	const interval = time.Second / 20
	due := time.Now()
	load.Beside(work, 1, func(int) {
		time.Sleep(time.Until(due))
		n.next++
		n.Ask("POST", "/v1/cyber/monitoring", site.Watched(n.next))
		took = append(took, time.Since(due))
		due = due.Add(interval)
	})
	return took
}

// watchAddresses watches addresses of made-up people in the name of the operator, so that no first look is waited for.
func watchAddresses(ctx context.Context, s *site.Service, from, to int) {
	owner := cyber.Owner{Partner: s.Partner.ID, Mode: s.Partner.Mode}
	for first := from; first < to; first += 1000 {
		var items []cyber.BulkItem
		for n := first; n < min(first+1000, to); n++ {
			items = append(items, cyber.BulkItem{User: fmt.Sprintf("%064x", n), Kind: "email", Value: address(n)})
		}
		result := load.Must(s.Monitoring.AddAssets(ctx, owner, items))
		if result.Watched() != len(items) {
			load.Fail("%+v", result)
		}
	}
}

// address is that of the n-th made-up person.
func address(n int) string { return fmt.Sprintf("pessoa%d@exemplo.com.br", n) }

// publishBreach imports a dump that holds the addresses of some people.
func publishBreach(ctx context.Context, s *site.Service, name string, from, to int) {
	file := load.File(name + ".txt")
	var text strings.Builder
	for n := from; n < to; n++ {
		fmt.Fprintf(&text, "%s:senha%d\n", address(n), n)
	}
	load.Check(os.WriteFile(file, []byte(text.String()), 0o600))
	inputs := load.Must(intake.ListInputs(ctx, nil, []string{file}))
	load.Must(s.Leaks.Foreground.ImportBreach(ctx, intake.Spec{Inputs: inputs, Breach: cyber.Breach{
		Name:    name,
		Title:   "Loja " + name,
		Kind:    cyber.SourceBreach,
		Date:    time.Now().AddDate(0, -1, 0).UTC().Truncate(24 * time.Hour),
		Exposes: []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword},
	}}))
}

// matchBreach looks all watched values up in a breach and returns how long that took.
func matchBreach(ctx context.Context, s *site.Service, name string, expected int) load.Result {
	return load.Time(expected, func() {
		p := load.Must(s.Leaks.Foreground.MatchBreach(ctx, name, func(leak.MatchProgress) {}))
		if p.Hits != int64(expected) {
			load.Fail("%d hits of %d", p.Hits, expected)
		}
	})
}

// measureHits matches a breach that hits many watched values and tells all of them.
func measureHits(ctx context.Context, s *site.Service, engine string) {
	watchAddresses(ctx, s, 0, *hits)
	var rates []float64
	for i := range load.Rounds {
		name := fmt.Sprintf("hits%d", i)
		publishBreach(ctx, s, name, 0, *hits)
		rates = append(rates, matchBreach(ctx, s, name, *hits).Rate())
	}
	reach("hits told", engine, rates, bars[engine].hits)
}

// measureGrowth measures what a partner and the operator do with few watched values and with many.
func measureGrowth(ctx context.Context, s *site.Service, engine string) {
	const known = 100 // people who are asked about
	watchAddresses(ctx, s, 0, known)
	db := s.DB(ctx)
	s.Listen(ctx, "api", 64)
	user := func() string { return fmt.Sprintf("%064x", rand.IntN(known)) }
	took := map[string][]time.Duration{}
	var filled int64
	for i, size := range []int64{*small, *grown} {
		s.FillValues(ctx, db, filled+1, size, cyber.StatusMonitored)
		filled = size
		name := fmt.Sprintf("growth%d", i)
		publishBreach(ctx, s, name, 0, known)
		took["match"] = append(took["match"], matchBreach(ctx, s, name, known).Elapsed)
		for what, path := range map[string]string{
			"list":  "/v1/cyber/monitoring/",
			"get":   "/v1/cyber/findings/",
			"score": "/v1/cyber/score/",
		} {
			r := s.Load(ctx, func() (string, []byte) { return path + user(), nil })()
			took[what] = append(took[what], r.P50)
		}
	}
	for _, what := range []string{"match", "list", "get", "score"} {
		before, after := took[what][0], took[what][1]
		fmt.Printf("       %s, %s: %v with %d watched values, %v with %d, %.1f times\n", what, engine,
			before.Round(10*time.Microsecond), *small, after.Round(10*time.Microsecond), *grown,
			float64(after)/float64(before))
	}
}
