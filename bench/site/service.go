// Package site has what benchmarks share of a service: the service in this process, server processes, made-up people and
// events, long tables, dumps.
package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/telemetry"
)

// Plan is what each partner sells.
const Plan = "ouro"

// Service is the whole service in this process, with one partner that no rate limit holds back.
type Service struct {
	*app.App
	config.Common
	load.Server // the API, once it listens, with the partner's key
	Partner     partner.Partner
	Credentials partner.Credentials // none when the installation was there before
	Console     load.Server
	clean       []func() error
	drop        func() error // of the schema
}

// New makes an installation in a folder and, for postgres, in a schema that is dropped with it. One that is there already
// is opened as it is.
func New(ctx context.Context, folder, engine string) *Service {
	s := &Service{Common: config.Common{Data: folder}, drop: func() error { return nil }}
	if engine == "postgres" {
		s.Database, s.drop = NewSchema(ctx)
	}
	s.open(ctx)
	if known := load.Must(s.Partners.Partners(ctx)); len(known) > 0 {
		s.Partner = known[0]
		return s
	}
	s.Partner, s.Credentials = s.NewPartner(ctx)
	s.Header = Header(s.Credentials)
	return s
}

// Join opens the installation of another process, and leaves it there.
func Join(ctx context.Context, c config.Common) *Service {
	s := &Service{Common: c, drop: func() error { return nil }}
	s.open(ctx)
	return s
}

// Each is the work of a part on a new service of each engine, which listens in a role if one is named.
func Each(role string, run func(ctx context.Context, s *Service)) func(context.Context, string) {
	return func(ctx context.Context, folder string) {
		for _, engine := range load.Engines() {
			s := New(ctx, filepath.Join(folder, engine), engine)
			err := load.Try(func() {
				if role != "" {
					s.Listen(ctx, role, 16)
				}
				run(ctx, s)
			})
			s.Close()
			load.Check(err)
		}
	}
}

func (s *Service) open(ctx context.Context) {
	s.App = load.Must(app.Open(ctx, s.Common, sqldb.Options{}))
	s.clean = append(s.clean, s.App.Close)
}

// NewPartner makes a partner with a plan and no limits.
func (s *Service) NewPartner(ctx context.Context) (partner.Partner, partner.Credentials) {
	p, c, err := s.Partners.Create(ctx, "Banco", partner.Live, partner.Settings{
		RatePerSecond: 1_000_000, Burst: 1_000_000, AssetsPerHour: 1_000_000_000, AssetsPerDay: 1_000_000_000, UnknownPeople: 1_000_000_000,
	})
	load.Check(err)
	s.AddPlan(ctx, p.ID)
	return p, c
}

// AddPlan gives a partner the plan that subscriptions name.
func (s *Service) AddPlan(ctx context.Context, id partner.ID) {
	load.Must(s.Plans.Create(ctx, plan.Plan{ID: Plan, Partner: id, Name: "Ouro", Coverage: plan.Demo()}))
}

// Header is the line that a request of a partner carries.
func Header(c partner.Credentials) string { return "X-Api-Key: " + c.APIKey }

// DB is the database, beside the service's own connections.
func (s *Service) DB(ctx context.Context) *sqldb.DB {
	db := load.Must(sqldb.Open(ctx, s.DatabaseAddress(), sqldb.Options{StatementTimeout: time.Hour}))
	s.clean = append(s.clean, db.Close)
	return db
}

// Listen starts the server in a role, its log going to a file.
func (s *Service) Listen(ctx context.Context, role string, conns int) {
	log := load.Must(telemetry.OpenLogFile(filepath.Join(s.Data, "log")))
	srv := load.Must(app.NewServer(ctx, s.App, config.Serve{
		Listen: "127.0.0.1:0", ConsoleListen: "127.0.0.1:0", Roles: []string{role}, MaxConnections: conns, StopTime: time.Second,
	}, telemetry.NewLogger(log, telemetry.LogOptions{Format: "json"}), "bench"))
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	s.clean = append(s.clean, func() error { stop(); return <-done })
	select {
	case <-srv.Ready:
	case err := <-done:
		done <- err
		load.Fail("the server ended: %w", err)
	}
	if srv.APIAddr != nil {
		s.Addresses = []string{srv.APIAddr.String()}
	}
	s.Console = load.Server{Addresses: []string{srv.ConsoleAddr.String()}}
}

