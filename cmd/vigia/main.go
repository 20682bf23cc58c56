// Command vigia is the whole service: the server, its admin commands and the demo. No rule lives here.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// cli is every command. Its tags are the help texts.
type cli struct {
	config.Common

	Demo         demoCmd         `cmd:"" group:"run" help:"Start everything on an embedded database with a sandbox partner, and print a key and curl lines to paste."`
	Serve        serveCmd        `cmd:"" group:"run" help:"Run the service."`
	Migrate      migrateCmd      `cmd:"" group:"run" help:"Bring the database up to date and stop; serve does it too."`
	Partner      partnerCmd      `cmd:"" group:"clients" help:"Partners: create, list, show, suspend, resume, set."`
	Key          keyCmd          `cmd:"" group:"clients" help:"API keys of a partner: create, list, roll, revoke."`
	Keys         keysCmd         `cmd:"" group:"run" help:"The keys that seal personal data: rotate, drop, status."`
	Service      serviceCmd      `cmd:"" group:"protect" help:"Catalogue of support services: add, list, edit, retire."`
	Passwords    passwordsCmd    `cmd:"" group:"protect" help:"Breached-password corpora: import, download, status, verify."`
	Webhook      webhookCmd      `cmd:"" group:"tell" help:"Webhook endpoints: create, list, show, test, rotate, enable, disable, delete."`
	Event        eventCmd        `cmd:"" group:"tell" help:"Events and their deliveries: list, replay, report."`
	Message      messageCmd      `cmd:"" group:"tell" help:"What people read of events: list, show, set, reset."`
	Operator     operatorCmd     `cmd:"" group:"people" help:"People who use the console: create, list, role, reset, disable, enable, logout."`
	Audit        auditCmd        `cmd:"" group:"people" help:"The audit trail: list, verify."`
	Breach       breachCmd       `cmd:"" group:"protect" help:"Breaches: import, append, replace, relabel, list, show, explain, edit, verify, retract."`
	Feed         feedCmd         `cmd:"" group:"protect" help:"Continuous sources of dumps: add, list, pause, resume, run."`
	Asset        assetCmd        `cmd:"" group:"protect" help:"Watched values on the operator's side: add a domain, list a person's."`
	Epp          eppCmd          `cmd:"" group:"protect" help:"Endpoint-protection keys: load, status, source, show, revoke, replace, install."`
	Case         caseCmd         `cmd:"" group:"protect" help:"Support cases: list, show, move, note, assign, target, question, slot."`
	Content      contentCmd      `cmd:"" group:"protect" help:"Educational content: list, show, add, edit, retire, reset, import, export."`
	Score        scoreCmd        `cmd:"" group:"protect" help:"Risk score of a person: history."`
	Plan         planCmd         `cmd:"" group:"clients" help:"Plans of a partner: create, list, show, edit, retire."`
	Subscription subscriptionCmd `cmd:"" group:"clients" help:"Subscriptions: end, suspend, resume, import."`
	Subject      subjectCmd      `cmd:"" group:"people" help:"A person's rights: export, erase, log, replay."`
	Report       reportCmd       `cmd:"" group:"people" help:"Reports for people and authorities: access, incident."`
	Backup       backupCmd       `cmd:"" group:"run" help:"Copy this installation to one file while it runs."`
	Restore      restoreCmd      `cmd:"" group:"run" help:"Make an installation of a backup and check it."`
	Check        checkCmd        `cmd:"" group:"run" help:"Look at everything that is kept and say what is wrong."`
	Doctor       doctorCmd       `cmd:"" group:"run" help:"Explain what is wrong with a set-up, without changing it."`
	MCP          mcpCmd          `cmd:"" name:"mcp" group:"tell" help:"Tools for assistants that only read, by the Model Context Protocol."`
	Completion   completionCmd   `cmd:"" group:"shell" help:"Print the completion script of a shell."`
	Complete     completeCmd     `cmd:"" hidden:"" help:"What may come next; asked by the shells."`
	Man          manCmd          `cmd:"" group:"shell" help:"Print the manual page."`
	Version      versionCmd      `cmd:"" group:"shell" help:"Print the version."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Exit codes, as documented in docs/operations.md.
const (
	exitOK       = 0
	exitFailure  = 1
	exitUsage    = 2
	exitNotFound = 3
	exitConflict = 4
)

// commandGroups are the headings of --help, in its order.
var commandGroups = []kong.Group{
	{Key: "run", Title: "Run an installation"},
	{Key: "clients", Title: "Partners and what they sell"},
	{Key: "protect", Title: "Protection"},
	{Key: "tell", Title: "Alerts"},
	{Key: "people", Title: "People: operators, what they did, whom it is about"},
	{Key: "shell", Title: "Shell"},
}

// withDefault adds to a flag's help what it is when left out, unless the text says so.
func withDefault(v *kong.Value) string {
	text := kong.DefaultHelpValueFormatter(v)
	if v.Flag == nil || !v.HasDefault || v.Default == "" || v.IsBool() || strings.Contains(v.Help, "default") {
		return text
	}
	return strings.TrimSuffix(text, ".") + " (default " + v.Default + ")."
}

// newParser makes the parser of the command line, every command with its examples.
func newParser(c *cli, stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	parser, err := kong.New(c, kong.Name("vigia"), kong.Writers(stdout, stderr),
		kong.Description("Vigia, digital protection that an operator runs for its partners.\n\nExamples:\n"+
			"  vigia demo\n  vigia serve --data /var/lib/vigia --listen :8080\n  vigia partner create --name 'Banco Exemplo' --json"),
		kong.Vars{"passwords_base": password.DefaultBase}, kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true}),
		kong.ExplicitGroups(commandGroups), kong.ValueFormatter(withDefault), kong.Exit(exit))
	if err == nil {
		addExamples(parser.Model.Node)
	}
	return parser, err
}

// run is main without the process, so that tests call it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c cli
	exit := -1
	parser, err := newParser(&c, stdout, stderr, func(code int) { exit = code; panic(exited{}) })
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "vigia:", err)
		return exitFailure
	}
	if err := config.LoadSecretFiles(); err != nil {
		_, _ = fmt.Fprintln(stderr, "vigia:", err)
		return exitUsage
	}
	parsed, err := parse(parser, args)
	if exit >= 0 { // --help
		return exit
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "vigia:", err)
		_, _ = fmt.Fprintln(stderr, "Run 'vigia --help', or add --help to a command, for what it takes.")
		return exitUsage
	}
	o := &output{w: stdout, err: stderr, json: c.JSON}
	parsed.BindTo(withCommand(ctx, parsed), (*context.Context)(nil))
	if err := parsed.Run(&c.Common, o); err != nil {
		o.failure(err)
		return exitCode(err)
	}
	return exitOK
}

type exited struct{}

// parse stops kong where it would end the process.
func parse(parser *kong.Kong, args []string) (ctx *kong.Context, err error) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(exited); !ok {
				panic(p)
			}
		}
	}()
	return parser.Parse(args)
}

func exitCode(err error) int {
	var problems config.Problems
	switch kind := fault.KindOf(err); {
	case errors.As(err, &problems), kind == fault.Invalid:
		return exitUsage
	case kind == fault.NotFound:
		return exitNotFound
	case kind == fault.Conflict:
		return exitConflict
	}
	return exitFailure
}

// withApp opens the service for an admin command and closes it after.
func withApp(ctx context.Context, c *config.Common, fn func(a *app.App) error) error {
	return withOptions(ctx, c, sqldb.Options{MaxConns: 2}, fn)
}

// founding are the commands that an installation may begin with; all others need one, so that a mistyped --data is noticed.
var founding = []string{
	"migrate", "partner.create", "operator.create", "service.add", "passwords.import", "passwords.download", "breach.import", "feed.add", "content.import",
}

var errNoInstallation = fault.New(fault.NotFound, "data.not_found")

// installed refuses a command that has nothing to work on.
func installed(ctx context.Context, c *config.Common) error {
	running, _ := ctx.Value(commandKey{}).(command)
	if c.Database != "" || running.action == "" || slices.Contains(founding, running.action) {
		return nil
	}
	if _, err := os.Stat(c.DatabaseAddress()); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errNoInstallation.With("data: no installation in %s; --data or VIGIA_DATA names the folder, and serve or partner create begins one", c.Data)
}

func withOptions(ctx context.Context, c *config.Common, opts sqldb.Options, fn func(a *app.App) error) error {
	if err := installed(ctx, c); err != nil {
		return err
	}
	a, err := app.Open(ctx, *c, opts)
	if err != nil {
		return err
	}
	if err := recordCommand(ctx, a); err != nil {
		return errors.Join(err, a.Close())
	}
	return errors.Join(fn(a), a.Close())
}
