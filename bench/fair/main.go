// Command fair measures what one partner that attacks at full rate does to another: how long the other's writes take
// beside what they take in quiet, what memory the server holds, and how long an erasure takes afterwards. Quiet and attack
// take turns, so that other work on the machine meets both. The attacker is a process of its own that gives way to all
// others: in the field it has a machine of its own, and what it spends itself is not what is measured.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/partner"
)

var server = flag.String("server", "", "a released vigia to measure instead of this tree's")

// What the other partner does: bulks of items that are refused, of new people ten thousand and a thousand at a time, long
// pages of events, and requests without a body.
const broken, newPeople, batches, events, reads = "broken items", "new people", "batches of 1,000", "events", "single reads"

func main() {
	load.Main("engine=sqlite c=16 seconds=4 rounds=3",
		load.Part{Name: "fair", Run: measure}, load.Part{Name: "attack", Run: attack, ByHand: true},
		load.Part{Name: "onboard", Run: onboard, ByHand: true}, load.Part{Name: "bank", Run: bring, ByHand: true})
}

func measure(ctx context.Context) {
	program := *server
	if program == "" {
		program = site.Build(ctx, ".")
	}
	s := site.New(ctx, load.Engine)
	attackers := map[string]string{}
	for _, name := range []string{broken, newPeople, events, reads} {
		_, keys := s.NewPartner(ctx, partner.Settings{})
		attackers[name] = site.Header(keys)
	}
	// The rate of a partner that enrols a million people: its items are not what bounds it here.
	_, bank := s.NewPartner(ctx, partner.Settings{RatePerSecond: 5000, Burst: 5000})
	s.Stop()
	p := site.Serve(ctx, program, s.Common)
	to := load.Server{Addresses: []string{p.Address}, Header: s.Header}
	makeEvents(load.Server{Addresses: to.Addresses, Header: attackers[events]})
	for _, name := range []string{broken, newPeople, events, reads} {
		under(ctx, name, p, to, attackers[name])
	}
	beside(ctx, p, to, site.Header(bank))
	p.Stop()
	erasure := load.Time(1, func() {
		site.Output(site.Command(ctx, program, s.Common, "subject", "erase", "--cpf", site.CPF(10_000), "--reason", "bench"))
	})
	load.Bar(erasure.Elapsed < time.Minute, "%s, erasure: %v", load.Engine, erasure.Elapsed.Round(time.Millisecond))
}

// makeEvents enrols people and suspends them: an event each.
func makeEvents(to load.Server) {
	const first, last = 100_000, 101_000
	to.Ask(http.MethodPost, "/v1/subscriptions", site.Items(first, last, site.Item))
	cpfs := site.Items(first, last, func(n int) string { return strconv.Quote(site.CPF(n)) })
	to.Ask(http.MethodPost, "/v1/subscription-moves", fmt.Appendf(nil, `{"plan_id":%q,"move":"suspend","cpfs":%s}`, site.Plan, cpfs))
}

// under holds the other partner's writes under an attack against those in quiet.
func under(ctx context.Context, name string, server site.Process, to load.Server, key string) {
	var sent, refused int
	var spent time.Duration
	var quiet, attacked []time.Duration
	took := load.Turns(load.Rounds, func() load.Result { return write(ctx, to, &quiet) }, func() load.Result {
		before, end := processorTime(server.PID), startAttack(ctx, name, server.Address, key, load.Conns)
		r := write(ctx, to, &attacked)
		spent += processorTime(server.PID) - before
		n, no := end()
		sent, refused = sent+n, refused+no
		return r
	})
	ratios := took[1].Ratios(took[0], func(r load.Result) float64 { return r.P95.Seconds() })
	memory, calm, rough := load.Memory(server.PID, "VmHWM"), load.Percentile(quiet, 95), load.Percentile(attacked, 95)
	ratio := rough.Seconds() / calm.Seconds()
	fmt.Printf("%s, %s: %d requests, %d refused, %.0f %% of a processor\n", load.Engine, name, sent, refused,
		100*spent.Seconds()/(float64(load.Rounds)*load.Length.Seconds()))
	if load.Engine == "sqlite" && name == newPeople { // all or nothing: a write waits for one bulk of ten thousand
		fmt.Printf("       write p95 %v quiet, %v beside bulks of 10,000\n", calm, rough)
	} else {
		load.Bar(ratio <= 5, "write p95 %v quiet, %v attacked: %.1fx (rounds %.1f); at most 5", calm, rough, ratio, ratios)
	}
	load.Bar(memory < 400<<20, "memory %d MiB; less than 400", memory>>20)
}

