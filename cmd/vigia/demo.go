package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// demoCmd is 'vigia demo'. It needs no configuration and keeps its own data folder.
type demoCmd struct {
	Listen         string `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of the partner API; any free port when this one is taken and the flag is left out, as for the next two."`
	ConsoleListen  string `name:"console-listen" default:"127.0.0.1:8081" placeholder:"ADDR" help:"Address of the operator's console."`
	ReceiverListen string `name:"receiver-listen" default:"127.0.0.1:8082" placeholder:"ADDR" help:"Address of the page that receives the demo's alerts."`
	Fresh          bool   `help:"Delete the folder of the last demo and start over."`
	Tour           bool   `help:"Print a line to paste for every operation, and not for five only."`
}

func (demoCmd) Help() string {
	return "Everything runs in one process on an embedded database, with made-up people, a plan, a leak, a case, and " +
		"a receiver of\n" +
		"signed alerts. A second partner is live, with a made-up past of 30 days: import the dump whose name is " +
		"printed and its people\n" +
		"are found in it. The folder (--data, by default ./data/demo) is kept between runs, and so are keys, people " +
		"and log-in.\n" +
		"The demo makes its folder itself and works in no other one.\n\n" +
		"Examples:\n  vigia demo\n  vigia demo --tour\n  vigia demo --fresh --listen 127.0.0.1:9000"
}

// Run starts the demo and serves until a signal comes.
func (d *demoCmd) Run(ctx context.Context, c *config.Common, o *output) (err error) {
	common := *c
	if _, isGiven := o.given["data"]; !isGiven && os.Getenv("VIGIA_DATA") == "" {
		common.Data = filepath.Join(common.Data, "demo") // a demo does not mix with an installation in the usual folder
	}
	common.ReaderUnconfined = true // its dumps are its own, and it must start everywhere
	if !reader.HasConfinement() {
		_, _ = fmt.Fprintln(
			o.err,
			"This system has neither Landlock nor seccomp: the demo reads dumps in a process that nothing confines. "+
				"Import none but its own.",
		)
	}
	if err := checkDemoSettings(common); err != nil {
		return err
	}
	if err := prepareDemoFolder(common.Data, d.Fresh); err != nil {
		return err
	}
	receiver, err := newReceiver(ctx, freeListenAddress(ctx, d.ReceiverListen, "127.0.0.1:8082"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, receiver.closeServer()) }()
	serve := config.Serve{
		Listen:         freeListenAddress(ctx, d.Listen, "127.0.0.1:8080"),
		ConsoleListen:  freeListenAddress(ctx, d.ConsoleListen, "127.0.0.1:8081"),
		Roles:          []string{"api", "worker", "console"},
		LogLevel:       "error",
		LogFormat:      "auto",
		MaxConnections: 8,
		WebhookAllow:   []string{"127.0.0.0/8", "::1/128"},
		StopTime:       10 * time.Second, // none at all would call a stop beside an open connection a failure
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
			console := strings.Replace(srv.ConsoleAddr.String(), "127.0.0.1", "localhost", 1) // passkeys need a name
			world.api, world.console = "http://"+srv.APIAddr.String(), "http://"+console
			err := world.beginWorld(running, o.w, d.Tour)
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

// freeListenAddress returns the default address, or a free port on the same host when the default is taken. An address
// that the user chose is returned unchanged, so that the user sees the error that it is taken.
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
