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
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/partner"
)

var people = flag.Int("people", 100_000, "people that a bank brings, for onboard")

// onboard measures how long a bank takes to bring its customers by operations of the contract, three values each, with a
// grant of first looks, beside a neighbour that writes 20 times a second, and what that neighbour's writes take. A third
// of the addresses stands in a breach.
func onboard(ctx context.Context) {
	program := *server
	if program == "" {
		program = site.Build(ctx, ".")
	}
	s := site.New(ctx, load.Engine)
	bank, keys := s.NewPartner(ctx, partner.Settings{RatePerSecond: 5000, Burst: 5000})
	load.Check(s.FirstLooks.GrantLooks(ctx, bank.ID, int64(3**people)))
	s.Stop()
	var dump strings.Builder
	for n := 0; n < *people; n += 3 {
		dump.WriteString(customer(n) + "\n")
	}
	file := filepath.Join(load.Folder(), "dump.txt")
	load.Check(os.WriteFile(file, []byte(dump.String()), 0o600))
	site.Output(site.Command(ctx, program, s.Common, "breach", "import", "--name", "bench", "--title", "x", "--date", "2025-01-01", "--exposes", "email", file))
	p := site.Serve(ctx, program, s.Common)
	to := load.Server{Addresses: []string{p.Address}, Header: s.Header}
	var quiet, busy []time.Duration
	write(ctx, to, &quiet)

	self := load.Self("bank", "-c", strconv.Itoa(load.Conns), "-people", strconv.Itoa(*people), p.Address)
	cmd := exec.CommandContext(ctx, "nice", append([]string{"-n", "19"}, self.Args...)...)
	cmd.Stderr, cmd.Stdout, cmd.Env = os.Stderr, os.Stdout, append(os.Environ(), keyVariable+"="+site.Header(keys), saltVariable+"="+keys.Salt)
	began, done := time.Now(), make(chan error, 1)
	load.Check(cmd.Start())
	go func() { done <- cmd.Wait() }()
	for running := true; running; {
		write(ctx, to, &busy)
		select {
		case err := <-done:
			load.Check(err)
			running = false
		default:
		}
	}
	db := s.DB(ctx)
	const left = `SELECT count(*) FROM asset WHERE partner_id = $1 AND look <> 0`
	for site.Count(ctx, db, left, bank.ID.Number()) > 0 {
		write(ctx, to, &busy)
	}
	took := time.Since(began)
	added := site.Count(ctx, db, `SELECT count(*) FROM asset WHERE partner_id = $1`, bank.ID.Number())
	found := site.Count(ctx, db, `SELECT count(*) FROM asset WHERE partner_id = $1 AND status <> 'monitorado'`, bank.ID.Number())
	calm, rough := load.Percentile(quiet, 95), load.Percentile(busy, 95)
	load.Bar(int(added) == 3**people && int(found) == (*people+2)/3, "%s: %d people, %d values, %d of them found, all looked up after %v",
		load.Engine, *people, added, found, took.Round(time.Second))
	fmt.Printf("       neighbour's write p95 %v quiet, %v beside it\n", calm, rough)
}

const saltVariable = "BENCH_FAIR_SALT"

// bring is the bank's process: it enrols people in bulks of 1,000 and adds their values one by one.
func bring(ctx context.Context) {
	address, key, salt := flag.Arg(0), os.Getenv(keyVariable), os.Getenv(saltVariable)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: load.Conns}}
	send := func(path string, body []byte) (wait string) {
		req := load.Must(http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+path, bytes.NewReader(body)))
		name, value, _ := strings.Cut(key, ": ")
		req.Header.Set(name, value)
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		load.Check(err)
		defer func() { _ = res.Body.Close() }()
		answer := load.Must(io.ReadAll(res.Body))
		if res.StatusCode != http.StatusTooManyRequests && (res.StatusCode != http.StatusOK || bytes.Contains(answer, []byte(`"failure"`))) {
			load.Fail("%s answered %d %.200s", path, res.StatusCode, answer)
		}
		return res.Header.Get("Retry-After")
	}
	post := func(path string, body []byte) {
		for wait := send(path, body); wait != ""; wait = send(path, body) {
			time.Sleep(time.Duration(load.Must(strconv.Atoi(wait))) * time.Second)
		}
	}
	each := func(name string, connections, n int, work func(i int)) {
		var next atomic.Int64
		began := time.Now()
		load.Parallel(connections, func(int) {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
		took := time.Since(began)
		fmt.Printf("       %s after %v\n", name, took.Round(time.Second))
	}
	each(fmt.Sprint(*people, " people enrolled"), 2, (*people+999)/1000, func(i int) {
		post("/v1/subscriptions", site.Items(1000*i, min(1000*(i+1), *people), site.Item))
	})
	each(fmt.Sprint(3**people, " values added"), load.Conns, *people, func(i int) {
		cpf := site.CPF(i)
		user := partner.LongUserHash(cpf, salt)
		for kind, value := range map[string]string{"email": customer(i), "cpf": cpf, "phone": fmt.Sprintf("5511%09d", 900_000_000+i)} {
			post("/v1/cyber/monitoring", fmt.Appendf(nil, `{"type":%q,"value":%q,"userHash":%q}`, kind, value, user))
		}
	})
}

// customer is the address of the n-th customer.
func customer(n int) string { return fmt.Sprintf("cliente%d@exemplo.com.br", n) }
