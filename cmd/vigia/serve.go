package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	product "github.com/vigiahq/vigia"
	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/web/assistant"
)

// serveCmd is 'vigia serve', which runs API, console and workers as its flags say.
type serveCmd struct {
	config.Serve
}

// Help shows examples.
func (serveCmd) Help() string {
	return "Examples:\n  vigia serve --data /var/lib/vigia --listen :8080\n" +
		"  VIGIA_DATABASE_FILE=/run/secrets/db vigia serve --roles api --listen :8080"
}

// Run serves until a signal comes.
func (s *serveCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	if err := s.CheckServe(*c); err != nil { // before anything is created
		return err
	}
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
		log.Warn("a new installation was begun", "data", absolutePath(c.Data), "keys", absolutePath(c.KeyFilePath()))
	}
	a.WarnOfCustody(log, s.DatabaseRead)
	app.WarnOfRights(log, app.IsRoot(), reader.HasConfinement(), c.ReaderUnconfined)
	srv, err := app.NewServer(ctx, a, s.Serve, log, versionText())
	if err == nil {
		err = srv.Run(ctx)
	}
	return errors.Join(err, a.Close(), closeLog())
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

// migrateCmd is 'vigia migrate', which brings the database to the schema of this program.
type migrateCmd struct {
	Distribute bool `help:"On a PostgreSQL with Citus: spread partners' tables over its machines, by partner."`
}

// Run migrates and says what the database has now.
func (m migrateCmd) Run(ctx context.Context, a *app.App, o *output) error {
	status := newRecord("engine", a.Engine, "status", "up to date")
	if m.Distribute {
		spread, err := a.Store.Distribute(ctx)
		if err != nil {
			return err
		}
		status = status.withPairs("distributed", spread)
	}
	return o.showRecord(status)
}

// mcpCmd is 'vigia mcp', a server of tools for AI assistants that asks the partner API with the partner's key.
type mcpCmd struct {
	API    string `name:"api" env:"VIGIA_API" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of the partner API that is asked."`
	APIKey string `name:"api-key" env:"VIGIA_API_KEY" default:"" placeholder:"KEY" help:"API key of the partner, best one with the scopes cyber:read and subscriptions:read alone. Use the environment or VIGIA_API_KEY_FILE. Over HTTP each request brings its own."`
	Salt   string `name:"salt" env:"VIGIA_SALT" default:"" placeholder:"SALT" help:"The partner's salt, for a tool that finds people by name. Use the environment or VIGIA_SALT_FILE. Over HTTP each request brings its own."`
	Write  bool   `name:"write" help:"Add the tools that change something: open_case and send_page_link. The key needs the scope cyber, too."`
	Listen string `name:"listen" default:"" placeholder:"ADDR" help:"Serve over HTTP at this address instead of standard input and output."`
}

// Help shows examples.
func (mcpCmd) Help() string {
	return "Tools for assistants, by the Model Context Protocol: they only read unless --write is given, ask the partner API with the partner's key, and mask personal values.\n\n" +
		"Examples:\n  VIGIA_API_KEY_FILE=/run/secrets/key vigia mcp --api https://vigia.exemplo.com.br\n  vigia mcp --listen 127.0.0.1:8090"
}

// Run answers until standard input ends, or a signal comes.
func (m *mcpCmd) Run(ctx context.Context, o *output) error {
	if m.Listen != "" {
		return m.serveHTTP(ctx, o)
	}
	if !partner.WellFormed(m.APIKey) {
		return config.Problems{"--api-key: a partner's API key is needed, from VIGIA_API_KEY or VIGIA_API_KEY_FILE"}
	}
	ask, err := client.New(client.Config{URL: m.API, Key: m.APIKey})
	if err != nil {
		return config.Problems{"--api: " + err.Error()}
	}
	err = assistant.New(versionText(), ask, assistant.Options{Salt: m.Salt, Write: m.Write}, telemetry.NewLogger(o.err, telemetry.LogOptions{})).Run(ctx, &mcp.StdioTransport{})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// serveHTTP answers over HTTP.
func (m *mcpCmd) serveHTTP(ctx context.Context, o *output) error {
	if _, err := client.New(client.Config{URL: m.API, Key: "of-each-request"}); err != nil {
		return config.Problems{"--api: " + err.Error()}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", m.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	server := &http.Server{
		Handler: assistant.Handler(
			versionText(),
			m.API,
			m.Write,
			nil,
			telemetry.NewLogger(o.err, telemetry.LogOptions{}),
		),
		ReadTimeout:    15 * time.Second,
		WriteTimeout:   time.Minute,
		IdleTimeout:    time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	_, _ = fmt.Fprintf(o.err, "Tools for assistants at http://%s\n", listener.Addr())
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(stopping); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

// These are set by -ldflags: the version, the commit and its time. Where they are not, the build's own record speaks.
var version, commit, built string

// recorded returns a setting that the Go toolchain recorded in the build; empty where it recorded none.
func recorded(key string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == key {
				return s.Value
			}
		}
	}
	return ""
}

// versionText returns the version of a release build, or the one that the Go toolchain recorded.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "v" + product.Version + "-devel"
}

// commitText returns the commit that was built, or "unknown".
func commitText() string { return cmp.Or(commit, recorded("vcs.revision"), "unknown") }

// buildTime returns the time of the commit, if it is known.
func buildTime() (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, cmp.Or(built, recorded("vcs.time")))
	return t, err == nil
}

// versionCmd is 'vigia version'.
type versionCmd struct {
	Check bool `help:"Also say what a start of this program would migrate in the database, without changing it."`
}

// Help shows examples.
func (versionCmd) Help() string {
	return "Before an upgrade, run the new program with --check beside the old service: it names the migrations that its first start would apply.\n\n" +
		"Example:\n  vigia version --check --data /var/lib/vigia"
}

// Run prints the version and the commit it was made from.
func (v versionCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	r := newRecord("version", versionText(), "commit", commitText())
	var pending []string
	if v.Check {
		var err error
		if pending, err = pendingMigrations(ctx, c); err != nil {
			return err
		}
		r = r.withPairs("migrations", pending)
	}
	return o.printValue(r, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "vigia %s, commit %s\n", versionText(), commitText())
		switch {
		case len(pending) > 0:
			_, _ = fmt.Fprintf(
				w,
				"The first start migrates the database: %s. Take a backup before; afterwards older versions refuse it.\n",
				strings.Join(pending, ", "),
			)
		case v.Check:
			_, _ = fmt.Fprintln(w, "The database is up to date; nothing is migrated.")
		}
	})
}

// pendingMigrations names the steps that a start would apply. A database that is missing has all of them before it; one
// that is newer than this program is an error.
func pendingMigrations(ctx context.Context, c *config.Common) ([]string, error) {
	list, err := store.MigrationList()
	if err != nil {
		return nil, err
	}
	pending := len(list)
	// Opening a missing SQLite file would create it.
	if _, err := os.Stat(c.DatabaseAddress()); c.Database != "" || err == nil {
		db, err := sqldb.OpenDatabase(
			ctx,
			c.DatabaseAddress(),
			sqldb.Options{MaxConns: 2, Insecure: c.DatabaseInsecure},
		)
		if err != nil {
			return nil, err
		}
		defer func() { _ = db.Close() }()
		if pending, err = db.CountPending(ctx, list); err != nil {
			return nil, err
		}
	}
	names := []string{}
	for _, m := range list[len(list)-pending:] {
		names = append(names, fmt.Sprintf("%04d_%s", m.Version, m.Name))
	}
	return names, nil
}
