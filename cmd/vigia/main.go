// Command vigia is the whole service: the server, its admin commands and the demo.
//
// One file is one noun of the command line. A command is a struct whose fields are its flags; its Run asks the rules of
// package app, looks at the error and shows a record through output, as text or with --json. No rule and no SQL lives
// here, and nothing but output prints.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/platform/config"
)

// cli is every command. Its tags are the help texts.
type cli struct {
	config.Common
	HelpAll helpAllFlag `help:"Show help with the flags that every command takes."`
	Version versionFlag `help:"Print the version."`

	Demo         demoCmd         `cmd:"" group:"run" help:"Start everything on an embedded database with a sandbox partner, and print a key and curl lines to paste."`
	Serve        serveCmd        `cmd:"" group:"run" help:"Run the service."`
	Migrate      migrateCmd      `cmd:"" group:"run" help:"Bring the database up to date and stop; serve does it too."`
	Doctor       doctorCmd       `cmd:"" group:"run" help:"Explain what is wrong with a set-up, without changing it."`
	Check        checkCmd        `cmd:"" group:"run" help:"Look at everything that is kept and say what is wrong."`
	Backup       backupCmd       `cmd:"" group:"run" help:"Copy this installation to one file while it runs."`
	Restore      restoreCmd      `cmd:"" group:"run" help:"Make an installation of a backup and check it."`
	Keys         keysCmd         `cmd:"" group:"run" help:"The keys that seal personal data: rotate, drop, status, root."`
	Partner      partnerCmd      `cmd:"" group:"clients" help:"Partners: create, list, show, suspend, resume, set, share, grant-looks."`
	Key          keyCmd          `cmd:"" group:"clients" help:"API keys of a partner: create, list, roll, revoke."`
	Plan         planCmd         `cmd:"" group:"clients" help:"Plans of a partner: create, list, show, edit, retire."`
	Subscription subscriptionCmd `cmd:"" group:"clients" help:"Subscriptions: import, list."`
	Webhook      webhookCmd      `cmd:"" group:"clients" help:"Webhook endpoints: create, list, show, test, rotate, enable, disable, delete."`
	Event        struct {
		List eventListCmd `cmd:"" help:"List a partner's events, or the deliveries and attempts of one."`
	} `cmd:"" group:"clients" help:"Events and their deliveries: list."`
	Listen  listenCmd  `cmd:"" group:"clients" help:"Post the events of a sandbox partner to a program on this machine, signed."`
	Trigger triggerCmd `cmd:"" group:"clients" help:"Send a signed sample of any type of event to a webhook or to a program on this machine."`
	Message struct {
		List messageListCmd `cmd:"" help:"List the texts, and who wrote each."`
	} `cmd:"" group:"clients" help:"What people read of events: list."`
	Breach    breachCmd    `cmd:"" group:"protect" help:"Breaches: import, append, list, show, explain, edit, verify, retract."`
	Passwords passwordsCmd `cmd:"" group:"protect" help:"Breached-password corpora: import, download, status, verify."`
	Feed      feedCmd      `cmd:"" group:"protect" help:"Continuous sources of dumps: add, list, show, pause, resume, run, rotate, remove."`
	Asset     struct {
		List assetListCmd `cmd:"" help:"List the watched values of a person, masked."`
	} `cmd:"" group:"protect" help:"Watched values of a person: list."`
	Case struct {
		List caseListCmd `cmd:"" help:"List the newest cases."`
	} `cmd:"" group:"protect" help:"Support cases: list."`
	Operator operatorCmd `cmd:"" group:"people" help:"People who use the console: create, invite, list, role, reset, disable, enable, logout."`
	Audit    auditCmd    `cmd:"" group:"people" help:"The audit trail: list, verify."`
	Subject  subjectCmd  `cmd:"" group:"people" help:"A person's rights: export, erase, log, replay."`
	Print    versionCmd  `cmd:"" name:"version" group:"run" help:"Print the version."`

	Completion completionCmd `cmd:"" group:"run" help:"Print a script that completes this command line in a shell."`
	Man        manCmd        `cmd:"" group:"run" help:"Print the manual page."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := runCommand(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// newParser makes the parser of the command line.
func newParser(c *cli, stdout, stderr io.Writer, exit func(int), more ...kong.Option) (*kong.Kong, error) {
	parser, err := kong.New(c, append(
		more,
		kong.Name("vigia"),
		kong.Writers(stdout, stderr),
		kong.Description("Vigia, digital protection that an operator runs for its partners.\n\nExamples:\n"+
			"  vigia demo\n  vigia serve --data /var/lib/vigia --listen :8080\n  vigia partner create 'Banco "+
			"Exemplo' --json"),
		kong.Vars{
			"passwords_base": password.DefaultBase,
		},
		kong.UsageOnError(),
		kong.ConfigureHelp(helpOptions),
		kong.Help(printHelp),
		kong.ExplicitGroups(commandGroups),
		kong.Exit(exit),
	)...)
	if err != nil {
		return nil, err
	}
	for _, f := range parser.Model.Flags { // behind a command's own
		f.Group = &kong.Group{Key: "every", Title: "Flags of every command:"}
	}
	return parser, nil
}

// collectUnread has values that cannot be read listed together, where kong stops at the first one.
func collectUnread(list *config.Problems) kong.Option {
	known := kong.NewRegistry().RegisterDefaults()
	return kong.OptionFunc(func(k *kong.Kong) error {
		for _, typ := range []reflect.Type{
			reflect.TypeFor[string](),
			reflect.TypeFor[int](),
			reflect.TypeFor[time.Duration](),
		} {
			read := func(ctx *kong.DecodeContext, target reflect.Value) error {
				v := ctx.Value
				err := known.ForType(typ).Decode(ctx, target)
				if err == nil && v.Flag != nil && v.Enum != "" && typ.Kind() == reflect.String &&
					!v.EnumMap()[target.String()] {
					err = fmt.Errorf("%q is none of %s", target, strings.ReplaceAll(v.Enum, ",", ", "))
					target.SetString(v.EnumSlice()[0]) // or kong refuses this one alone
				}
				if err == nil || v.Flag == nil {
					return err
				}
				if problem := "--" + v.Name + ": " + err.Error(); !slices.Contains(*list, problem) {
					*list = append(*list, problem)
				}
				return nil
			}
			if err := kong.TypeMapper(typ, kong.MapperFunc(read)).Apply(k); err != nil {
				return err
			}
		}
		return nil
	})
}

// runCommand is main without the exit of the process, so that tests can call it.
func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c cli
	var unread config.Problems
	exit := -1
	parser, err := newParser(
		&c, stdout, stderr, func(code int) { exit = code; panic(exited{}) }, collectUnread(&unread),
	)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "vigia:", err)
		return exitFailure
	}
	if !slices.Contains(args, "demo") { // which is not to play with the service's data
		unread = unread.And(config.LoadSettingsFile())
	}
	unread = unread.And(config.LoadSecretFiles())
	if len(args) > 0 && args[0] == completeWord {
		printSuggestions(stdout, parser.Model, args[1:])
		return exitOK
	}
	args = takeOldFlags(askForHelp(args))
	parsed, err := parseArguments(parser, args)
	if exit >= 0 { // --help
		return exit
	}
	if err == nil && len(unread) > 0 {
		if parsed.Command() == "serve" {
			unread = unread.And(c.Serve.CheckServe(c.Common))
		}
		err = unread
	}
	if err != nil {
		printUsage(err, args, stderr)
		return exitUsage
	}
	o := &output{w: stdout, err: stderr, json: c.JSON, person: personAt(os.Stdin, stderr), given: givenNames(parsed)}
	warnOfUnknownVariables(parser.Model, os.Environ(), o)
	ctx = withCommand(ctx, parsed)
	parsed.BindTo(ctx, (*context.Context)(nil))
	var opened *app.App
	open := opener(func() (a *app.App, err error) {
		opened, err = openAppForCommand(ctx, &c.Common, o)
		return opened, err
	})
	err = parsed.BindSingletonProvider(func() (*app.App, error) { return open() })
	if err == nil {
		err = parsed.Run(&c.Common, o, open)
	}
	if opened != nil {
		err = errors.Join(err, opened.Close())
	}
	if err != nil {
		o.printFailure(err)
		return exitCode(err)
	}
	return exitOK
}

// opener opens the service, for the commands that do not always need it; others take an *app.App.
type opener func() (*app.App, error)

// parseArguments stops kong where it would end the process.
func parseArguments(parser *kong.Kong, args []string) (ctx *kong.Context, err error) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(exited); !ok {
				panic(p)
			}
		}
	}()
	return parser.Parse(args)
}
