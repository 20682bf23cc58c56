package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// demoCmd is 'vigia demo'. It needs no configuration and keeps its own data folder.
type demoCmd struct {
	Listen         string `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of the partner API; any free port when this one is taken and the flag is left out, as for the next two."`
	ConsoleListen  string `name:"console-listen" default:"127.0.0.1:8081" placeholder:"ADDR" help:"Address of the operator's console."`
	ReceiverListen string `name:"receiver-listen" default:"127.0.0.1:8082" placeholder:"ADDR" help:"Address of the page that receives the demo's alerts."`
	Fresh          bool   `help:"Forget the last demo and start over."`
}

// Help shows examples.
func (demoCmd) Help() string {
	return "Everything runs in one process on an embedded database, with made-up people, a plan, a leak, a case, and a receiver of\n" +
		"signed alerts. A second partner is live, with a made-up past of 30 days: import the dump whose name is printed and its people\n" +
		"are found in it. The folder (--data, by default ./data/demo) is kept between runs, and so are keys, people and log-in.\n\nExamples:\n  vigia demo\n  vigia demo --fresh --listen 127.0.0.1:9000"
}

// demoSecrets is kept beside the demo's database, because the service itself keeps no key or password it could print again.
type demoSecrets struct {
	Sandbox demoTenant `json:"sandbox"`
	Live    demoTenant `json:"live"`
	// ConsolePassword is the administrator's as long as the database has ConsoleHash of it: people may choose another.
	ConsolePassword string `json:"console_password"`
	ConsoleHash     string `json:"console_hash"`
	// Past says that the made-up past was begun: it is made once.
	Past bool `json:"past"`
}

// demoTenant is what is known of one partner: its key, its salt, and its endpoints by their path at the receiver.
type demoTenant struct {
	PartnerID string              `json:"partner_id"`
	APIKey    string              `json:"api_key"`
	Salt      string              `json:"salt"`
	Endpoints map[string]demoHook `json:"endpoints"`
}

// demoHook is a webhook of the demo as it is kept for the next start.
type demoHook struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

const demoFile = "demo.json"

// Run starts the demo and serves until a signal comes.
func (d *demoCmd) Run(ctx context.Context, c *config.Common, o *output) (err error) {
	common := *c
	if usual, err := filepath.Abs("data"); err == nil && common.Data == usual {
		common.Data = filepath.Join(usual, "demo") // a demo does not mix with an installation in the usual folder
	}
	if common.Database != "" {
		return errors.New("a demo has a database of its own: leave --database and VIGIA_DATABASE empty")
	}
	if d.Fresh {
		if err := forgetDemo(common.Data); err != nil {
			return err
		}
	}
	receiver, err := newReceiver(ctx, freeListenAddress(ctx, d.ReceiverListen, "127.0.0.1:8082"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, receiver.closeServer()) }()
	serve := config.Serve{
		Listen: freeListenAddress(ctx, d.Listen, "127.0.0.1:8080"), ConsoleListen: freeListenAddress(ctx, d.ConsoleListen, "127.0.0.1:8081"), Roles: []string{"api", "worker", "console"}, LogLevel: "error",
		LogFormat: "auto", MaxConnections: 8, WebhookAllow: []string{"127.0.0.0/8", "::1/128"},
		StopTime: 10 * time.Second, // none at all would call a stop beside an open connection a failure
	}
	log, closeLog, err := openLogger(o.err, serve)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLog()) }()
	a, err := app.OpenApp(ctx, common, sqldb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	world, err := openWorld(ctx, a, common.Data, receiver, serve)
	if err != nil {
		return err
	}
	srv, err := app.NewServer(ctx, a, serve, log, versionText())
	if err != nil {
		return err
	}
	srv.RelaxSecondFactor()
	past := make(chan struct{})
	srv.WorkAfter(past) // or workers would find today what the past is about to find
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		select {
		case <-running.Done():
		case <-srv.Ready:
			world.api, world.console = "http://"+srv.APIAddr.String(), "http://"+strings.Replace(srv.ConsoleAddr.String(), "127.0.0.1", "localhost", 1) // passkeys need a name
			err := world.beginWorld(running, o.w)
			if err == nil {
				err = world.remember(running, o.w)
			}
			close(past)
			if err != nil {
				stop(err)
			}
		}
	}()
	defer func() { stop(nil); <-begun }() // the past has the database open too
	err = srv.Run(running)
	if cause := context.Cause(running); cause != nil && !errors.Is(cause, context.Canceled) {
		err = errors.Join(err, cause)
	}
	return err
}

// freeListenAddress returns the default address, or a free port on the same host when the default is taken. An address that
// the user chose is returned unchanged, so that the user sees the error that it is taken.
func freeListenAddress(ctx context.Context, addr, usual string) string {
	if addr != usual {
		return addr
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		host, _, _ := net.SplitHostPort(addr) // ours, and right
		return net.JoinHostPort(host, "0")
	}
	_ = l.Close() // nothing was sent
	return addr
}

// forgetDemo removes the folder of an earlier demo, and nothing that is not one.
func forgetDemo(data string) error {
	if _, err := os.Stat(filepath.Join(data, demoFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(data); err == nil {
				return fmt.Errorf("--fresh: %s does not hold a demo, so it is left alone", data)
			}
			return nil
		}
		return fmt.Errorf("--fresh: %w", err)
	}
	return os.RemoveAll(data)
}

// readSecrets returns what an earlier demo kept; empty when there was none.
func readSecrets(data string) (demoSecrets, error) {
	var s demoSecrets
	raw, err := os.ReadFile(filepath.Join(data, demoFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read %s: %w", demoFile, err)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("read %s: %w", demoFile, err)
	}
	return s, nil
}

// writeSecrets keeps the demo's secrets in its data folder.
func (s demoSecrets) writeSecrets(data string) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(data, demoFile), append(raw, '\n'), 0o600)
}

// findPartner makes sure that a partner of an earlier run is still there, or makes it.
func findPartner(ctx context.Context, registry *partner.Registry, s *demoTenant, name string, mode partner.Mode, settings partner.Settings) error {
	if s.PartnerID != "" {
		_, err := registry.GetPartner(ctx, partner.ID(s.PartnerID))
		if err == nil || !errors.Is(err, partner.ErrNotFound) {
			return err
		}
	}
	p, cred, err := registry.CreatePartner(ctx, name, mode, settings)
	if err != nil {
		return err
	}
	*s = demoTenant{PartnerID: string(p.ID), APIKey: cred.APIKey, Salt: cred.Salt, Endpoints: map[string]demoHook{}}
	return nil
}