// Defer has work done before the service stops.
func (s *Service) Defer(work func()) {
	s.clean = append(s.clean, func() error { return load.Try(work) })
}

// Stop stops it and leaves the database for a server process.
func (s *Service) Stop() {
	var err error
	for i := len(s.clean) - 1; i >= 0; i-- {
		err = errors.Join(err, s.clean[i]())
	}
	s.clean = nil
	load.Check(err)
}

// Close stops it and removes its database.
func (s *Service) Close() {
	err := load.Try(s.Stop)
	load.Check(err, s.drop())
}

// NewSchema makes a schema of its own on the PostgreSQL that the environment names. Dropping it may take as long as it
// is large.
func NewSchema(ctx context.Context) (address string, drop func() error) {
	base := os.Getenv("VIGIA_TEST_POSTGRES")
	if base == "" {
		load.Fail("VIGIA_TEST_POSTGRES is not set: run under scripts/with-postgres")
	}
	u := load.Must(url.Parse(base))
	name := "bench_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	run := func(ctx context.Context, statement string) error {
		db, err := sqldb.Open(ctx, base, sqldb.Options{StatementTimeout: time.Hour})
		if err != nil {
			return err
		}
		return errors.Join(load.Try(func() { Exec(ctx, db, statement) }), db.Close())
	}
	load.Check(run(ctx, `CREATE SCHEMA `+name))
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String(), func() error { return run(context.WithoutCancel(ctx), `DROP SCHEMA `+name+` CASCADE`) }
}

// Exec runs a statement in a transaction.
func Exec(ctx context.Context, db *sqldb.DB, statement string, args ...any) {
	load.Check(db.InTx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	}))
}

// Count is the number that a query answers.
func Count(ctx context.Context, db *sqldb.DB, query string, args ...any) (n int64) {
	load.Check(db.Reader().QueryRowContext(ctx, query, args...).Scan(&n))
	return n
}

// String names the service in tables.
func (s *Service) String() string { return fmt.Sprint(s.Engine) }

// Process is a server in a process of its own.
type Process struct {
	Address string
	PID     int
	Stop    func()
}

// Build builds the program of a checkout.
func Build(ctx context.Context, checkout, program string, more ...string) string {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", load.Must(filepath.Abs(program))}, append(more, "./cmd/vigia")...)...)
	cmd.Dir = checkout
	Output(cmd)
	return program
}

// Output is what a command prints; one that fails ends the run with what it complained of.
func Output(cmd *exec.Cmd) []byte {
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		load.Fail("%v: %w\n%s", cmd.Args, err, complaint.Bytes())
	}
	return out
}

// Command is a command of the program on an installation.
func Command(ctx context.Context, program string, c config.Common, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, append(args, "--data", c.Data)...)
	if c.Database != "" {
		cmd.Args = append(cmd.Args, "--database", c.Database)
	}
	return cmd
}

// Serve starts a server process on an installation and returns once it is ready.
func Serve(ctx context.Context, program string, c config.Common, more ...string) Process {
	address, console := free(), free()
	args := append([]string{"serve", "--listen", address, "--console-listen", console, "--log-level", "error"}, more...)
	return Start(Command(ctx, program, c, args...), address, "http://"+console+"/readyz")
}

// StartOn starts a server that takes its address as an argument, and waits until the path answers with 200.
func StartOn(cmd *exec.Cmd, flag, ready string) Process {
	address := free()
	cmd.Args = append(cmd.Args, flag, address)
	return Start(cmd, address, "http://"+address+ready)
}

// Start starts a server and waits until the URL answers with 200.
func Start(cmd *exec.Cmd, address, ready string) Process {
	cmd.Stderr = os.Stderr
	load.Check(cmd.Start())
	p := Process{Address: address, PID: cmd.Process.Pid, Stop: sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if res, err := http.Get(ready); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return p
			}
		}
	}
	p.Stop()
	load.Fail("%s did not become ready", cmd.Path)
	return p
}

// free is an address that nobody listens on.
func free() string {
	l := load.Must(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
