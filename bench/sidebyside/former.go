package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
)

var (
	formerFile  = flag.String("former", "", "another build of Vigia: take turns with it instead of PocketBase")
	presentFile = flag.String("present", "", "the build to measure; that of this tree when it is not given")
	engine      = flag.String("engine", "sqlite", "database of Vigia: sqlite or postgres")
)

const former = "former"

// compareWithFormer measures this tree beside another build of it. Each build makes its own installation by its command
// line, because the schemas of the two may differ.
func compareWithFormer(ctx context.Context) {
	now, before := install(ctx, presentProgram(ctx)), install(ctx, *formerFile)
	batches := *people / load.Rounds / 1000
	compare := func(what, unit string, run func(s *service) load.Result) {
		var costs [2][]float64 // microseconds of a processor for each request, round by round
		measure := func(side int, s *service) load.Result {
			began := s.cost()
			took := run(s)
			costs[side] = append(costs[side], float64((s.cost()-began).Microseconds())/float64(took.Requests))
			return took
		}
		load.Compare(what+", "+*engine, unit,
			load.Side{Name: former, Run: func() load.Result { return measure(0, before) }},
			load.Side{Name: us, Run: func() load.Result { return measure(1, now) }},
		)
		was, is := load.Median(costs[0]), load.Median(costs[1])
		fmt.Printf("       processor time of the server: %s µs each, formerly %s: %.2f\n", load.Figure(is), load.Figure(was), is/was)
	}
	requests := func(what string, next func(s *service) (path string, body []byte)) {
		compare(what, "requests/s", func(s *service) load.Result {
			return s.Load(ctx, func() (string, []byte) { return next(s) })()
		})
	}
	compare("create in batches of 1,000", "rows/s", func(s *service) load.Result { return s.fill(batches) })
	deepest := now.next / 100
	requests("create one", func(s *service) (string, []byte) { s.next++; return s.create(s.next - 1) })
	requests("get one", func(s *service) (string, []byte) { return s.get(), nil })
	requests("list, first page of 100", func(s *service) (string, []byte) { return s.list(1), nil })
	requests(fmt.Sprintf("list, page %d of 100", deepest), func(s *service) (string, []byte) { return s.list(deepest), nil })
	for _, s := range []*service{before, now} {
		rows := s.total()
		if rows != s.next {
			load.Fail("%d people were created and %d are listed", s.next, rows)
		}
		s.stop()
		if *engine == "sqlite" {
			size := load.Must(os.Stat(s.database)).Size()
			fmt.Printf("       %d bytes a row\n", size/int64(rows))
		}
	}
}

// presentProgram returns the build that is measured, made of this tree unless one was given.
func presentProgram(ctx context.Context) string {
	if *presentFile != "" {
		return *presentFile
	}
	program := load.File("vigia")
	site.Output(exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/vigiahq/vigia/cmd/vigia"))
	return program
}

// install makes an installation with one partner and one plan, and serves it.
func install(ctx context.Context, program string) *service {
	data := load.Folder()
	address, console := site.Free(), site.Free()
	common := []string{"--data", data}
	if *engine == "postgres" {
		common = append(common, "--database", site.NewSchema(ctx))
	}
	run := func(args ...string) []byte {
		return site.Output(exec.CommandContext(ctx, program, append(args, common...)...))
	}
	var made struct {
		ID     string `json:"partner_id"`
		APIKey string `json:"api_key"`
	}
	const noLimit = "1000000"
	load.Check(json.Unmarshal(
		run("partner", "create", "--name", "Banco", "--people", noLimit, "--rate", noLimit, "--burst", noLimit, "--json"),
		&made,
	))
	run("plan", "create", "--partner", made.ID, "--id", site.Plan, "--name", "Ouro")
	serve := []string{
		"serve",
		"--listen", address,
		"--console-listen", console,
		"--log-level", "error",
		"--roles", "api",
	}
	p := site.Start(
		exec.CommandContext(ctx, program, append(serve, common...)...),
		address,
		"http://"+console+"/readyz",
	)
	s := &service{
		Server:   load.Server{Addresses: []string{address}, Header: "X-Api-Key: " + made.APIKey},
		stop:     p.Stop,
		cost:     p.ProcessorTime,
		database: filepath.Join(data, "vigia.db"),
		note:     func([]byte) {}, // one that failed has said so in its answer
		bulk:     func(from, to int) (string, []byte) { return "/v1/subscriptions", site.Items(from, to, site.Item) },
		list:     func(page int) string { return fmt.Sprintf("/v1/subscriptions?page=%d&page_size=100", page) },
	}
	s.create = func(n int) (string, []byte) { return s.bulk(n, n+1) }
	s.get = func() string { return "/v1/subscriptions/" + site.Plan + "/" + site.CPF(rand.IntN(s.next)) }
	return s
}
