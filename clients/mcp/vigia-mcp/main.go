// Vigia-mcp gives assistants tools by the Model Context Protocol: they only read unless -write is given, ask the
// partner API with the partner's key, and mask personal values. docs/assistants.md has the tools.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/clients/mcp"
)

// errUsage is an error of whoever started the program.
var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return
	case errors.Is(err, errUsage):
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "vigia-mcp:", err)
	os.Exit(1)
}

// settings are what the program is told.
type settings struct {
	api, key, salt, listen string
	write                  bool
}

// run answers until standard input ends, or the context does.
func run(ctx context.Context, args []string, say io.Writer) error {
	set, err := readSettings(args, say)
	if err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		_, _ = fmt.Fprintf(say, "vigia-mcp: "+format+"\n", args...)
		return errUsage
	}
	log := slog.New(slog.NewTextHandler(say, nil))
	if set.listen != "" {
		if _, err := client.New(client.Config{URL: set.api, Key: "of-each-request"}); err != nil {
			return refuse("-api: %v", err)
		}
		return serveHTTP(ctx, set, say, log)
	}
	if !mcp.IsKey(set.key) {
		return refuse("a partner's API key is needed, from VIGIA_API_KEY or VIGIA_API_KEY_FILE")
	}
	ask, err := client.New(client.Config{URL: set.api, Key: set.key})
	if err != nil {
		return refuse("-api: %v", err)
	}
	err = mcp.New(version(), ask, mcp.Options{Salt: set.salt, Write: set.write}, log).Run(ctx, &sdk.StdioTransport{})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// readSettings reads flags and variables. Secrets come by variables or files alone: flags are seen by everybody on the
// machine.
func readSettings(args []string, say io.Writer) (set settings, err error) {
	flags := flag.NewFlagSet("vigia-mcp", flag.ContinueOnError)
	flags.SetOutput(say)
	api := cmp.Or(os.Getenv("VIGIA_API"), "http://127.0.0.1:8080")
	flags.StringVar(&set.api, "api", api, "`URL` of the partner API that is asked")
	flags.StringVar(&set.listen, "listen", "", "serve over HTTP at this `ADDRESS` instead of standard input and "+
		"output; each request\nbrings its own key as x-api-key or bearer token")
	flags.BoolVar(&set.write, "write", false, "add the tools that change something: open_case and send_page_link; "+
		"the key needs the\nscope cyber, too")
	flags.Usage = func() {
		_, _ = fmt.Fprint(say, "Tools for assistants, by the Model Context Protocol.\n\n"+
			"  VIGIA_API_KEY_FILE=/run/secrets/key vigia-mcp -api https://vigia.exemplo.com.br\n"+
			"  vigia-mcp -api https://vigia.exemplo.com.br -listen 127.0.0.1:8090\n\n"+
			"VIGIA_API_KEY is the partner's key, best one with the scopes cyber:read and subscriptions:read alone;\n"+
			"VIGIA_SALT the partner's salt, for a tool that finds people by name. VIGIA_API_KEY_FILE and\n"+
			"VIGIA_SALT_FILE name files that hold them.\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return set, err
		}
		return set, errUsage
	}
	if flags.NArg() > 0 {
		_, _ = fmt.Fprintf(say, "vigia-mcp: %q is no flag; see vigia-mcp -help\n", flags.Arg(0))
		return set, errUsage
	}
	if set.key, err = readSecret("VIGIA_API_KEY"); err == nil {
		set.salt, err = readSecret("VIGIA_SALT")
	}
	return set, err
}

// readSecret returns a variable, or what the file holds that the variable with _FILE names.
func readSecret(name string) (string, error) {
	file := os.Getenv(name + "_FILE")
	if file == "" {
		return os.Getenv(name), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s_FILE: %w", name, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// version is that of the module the program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// serveHTTP answers over HTTP.
func serveHTTP(ctx context.Context, set settings, say io.Writer, log *slog.Logger) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", set.listen)
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	server := &http.Server{
		Handler:        mcp.Handler(version(), set.api, set.write, nil, log),
		ReadTimeout:    15 * time.Second,
		WriteTimeout:   time.Minute,
		IdleTimeout:    time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	_, _ = fmt.Fprintf(say, "Tools for assistants at http://%s\n", listener.Addr())
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
