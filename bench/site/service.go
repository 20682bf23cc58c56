// Package site has what benchmarks share of a service: the service in this process, server processes, made-up people,
// long tables. What it starts and makes is gone at the end of the scope.
package site

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
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
	clean       []func()
}

// New makes an installation on an engine.
func New(ctx context.Context, engine string) *Service {
	c := config.Common{Data: load.Folder()}
	if engine == "postgres" {
		c.Database = NewSchema(ctx)
	}
	return Open(ctx, c)
}

// Open opens an installation, which is made if it is not there.
func Open(ctx context.Context, c config.Common) *Service {
	s := &Service{App: load.Must(app.OpenApp(ctx, c, sqldb.Options{})), Common: c}
	s.clean = []func(){func() { load.Check(s.App.Close()) }}
	load.Defer(s.Stop)
	if known := load.Must(s.Partners.ListPartners(ctx)); len(known) > 0 {
		s.Partner = known[0]
		return s
	}
	s.Partner, s.Credentials = s.NewPartner(ctx, NoLimits)
	s.Header = Header(s.Credentials)
	return s
}

// NoLimits are the settings of a partner that nothing holds back.
var NoLimits = partner.Settings{RatePerSecond: 1e6, Burst: 1e6, FirstLooksPerHour: 1e9}

// NewPartner makes a partner with a plan.
func (s *Service) NewPartner(ctx context.Context, settings partner.Settings) (partner.Partner, partner.Credentials) {
	p, c, err := s.Partners.CreatePartner(ctx, "Banco", partner.Live, settings)
	load.Check(err)
	load.Must(s.Plans.CreatePlan(ctx, plan.Plan{ID: Plan, Partner: p.ID, Name: "Ouro", Coverage: plan.DemoCoverage()}))
	return p, c
}

// Header is the line that a request of a partner carries.
func Header(c partner.Credentials) string { return "X-Api-Key: " + c.APIKey }

// DB is the database, beside the service's own connections.
func (s *Service) DB(ctx context.Context) *sqldb.DB {
	db := load.Must(sqldb.OpenDatabase(ctx, s.DatabaseAddress(), sqldb.Options{StatementTimeout: time.Hour}))
	s.clean = append(s.clean, func() { load.Check(db.Close()) })
	return db
}

// Listen starts the server in a role, its log going to a file.
func (s *Service) Listen(ctx context.Context, role string, conns int) {
	log := load.Must(telemetry.OpenLogFile(filepath.Join(s.Data, "log")))
	srv := load.Must(app.NewServer(ctx, s.App, config.Serve{
		Listen:         "127.0.0.1:0",
		ConsoleListen:  "127.0.0.1:0",
		Roles:          []string{role},
		MaxConnections: conns,
		StopTime:       time.Second,
		WebhookAllow:   []string{"127.0.0.0/8"},
		WebhookRate:    4000, // as by default
	}, telemetry.NewLogger(log, telemetry.LogOptions{Format: "json"}), "bench"))
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	s.clean = append(s.clean, func() { stop(); load.Check(<-done) })
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

// Stop stops it before its scope ends, and leaves the database for a server process.
func (s *Service) Stop() {
	clean := s.clean
	s.clean = nil
	load.Scope(func() { // each of them, also after one that fails
		for _, work := range clean {
			load.Defer(work)
		}
	})
}

// NewSchema makes a schema on the PostgreSQL that the environment names.
func NewSchema(ctx context.Context) (address string) {
	admin, name := load.Must(sqldbtest.Administrator()), sqldbtest.NewName()
	load.Must(admin.ExecContext(ctx, `CREATE SCHEMA `+name))
	load.Defer(func() { load.Must(admin.ExecContext(ctx, `DROP SCHEMA `+name+` CASCADE`)) })
	return load.Must(sqldbtest.AddressOf("", name))
}

// Exec runs a statement in a transaction.
func Exec(ctx context.Context, db *sqldb.DB, statement string, args ...any) {
	load.Check(db.InTransaction(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	}))
}

// Count is the number that a query answers.
func Count(ctx context.Context, db *sqldb.DB, query string, args ...any) (n int64) {
	load.Check(db.ReadPool().QueryRowContext(ctx, query, args...).Scan(&n))
	return n
}

// Process is a server in a process of its own.
type Process struct {
	Address string
	Stop    func()
	pid     int
}

// ProcessorTime is how much the process has computed so far: unlike a rate it hardly depends on what else the machine
// does.
func (p Process) ProcessorTime() time.Duration {
	text := string(load.Must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))))
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the name before may hold spaces
	const tick = 10 * time.Millisecond                                  // USER_HZ of Linux on all processors
	var total time.Duration
	for _, ticks := range fields[11:13] { // utime, stime
		total += time.Duration(load.Must(strconv.Atoi(ticks))) * tick
	}
	return total
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

// Start starts a server and waits until the URL answers with 200.
func Start(cmd *exec.Cmd, address, ready string) Process {
	cmd.Stderr = os.Stderr
	load.Check(cmd.Start())
	p := Process{Address: address, pid: cmd.Process.Pid, Stop: sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})}
	load.Defer(p.Stop)
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if res, err := http.Get(ready); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return p
			}
		}
	}
	load.Fail("%s did not become ready", cmd.Path)
	return p
}

// Free is an address that nobody listens on.
func Free() string {
	l := load.Must(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
