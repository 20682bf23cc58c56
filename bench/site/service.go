package site

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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

// Plan is what the partner sells.
const Plan = "ouro"

// Service is the whole service in this process, with one partner that no rate limit holds back.
type Service struct {
	*app.App
	config.Common
	Partner      partner.Partner
	Credentials  partner.Credentials
	API, Console string // addresses, once it listens
	clean        []func() error
	drop         func() error // of the schema
}

// NewService makes an installation in a folder and, for postgres, in a schema that is dropped with it. One that is
// filled already is opened as it is.
func NewService(ctx context.Context, folder, engine string) *Service {
	s := &Service{Common: config.Common{Data: folder}, drop: func() error { return nil }}
	if engine == "postgres" {
		s.Database, s.drop = NewSchema(ctx)
	}
	s.open(ctx)
	return s
}

func (s *Service) open(ctx context.Context) {
	s.App = load.Must(app.Open(ctx, s.Common, sqldb.Options{}))
	s.clean = append(s.clean, s.App.Close)
	if known := load.Must(s.Partners.Partners(ctx)); len(known) > 0 {
		s.Partner = known[0]
		return
	}
	var err error
	s.Partner, s.Credentials, err = s.Partners.Create(ctx, "Banco", partner.Live, partner.Settings{
		RatePerSecond: 1_000_000, Burst: 1_000_000, AssetsPerHour: 1_000_000_000, AssetsPerDay: 1_000_000_000, UnknownPeople: 1_000_000_000,
	})
	load.Check(err)
	load.Must(s.Plans.Create(ctx, plan.Plan{ID: Plan, Partner: s.Partner.ID, Name: "Ouro", Coverage: plan.Demo()}))
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
		s.API = srv.APIAddr.String()
	}
	s.Console = srv.ConsoleAddr.String()
}

// Header is the line that a request of the partner carries.
func (s *Service) Header() string { return "X-Api-Key: " + s.Credentials.APIKey }

// Ask sends one request of the partner.
func (s *Service) Ask(method, path string, body []byte) []byte {
	return load.Ask(method, s.API, path, s.Header(), body)
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

// Prepare makes an installation for server processes and returns the partner's key. An empty database is SQLite.
func Prepare(ctx context.Context, data, database string) (key string) {
	s := &Service{Common: config.Common{Data: data, Database: database}}
	s.open(ctx)
	s.Stop()
	return s.Credentials.APIKey
}

// Build builds the program into a folder.
func Build(folder string) (program string) {
	program = filepath.Join(folder, "vigia")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/vigia").CombinedOutput(); err != nil {
		load.Fail("build: %w\n%s", err, out)
	}
	return program
}

// Serve starts a server process and returns its address once it is ready.
func Serve(program string, c config.Common, more ...string) (address string, stop func()) {
	address, console := Free(), Free()
	args := append([]string{"serve", "--data", c.Data, "--listen", address, "--console-listen", console, "--log-level", "error"}, more...)
	if c.Database != "" {
		args = append(args, "--database", c.Database)
	}
	return address, Start(exec.Command(program, args...), "http://"+console+"/readyz")
}

// Start starts a server and waits until the URL answers with 200.
func Start(cmd *exec.Cmd, ready string) (stop func()) {
	cmd.Stderr = os.Stderr
	load.Check(cmd.Start())
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if res, err := http.Get(ready); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return stop
			}
		}
	}
	stop()
	load.Fail("%s did not become ready", cmd.Path)
	return stop
}

// Free is an address that nobody listens on.
func Free() string {
	l := load.Must(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