// beside holds a bank's batches of 1,000 beside a neighbour that writes 20 times a second against the bank alone, and the
// neighbour's writes beside them against quiet.
func beside(ctx context.Context, server site.Process, to load.Server, key string) {
	var quiet, busy []time.Duration
	enrol := func(neighbour func()) load.Result {
		end, began := startAttack(ctx, batches, server.Address, key, 2), time.Now()
		neighbour()
		took := time.Since(began)
		sent, refused := end()
		return load.Result{Requests: 1000 * (sent - refused), Elapsed: took}
	}
	took := load.Turns(load.Rounds, func() load.Result { return write(ctx, to, &quiet) },
		func() load.Result { return enrol(func() { time.Sleep(load.Length) }) },
		func() load.Result { return enrol(func() { write(ctx, to, &busy) }) })
	shares := took[2].Ratios(took[1], load.Result.Rate)
	share := load.Median(shares)
	load.Bar(share >= 0.5, "%s, batches of 1,000: %.0f people/s alone, %.2f of it beside a neighbour (rounds %.2f); at least 0.5",
		load.Engine, load.Median(took[1].Values(load.Result.Rate)), share, shares)
	calm, rough := load.Percentile(quiet, 95), load.Percentile(busy, 95)
	if load.Engine == "sqlite" {
		load.Bar(rough < 100*time.Millisecond, "neighbour's write p95 %v quiet, %v beside batches; under 100 ms", calm, rough)
		return
	}
	load.Bar(rough <= 5*calm, "neighbour's write p95 %v quiet, %v beside batches: %.1fx; at most 5", calm, rough, rough.Seconds()/calm.Seconds())
}

// written counts the other partner's values.
var written int

// write adds watched values, 20 a second at most, for a while.
func write(ctx context.Context, to load.Server, all *[]time.Duration) load.Result {
	var took []time.Duration
	for end := time.Now().Add(load.Length); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		written++
		const value = `{"type":"email","value":"p%d@exemplo.com.br","userHash":"u%d"}`
		body, start := fmt.Appendf(nil, value, written, written%1000), time.Now()
		if status, _, _ := to.Do(ctx, http.MethodPost, "/v1/cyber/monitoring", body); status != http.StatusOK {
			load.Fail("the other partner was answered %d", status)
		}
		took = append(took, time.Since(start))
	}
	*all = append(*all, took...)
	return load.Result{Requests: len(took), Elapsed: load.Length, P95: load.Percentile(took, 95)}
}

// processorTime is what a process has spent.
func processorTime(pid int) time.Duration {
	stat := string(load.Must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))))
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const user, system = 11, 12 // behind the name
	const tick = time.Second / 100
	return time.Duration(load.Must(strconv.Atoi(fields[user]))+load.Must(strconv.Atoi(fields[system]))) * tick
}

const keyVariable = "BENCH_FAIR_KEY"

// startAttack starts the attacker's process and returns once it is at it.
func startAttack(ctx context.Context, name, address, key string, connections int) (end func() (sent, refused int)) {
	self := load.Self("attack", "-c", strconv.Itoa(connections), name, address)
	cmd := exec.CommandContext(ctx, "nice", append([]string{"-n", "19"}, self.Args...)...)
	cmd.Stderr, cmd.Env = os.Stderr, append(os.Environ(), keyVariable+"="+key)
	in, out := load.Must(cmd.StdinPipe()), bufio.NewReader(load.Must(cmd.StdoutPipe()))
	load.Check(cmd.Start())
	load.Must(out.ReadString('\n'))
	return func() (sent, refused int) {
		load.Check(in.Close())
		load.Must(fmt.Fscan(out, &sent, &refused))
		load.Check(cmd.Wait())
		return sent, refused
	}
}

// attack is the attacker's process: it sends at full rate until its input ends, and says how many.
func attack(ctx context.Context) {
	kind, to := flag.Arg(0), load.Server{Addresses: flag.Args()[1:], Header: os.Getenv(keyVariable)}
	method, path, bodies := http.MethodPost, "/v1/subscriptions", [][]byte(nil)
	switch kind {
	case broken:
		bodies = append(bodies, site.Items(0, 10_000, func(int) string { return `{"beneficiary":{"address":{}}}` }))
	case newPeople:
		for i := range 20 {
			bodies = append(bodies, site.Items(10_000*(i+1), 10_000*(i+2), site.Item))
		}
	case batches:
		// New people in every process: no batch is full of duplicates.
		first := 1_000_000 + os.Getpid()%5000*150_000
		for i := range 150 {
			bodies = append(bodies, site.Items(first+1000*i, first+1000*(i+1), site.Item))
		}
	case events:
		method, path, bodies = http.MethodGet, "/v1/events?limit=1000", [][]byte{nil}
	case reads:
		method, path, bodies = http.MethodGet, "/v1/cyber/services", [][]byte{nil}
	}
	fmt.Println("at it")
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // its end is what matters
		cancel()
	}()
	var sent, refused atomic.Int64
	load.Parallel(load.Conns, func(int) {
		for ctx.Err() == nil {
			n, once := sent.Add(1), ""
			body := bodies[(os.Getpid()+int(n))%len(bodies)]
			if body != nil {
				once = "Idempotency-Key: " + fmt.Sprint(os.Getpid(), kind, n)
			}
			if status, _, _ := to.Do(ctx, method, path, body, once); status == http.StatusTooManyRequests {
				refused.Add(1)
			}
		}
	})
	fmt.Println(sent.Load(), refused.Load())
}
