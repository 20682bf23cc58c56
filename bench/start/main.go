// Command start measures how long the program takes from its start until /readyz says yes: on a database of a million
// subscriptions against one that has its tables and nothing in them, in turns, on both engines.
//
//	scripts/with-postgres go run ./bench/start -engine sqlite
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/draft"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

func main() {
	engine := flag.String("engine", "", "sqlite or postgres; both unless given")
	rows := flag.Int("n", 1_000_000, "subscriptions in the full database")
	rounds := flag.Int("rounds", 11, "starts of each side, taken in turns")
	flag.Parse()
	for _, e := range load.Engines(*engine) {
		if err := measure(e, *rows, *rounds); err != nil {
			fmt.Fprintf(os.Stderr, "start: %s: %v\n", e, err)
			os.Exit(1)
		}
	}
}

func measure(engine string, rows, rounds int) (err error) {
	folder, err := os.MkdirTemp("", "vigia-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	program := filepath.Join(folder, "vigia")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/vigia").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	var sites [2]config.Common
	for i, n := range []int{0, rows} {
		sites[i].Data = filepath.Join(folder, fmt.Sprint(n))
		if engine == "postgres" {
			var drop func() error
			if sites[i].Database, drop, err = load.NewSchema(context.Background()); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, drop()) }()
		}
		if err := fill(context.Background(), sites[i], n); err != nil {
			return err
		}
	}
	var took [2][]time.Duration
	for range rounds {
		for i, site := range sites {
			d, err := start(program, site)
			if err != nil {
				return err
			}
			took[i] = append(took[i], d)
		}
	}
	for i, name := range []string{"empty", fmt.Sprintf("%d subscriptions", rows)} {
		slices.Sort(took[i])
		fmt.Printf("%-8s %-22s %d starts: median %v, from %v to %v\n", engine, name, rounds, took[i][rounds/2].Round(time.Millisecond),
			took[i][0].Round(time.Millisecond), took[i][rounds-1].Round(time.Millisecond))
	}
	fmt.Printf("%-8s full / empty: %.2f\n", engine, float64(took[1][rounds/2])/float64(took[0][rounds/2]))
	return nil
}

// fill makes a database with a partner, a plan and n subscriptions, the way an operator imports them.
func fill(ctx context.Context, c config.Common, n int) (err error) {
	a, err := app.Open(ctx, c, sqldb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	p, _, err := a.Partners.Create(ctx, "Banco", partner.Live, partner.Settings{})
	if err != nil {
		return err
	}
	if _, err := a.Plans.Create(ctx, plan.Plan{ID: "ouro", Partner: p.ID, Name: "Ouro", Coverage: plan.Demo()}); err != nil || n == 0 {
		return err
	}
	lines, out := io.Pipe()
	go func() { out.CloseWithError(write(out, n)) }()
	report, err := a.Subscriptions.Import(ctx, p, draft.NewJSONLines(lines), false,
		func(r subscription.Reject) error { return fmt.Errorf("refused: %+v", r) }, func(subscription.ImportReport) {})
	if err == nil && report.Created != n {
		err = fmt.Errorf("created %d of %d", report.Created, n)
	}
	return err
}

func write(w io.Writer, n int) error {
	for i := range n {
		_, err := fmt.Fprintf(w, `{"start_date":"2026-02-01","expiry_date":"","plan_id":"ouro","is_group_plan":false,"beneficiary":`+
			`{"primary_card":"4111111111111111","user_card":"5555555555554444","name":"Pessoa de Exemplo da Silva","cpf":%q,`+
			`"birth_date":"1990-05-17","gender":"F","email":"pessoa%d@exemplo.com.br","phone_number":"5511987654321","address":`+
			`{"zipcode":"01001000","street":"Rua das Laranjeiras","number":"100","neighborhood":"Centro","city":"São Paulo","state":"SP"}}}`+"\n",
			load.CPF(i), i)
		if err != nil {
			return err
		}
	}
	return nil
}

// patience is more than any start takes.
const patience = time.Minute

// start runs the program until it is ready, stops it, and returns how long it took to be ready.
func start(program string, c config.Common) (took time.Duration, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	console := l.Addr().String()
	if err := l.Close(); err != nil {
		return 0, err
	}
	args := []string{"serve", "--data", c.Data, "--listen", "127.0.0.1:0", "--console-listen", console, "--log-level", "error"}
	if c.Database != "" {
		args = append(args, "--database", c.Database)
	}
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()) }()
	for took = 0; took < patience; time.Sleep(time.Millisecond) {
		res, err := http.Get("http://" + console + "/readyz")
		took = time.Since(begin)
		if err != nil {
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return took, nil
		}
	}
	return 0, errors.New("not ready in a minute")
}
