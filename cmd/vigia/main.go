// Command vigia is the whole service: the server, its admin commands and the demo. No rule lives here.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
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

	Demo         demoCmd         `cmd:"" help:"Start everything on an embedded database with a sandbox partner, and print a key and curl lines to paste."`
	Serve        serveCmd        `cmd:"" help:"Run the service."`
	Migrate      migrateCmd      `cmd:"" help:"Bring the database up to date and stop; serve does it too."`
	Partner      partnerCmd      `cmd:"" help:"Partners: create, list, show, suspend, resume, set."`
	Key          keyCmd          `cmd:"" help:"API keys of a partner: create, list, roll, revoke."`
	Keys         keysCmd         `cmd:"" help:"The keys that seal personal data: rotate, status."`
	Service      serviceCmd      `cmd:"" help:"Catalogue of support services: add, list, edit, retire."`
	Passwords    passwordsCmd    `cmd:"" help:"Breached-password corpora: import, download, status, verify."`
	Webhook      webhookCmd      `cmd:"" help:"Webhook endpoints: create, list, show, test, rotate, enable, disable, delete."`
	Event        eventCmd        `cmd:"" help:"Events and their deliveries: list, replay, report."`
	Operator     operatorCmd     `cmd:"" help:"People who use the console: create, list, role, reset, disable, enable, logout."`
	Audit        auditCmd        `cmd:"" help:"The audit trail: list, verify."`
	Breach       breachCmd       `cmd:"" help:"Breaches: import, list, show, edit, verify, retract."`
	Feed         feedCmd         `cmd:"" help:"Continuous sources of dumps: add, list, pause, resume, run."`
	Asset        assetCmd        `cmd:"" help:"Watched values on the operator's side: add a domain, list a person's."`
	Epp          eppCmd          `cmd:"" help:"Endpoint-protection keys: load, status, source, show, revoke, replace."`
	Case         caseCmd         `cmd:"" help:"Support cases: list, show, move, assign, target, question, slot."`
	Content      contentCmd      `cmd:"" help:"Educational content: list, show, add, edit, retire, reset, import, export."`
	Score        scoreCmd        `cmd:"" help:"Risk score of a person: history."`
	Plan         planCmd         `cmd:"" help:"Plans of a partner: create, list, show, edit, retire."`
	Subscription subscriptionCmd `cmd:"" help:"Subscriptions: end, suspend, resume, import."`
	Subject      subjectCmd      `cmd:"" help:"A person's rights: export, erase, log, replay."`
	Report       reportCmd       `cmd:"" help:"Reports for people and authorities: access, incident."`
	Backup       backupCmd       `cmd:"" help:"Copy this installation to one file while it runs."`
	Restore      restoreCmd      `cmd:"" help:"Make an installation of a backup and check it."`
	Check        checkCmd        `cmd:"" help:"Look at everything that is kept and say what is wrong."`
	Doctor       doctorCmd       `cmd:"" help:"Explain what is wrong with a set-up, without changing it."`
	Completion   completionCmd   `cmd:"" help:"Print the completion script of a shell."`
	Complete     completeCmd     `cmd:"" hidden:"" help:"What may come next; asked by the shells."`
	Man          manCmd          `cmd:"" help:"Print the manual page."`
	Version      versionCmd      `cmd:"" help:"Print the version."`
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

// newParser makes the parser of the command line, every command with its examples.
func newParser(c *cli, stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	parser, err := kong.New(c, kong.Name("vigia"), kong.Writers(stdout, stderr),
		kong.Description("Vigia, digital protection that an operator runs for its partners.\n\nExamples:\n"+
			"  vigia demo\n  vigia serve --data /var/lib/vigia --listen :8080\n  vigia partner create --name 'Banco Exemplo' --json"),
		kong.Vars{"passwords_base": password.DefaultBase}, kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.Exit(exit))
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

func withOptions(ctx context.Context, c *config.Common, opts sqldb.Options, fn func(a *app.App) error) error {
	a, err := app.Open(ctx, *c, opts)
	if err != nil {
		return err
	}
	if err := recordCommand(ctx, a); err != nil {
		return errors.Join(err, a.Close())
	}
	return errors.Join(fn(a), a.Close())
}
