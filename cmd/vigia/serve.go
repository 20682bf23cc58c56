package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// serveCmd is 'vigia serve', which runs API, console and workers as its flags say.
type serveCmd struct {
	config.Serve
}

func (serveCmd) Help() string {
	return "Examples:\n  vigia serve --data /var/lib/vigia --listen :8080\n" +
		"  VIGIA_DATABASE_FILE=/run/secrets/db vigia serve --roles api --listen :8080"
}

func (s *serveCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	hideMemory()
	if err := s.CheckServe(*c); err != nil { // before anything is created
		return err
	}
	boundMemory()
	log, closeLog, err := openLogger(o.err, s.Serve)
	if err != nil {
		return err
	}
	isNew := isNewInstallation(c)
	a, err := app.OpenApp(ctx, *c, sqldb.Options{MaxConns: s.MaxConnections, ReadAddress: s.DatabaseRead})
	if err != nil {
		return errors.Join(err, closeLog())
	}
	if isNew {
		log.Warn("a new installation was begun", "data", absolutePath(c.Data), "root", placeOfRoot(c))
		if _, err := fmt.Fprint(o.err, firstCommands(c)); err != nil {
			return errors.Join(err, a.Close(), closeLog())
		}
	}
	a.WarnOfCustody(log, s.DatabaseRead)
	app.WarnOfRights(log, app.IsRoot(), reader.HasConfinement(), c.ReaderUnconfined)
	srv, err := app.NewServer(ctx, a, s.Serve, log, versionText())
	if err == nil {
		err = srv.Run(ctx)
	}
	return errors.Join(err, a.Close(), closeLog())
}

// firstCommands names what comes next in an installation in which there is nobody yet.
func firstCommands(c *config.Common) string {
	where := " --data '" + absolutePath(c.Data) + "'"
	if c.KeyFile != "" {
		where += " --key-file '" + absolutePath(c.KeyFile) + "'"
	}
	if c.Database != "" {
		where += " --database \"$VIGIA_DATABASE\"" // it may hold a password
	}
	return "This installation is empty. What comes next, in another terminal:\n" +
		"  vigia operator create YOU@EXAMPLE.COM --role admin" + where + "\n" +
		"  vigia partner create 'FIRST PARTNER' --people 1000" + where + "\n"
}

// openLogger writes to standard error, or appends to the configured file.
func openLogger(stderr io.Writer, s config.Serve) (*slog.Logger, func() error, error) {
	opts := telemetry.LogOptions{Level: s.SlogLevel(), Format: s.LogFormat}
	if s.LogFile == "" {
		signal.Ignore(syscall.SIGHUP) // there is no file to open anew, and a hang-up must not end a server
		return telemetry.NewLogger(stderr, opts), func() error { return nil }, nil
	}
	f, err := telemetry.OpenLogFile(s.LogFile)
	if err != nil {
		return nil, nil, fmt.Errorf("--log-file: %w", err)
	}
	log := telemetry.NewLogger(f, opts)
	stopReopening := reopenOnHangup(f, log)
	return log, func() error { stopReopening(); return f.Close() }, nil
}

// reopenOnHangup opens the log file anew at each SIGHUP, which is how logrotate says that it has moved the file away.
func reopenOnHangup(f *telemetry.LogFile, log *slog.Logger) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	done := make(chan struct{})
	var worker sync.WaitGroup
	worker.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-hangups:
				if err := f.Reopen(); err != nil {
					log.Error("the log file cannot be opened anew", "cause", err.Error())
				} else {
					log.Info("log file opened anew")
				}
			}
		}
	})
	return func() {
		signal.Stop(hangups)
		close(done)
		worker.Wait()
	}
}
