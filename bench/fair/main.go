// Command fair measures what one partner that attacks at full rate does to another: how long the other's writes take
// beside what they take in quiet, what memory the server holds, and how long an erasure takes afterwards. Quiet and attack
// take turns, so that other work on the machine meets both. The attacker is a process of its own that gives way to all
// others: in the field it has a machine of its own, and what it spends itself is not what is measured.
package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

var (
	engine  = flag.String("engine", "sqlite", "sqlite or postgres")
	conns   = flag.Int("conns", 16, "connections of the attacker")
	seconds = flag.Int("seconds", 4, "how long each quiet and each attack lasts")
	rounds  = flag.Int("rounds", 3, "how often quiet and attack take turns")
	server  = flag.String("server", "", "a released vigia to measure instead of this tree's")
	// What the attacker is told.
	kind   = flag.String("attack", "", "which attack to run, as the attacker's process")
	target = flag.String("target", "", "the address that is attacked")
)

func main() {
	load.Main(func(ctx context.Context) {
		if *kind != "" {
			attack(ctx)
			return
		}
		run(ctx)
	})
}

func run(ctx context.Context) {
	folder, remove := load.Folder()
	defer remove()
	program := *server
	if program == "" {
		program = site.Build(folder)
	}
	s := site.NewService(ctx, folder+"/data", *engine)
	attacker, keys, err := s.Partners.Create(ctx, "Outro", partner.Live, partner.Settings{})
	load.Check(err)
	load.Must(s.Plans.Create(ctx, plan.Plan{ID: site.Plan, Partner: attacker.ID, Name: "Ouro", Coverage: plan.Demo()}))
	s.Stop()

	address, console := site.Free(), site.Free()
	args := []string{"serve", "--data", s.Data, "--listen", address, "--console-listen", console, "--log-level", "error"}
	if s.Database != "" {
		args = append(args, "--database", s.Database)
	}
	server := exec.Command(program, args...)
	stop := site.Start(server, "http://"+console+"/readyz")
	victim := &client{address: address, key: s.Credentials.APIKey}
	for _, name := range []string{"broken items", "new people", reads} {
		measure(ctx, name, victim, server.Process.Pid, keys.APIKey)
	}
	stop()
	began := time.Now()
	erase := []string{"subject", "erase", "--data", s.Data, "--cpf", site.CPF(10_000), "--reason", "bench"}
	if s.Database != "" {
		erase = append(erase, "--database", s.Database)
	}
	if out, err := exec.Command(program, erase...).CombinedOutput(); err != nil {
		fmt.Fprintln(os.Stderr, string(out))
		load.Check(err)
	}
	took := time.Since(began)
	fmt.Printf("%s, erasure: %v %s\n", *engine, took.Round(time.Millisecond), load.Bar(took < time.Minute))
}

// measure holds the victim's writes under an attack against those in quiet.
func measure(ctx context.Context, name string, victim *client, server int, key string) {
	var quiet, attacked []time.Duration
	var ratios []string
	var sent, refused int
	var spent time.Duration
	for range *rounds {
		calm := victim.write(time.Duration(*seconds) * time.Second)
		before := processorTime(server)
		end := startAttack(ctx, name, victim.address, key)
		rough := victim.write(time.Duration(*seconds) * time.Second)
		spent += processorTime(server) - before
		n, no := end()
		sent, refused = sent+n, refused+no
		quiet, attacked = append(quiet, calm...), append(attacked, rough...)
		ratios = append(ratios, fmt.Sprintf("%.1f", ratioOf(rough, calm)))
	}
	memory := load.Memory(server, "VmHWM")
	ratio := ratioOf(attacked, quiet)
	fmt.Printf("%s, %s: %d requests, %d refused, %.0f %% of a processor; write p95 %v quiet, %v attacked: %.1fx %s (rounds %s); memory %d MiB %s\n",
		*engine, name, sent, refused, 100*spent.Seconds()/float64(*rounds**seconds), load.Percentile(quiet, 95), load.Percentile(attacked, 95),
		ratio, load.Bar(ratio <= 5), strings.Join(ratios, ", "), memory>>20, load.Bar(memory < 400<<20))
}

