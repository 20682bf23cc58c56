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

// The attacks: bulks of items that are refused, of people who are new, and requests without a body.
const broken, newPeople, reads = "broken items", "new people", "single reads"

func main() {
	load.Main("engine=sqlite c=16 seconds=4 rounds=3",
		load.Part{Name: "fair", Run: measure}, load.Part{Name: "attack", Run: attack, ByHand: true})
}

func measure(ctx context.Context) {
	program := *server
	if program == "" {
		program = site.Build(ctx, ".")
	}
	s := site.New(ctx, load.Engine)
	_, keys := s.NewPartner(ctx, partner.Settings{})
	s.Stop()
	p := site.Serve(ctx, program, s.Common)
	to := load.Server{Addresses: []string{p.Address}, Header: s.Header}
	for _, name := range []string{broken, newPeople, reads} {
		under(ctx, name, p, to, site.Header(keys))
	}
	p.Stop()
	erasure := load.Time(1, func() {
		site.Output(site.Command(ctx, program, s.Common, "subject", "erase", "--cpf", site.CPF(10_000), "--reason", "bench"))
	})
	load.Bar(erasure.Elapsed < time.Minute, "%s, erasure: %v", load.Engine, erasure.Elapsed.Round(time.Millisecond))
}

// under holds the other partner's writes under an attack against those in quiet.
func under(ctx context.Context, name string, server site.Process, to load.Server, key string) {
	var sent, refused int
	var spent time.Duration
	var quiet, attacked []time.Duration
	took := load.Turns(load.Rounds, func() load.Result { return write(ctx, to, &quiet) }, func() load.Result {
		before, end := processorTime(server.PID), startAttack(ctx, name, server.Address, key)
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
	load.Bar(ratio <= 5, "write p95 %v quiet, %v attacked: %.1fx (rounds %.1f); at most 5", calm, rough, ratio, ratios)
	load.Bar(memory < 400<<20, "memory %d MiB; less than 400", memory>>20)
}

// written counts the other partner's values.
var written int

// write adds watched values, one after the other, for a while.
func write(ctx context.Context, to load.Server, all *[]time.Duration) load.Result {
	var took []time.Duration
	for end := time.Now().Add(load.Length); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
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
func startAttack(ctx context.Context, name, address, key string) (end func() (sent, refused int)) {
	self := load.Self("attack", "-c", strconv.Itoa(load.Conns), name, address)
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
