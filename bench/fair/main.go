// Command fair measures what one partner that attacks at full rate does to another: how long the other's writes take
// beside what they take in quiet, what memory the server holds, and how long an erasure takes afterwards.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
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
	seconds = flag.Int("seconds", 10, "how long each attack lasts, and the quiet before it")
)

func main() { load.Main(run) }

func run(ctx context.Context) {
	folder, remove := load.Folder()
	defer remove()
	program := site.Build(folder)
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

	broken := []byte("[" + strings.Repeat(`{"beneficiary":{"address":{}}},`, 9999) + `{"beneficiary":{"address":{}}}]`)
	var made atomic.Int64
	people := make([][]byte, 20) // made before: the attacker's own work is not what is measured
	for i := range people {
		people[i] = site.Items(10_000*(i+1), 10_000*(i+2), site.Item)
	}
	for _, attack := range []struct {
		name string
		body func() []byte
	}{
		{"broken items", func() []byte { return broken }},
		{"new people", func() []byte { return people[int(made.Add(1))%len(people)] }},
	} {
		quiet := victim.write(time.Duration(*seconds) * time.Second)
		under, cancel := context.WithCancel(ctx)
		var sent, refused atomic.Int64
		for i := range *conns {
			go func() {
				for n := 0; under.Err() == nil; n++ {
					status := (&client{address: address, key: keys.APIKey}).bulk(under, attack.body(), fmt.Sprint(attack.name, i, n))
					sent.Add(1)
					if status == http.StatusTooManyRequests {
						refused.Add(1)
					}
				}
			}()
		}
		attacked := victim.write(time.Duration(*seconds) * time.Second)
		memory := load.Memory(server.Process.Pid, "VmHWM")
		cancel()
		ratio := float64(attacked.P95) / float64(quiet.P95)
		fmt.Printf("%s, %s: %d requests, %d refused; write p95 %v quiet, %v attacked: %.1fx %s; memory %d MiB %s\n", *engine, attack.name,
			sent.Load(), refused.Load(), quiet.P95, attacked.P95, ratio, load.Bar(ratio <= 5), memory>>20, load.Bar(memory < 400<<20))
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

// client is one partner.
type client struct {
	address, key string
	n            int
}

// write adds watched values, one after the other, for a while.
func (c *client) write(d time.Duration) load.Result {
	var took []time.Duration
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
	return load.Result{Requests: len(took), Elapsed: d, P50: load.Percentile(took, 50), P95: load.Percentile(took, 95)}
}

func (c *client) bulk(ctx context.Context, body []byte, key string) int {
	return c.post(ctx, "/v1/subscriptions", body, key)
}

// post returns 0 where there was no answer.
func (c *client) post(ctx context.Context, path string, body []byte, idempotency string) int {
	req := load.Must(http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.address+path, bytes.NewReader(body)))
	req.Header.Set("X-Api-Key", c.key)
	req.Header.Set("Content-Type", "application/json")
	if idempotency != "" {
		req.Header.Set("Idempotency-Key", idempotency)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, res.Body) // what is measured is that it came
	_ = res.Body.Close()
	return res.StatusCode
}