func ratioOf(attacked, quiet []time.Duration) float64 {
	return float64(load.Percentile(attacked, 95)) / float64(load.Percentile(quiet, 95))
}

// processorTime is what a process has spent.
func processorTime(pid int) time.Duration {
	stat := string(load.Must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))))
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const user, system = 11, 12 // behind the name
	const tick = time.Second / 100
	return time.Duration(load.Must(strconv.Atoi(fields[user]))+load.Must(strconv.Atoi(fields[system]))) * tick
}

// startAttack starts the attacker's process and returns once it is at it.
func startAttack(ctx context.Context, name, address, key string) (end func() (sent, refused int)) {
	self := load.Self("-attack", name, "-target", address, "-conns", strconv.Itoa(*conns))
	cmd := exec.CommandContext(ctx, "nice", append([]string{"-n", "19"}, self.Args...)...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), keyVariable+"="+key)
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

const keyVariable = "BENCH_FAIR_KEY"

// attack sends bulks at full rate until its input ends, and says how many.
func attack(ctx context.Context) {
	bodies := [][]byte{[]byte("[" + strings.Repeat(`{"beneficiary":{"address":{}}},`, 9999) + `{"beneficiary":{"address":{}}}]`)}
	if *kind == "new people" {
		bodies = make([][]byte, 20)
		for i := range bodies {
			bodies[i] = site.Items(10_000*(i+1), 10_000*(i+2), site.Item)
		}
	}
	fmt.Println("at it")
	ctx, cancel := context.WithCancel(ctx)
	var sent, refused atomic.Int64
	var all sync.WaitGroup
	for range *conns {
		all.Go(func() {
			c := &client{address: *target, key: os.Getenv(keyVariable)}
			for ctx.Err() == nil {
				n := sent.Add(1)
				if c.attack(ctx, bodies[(os.Getpid()+int(n))%len(bodies)], fmt.Sprint(os.Getpid(), *kind, n)) == http.StatusTooManyRequests {
					refused.Add(1)
				}
			}
		})
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is what matters
	cancel()
	all.Wait()
	fmt.Println(sent.Load(), refused.Load())
}

// client is one partner.
type client struct {
	address, key string
	n            int
}

// write adds watched values, one after the other, for a while.
func (c *client) write(d time.Duration) (took []time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		c.n++
		start := time.Now()
		status := c.post(context.Background(), "/v1/cyber/monitoring",
			fmt.Appendf(nil, `{"type":"email","value":"p%d@exemplo.com.br","userHash":"u%d"}`, c.n, c.n%1000), "")
		if status != http.StatusOK {
			load.Fail("the other partner was answered %d", status)
		}
		took = append(took, time.Since(start))
	}
	return took
}

// reads is the attack by requests without a body.
const reads = "single reads"

func (c *client) attack(ctx context.Context, body []byte, key string) int {
	if *kind == reads {
		return c.ask(load.Must(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.address+"/v1/cyber/services", nil)))
	}
	return c.post(ctx, "/v1/subscriptions", body, key)
}

func (c *client) post(ctx context.Context, path string, body []byte, idempotency string) int {
	req := load.Must(http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.address+path, bytes.NewReader(body)))
	req.Header.Set("Content-Type", "application/json")
	if idempotency != "" {
		req.Header.Set("Idempotency-Key", idempotency)
	}
	return c.ask(req)
}

// ask returns 0 where there was no answer.
func (c *client) ask(req *http.Request) int {
	req.Header.Set("X-Api-Key", c.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, res.Body) // what is measured is that it came
	_ = res.Body.Close()
	return res.StatusCode
}
