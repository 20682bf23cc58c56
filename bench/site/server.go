package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// Plan is what the partner of Prepare sells.
const Plan = "ouro"

// Prepare makes an installation with one partner that no rate limit holds back, and returns the partner's key. An empty
// database is SQLite.
func Prepare(ctx context.Context, data, database string) (key string, err error) {
	a, err := app.Open(ctx, config.Common{Data: data, Database: database}, sqldb.Options{})
	if err != nil {
		return "", err
	}
	p, cred, err := a.Partners.Create(ctx, "Banco", partner.Live, partner.Settings{RatePerSecond: 1_000_000, Burst: 1_000_000})
	if err == nil {
		_, err = a.Plans.Create(ctx, plan.Plan{ID: Plan, Partner: p.ID, Name: "Ouro", Coverage: plan.Demo()})
	}
	return cred.APIKey, errors.Join(err, a.Close())
}

// Build builds the program into a folder.
func Build(folder string) (program string, err error) {
	program = filepath.Join(folder, "vigia")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/vigia").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return program, nil
}

// Serve starts a server process and returns its address once it is ready.
func Serve(program, data, database string) (address string, stop func(), err error) {
	address = Free()
	console := Free()
	args := []string{"serve", "--data", data, "--listen", address, "--console-listen", console, "--roles", "api", "--log-level", "error"}
	if database != "" {
		args = append(args, "--database", database)
	}
	stop, err = Start(exec.Command(program, args...), "http://"+console+"/readyz")
	return address, stop, err
}

// Start starts a server and waits until the URL answers with 200.
func Start(cmd *exec.Cmd, ready string) (stop func(), err error) {
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return func() {}, err
	}
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
	for range 1000 {
		if res, err := http.Get(ready); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return stop, nil
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	return func() {}, fmt.Errorf("%s did not become ready", cmd.Path)
}

// Free is an address that nobody listens on.
func Free() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
