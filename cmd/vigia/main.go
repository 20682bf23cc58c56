// Command vigia is the whole service: the server, its admin commands and the demo.
//
// One file is one noun of the command line. A command is a struct whose fields are its flags; its Run asks the rules of
// package app, looks at the error and shows a record through output, as text or with --json. No rule and no SQL lives
// here, and nothing but output prints.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
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
	Breach    breachCmd    `cmd:"" group:"protect" help:"Breaches: import, append, replace, list, show, explain, edit, verify, retract."`
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

// Exit codes.
const (
	exitOK       = 0
	exitFailure  = 1
	exitUsage    = 2
	exitNotFound = 3
	exitConflict = 4
	exitPartly   = 5
)

// exitMeanings says what each exit code means; the manual page and the documents show it.
var exitMeanings = []string{
	exitOK:       "It is done.",
	exitFailure:  "It failed, or what was checked is damaged; the message says why.",
	exitUsage:    "The command line or the configuration is wrong, or a file that it names cannot be read.",
	exitNotFound: "What was named does not exist.",
	exitConflict: "It conflicts with what is there.",
	exitPartly:   "It is done in part: some records were refused, and are in the file of rejects.",
}

// commandGroups are the headings of --help, in its order; the last is that of the flags of every command.
var commandGroups = []kong.Group{
	{Key: "run", Title: "Run an installation"},
	{Key: "clients", Title: "Partners"},
	{Key: "protect", Title: "Leaks and cases"},
	{Key: "people", Title: "Operators, their trail, and people's rights"},
}

// helpAllFlag prints help with the flags that every command takes; --help leaves them out.
type helpAllFlag bool

// BeforeReset prints the help, as kong's own flag does.
func (helpAllFlag) BeforeReset(ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(helpOptions, ctx); err != nil {
		return err
	}
	ctx.Kong.Exit(exitOK)
	return nil
}

// printHelp shows a command's own flags.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	for _, f := range ctx.Model.Flags {
		f.Hidden = f.Name != "help" && f.Name != "help-all" && f.Name != "version"
	}
	return kong.DefaultHelpPrinter(options, ctx)
}

// helpOptions are shared by --help and --help-all.
var helpOptions = kong.HelpOptions{
	Compact:             true,
	FlagsLast:           true,
	NoExpandSubcommands: true,
	ValueFormatter:      withDefault,
}

// withDefault adds to a flag's help what it is when left out, unless the text says so.
func withDefault(v *kong.Value) string {
	text := kong.DefaultHelpValueFormatter(v)
	if v.Flag == nil || !v.HasDefault || v.Default == "" || v.IsBool() || strings.Contains(v.Help, "default") {
		return text
	}
	return strings.TrimSuffix(text, ".") + " (default " + v.Default + ")."
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
		&c,
		stdout,
		stderr,
		func(code int) { exit = code; panic(exited{}) },
		collectUnread(&unread),
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

// exited is the value of the panic with which kong's exit is intercepted; see parseArguments.
type exited struct{}

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

// exitCode returns the exit status for an error, so that scripts can tell a wrong call from a failure.
func exitCode(err error) int {
	var problems config.Problems
	switch kind := fault.KindOf(err); {
	case errors.Is(err, errRejected):
		return exitPartly
	case errors.Is(err, backup.ErrNoBackup), errors.Is(err, backup.ErrDamaged):
		return exitFailure // the call was right, the file is not
	case errors.As(err, &problems), kind == fault.Invalid:
		return exitUsage
	case kind == fault.NotFound:
		return exitNotFound
	case kind == fault.Conflict:
		return exitConflict
	}
	return exitFailure
}

// founding are the commands that an installation may begin with; all others need one, so that a mistyped --data is
// noticed.
var founding = []string{
	"migrate",
	"partner.create",
	"operator.create",
	"passwords.import",
	"passwords.download",
	"breach.import",
	"feed.add",
}

// errNoInstallation is the answer of commands that do not begin an installation and find none.
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
	return errNoInstallation.Note(
		"data: no installation in %s; --data or VIGIA_DATA names the folder, and serve or partner create begins one",
		c.Data,
	)
}

// isNewInstallation reports whether opening begins an installation: there is neither a key file nor an embedded
// database.
func isNewInstallation(c *config.Common) bool {
	_, noDatabase := os.Stat(c.DatabaseAddress())
	if c.KMS != "" {
		return c.Database == "" && errors.Is(noDatabase, fs.ErrNotExist)
	}
	_, noKeys := os.Stat(c.KeyFilePath())
	return errors.Is(noKeys, fs.ErrNotExist) && (c.Database != "" || errors.Is(noDatabase, fs.ErrNotExist))
}

// placeOfRoot returns where the root key is, for people.
func placeOfRoot(c *config.Common) string {
	if c.KMS != "" {
		return c.KMS
	}
	return absolutePath(c.KeyFilePath())
}

// errNotBegun is the answer of a command whose user did not want a new installation.
var errNotBegun = fault.New(fault.Conflict, "data.not_begun")

// confirmNewInstallation asks a person at a terminal before a new installation is begun: --data may be mistyped.
func (o *output) confirmNewInstallation(c *config.Common) error {
	if o.person == nil {
		return nil
	}
	if !o.askYesOrNo("There is no installation in " + absolutePath(c.Data) + ". Begin a new one there?") {
		return errNotBegun.Note("data: nothing was begun; --data or VIGIA_DATA names the folder of an installation")
	}
	return nil
}

// askYesOrNo asks the person at the terminal; no answer means no.
func (o *output) askYesOrNo(question string) bool {
	_, _ = fmt.Fprintf(o.err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(o.person).ReadString('\n')
	return (err == nil || answer != "") && strings.EqualFold(strings.TrimSpace(answer), "y")
}

// errNotConfirmed ends a command whose user did not confirm what it would do.
var errNotConfirmed = fault.New(fault.Invalid, "command.not_confirmed")

// confirmFlag is taken by commands that ask before they do what is hard to undo.
type confirmFlag struct {
	Yes bool `help:"Do it without asking, as scripts need."`
}

// confirm shows what a command is about to do and asks for it; without a terminal to ask at, --yes is needed. With
// --json nothing is shown: standard error then has one JSON value, which is the refusal.
func (f confirmFlag) confirm(o *output, question string, preview record) error {
	if f.Yes {
		return nil
	}
	if !o.json {
		preview.writeLines(o.err)
	}
	if o.person == nil {
		return errNotConfirmed.Note("nothing was changed: there is no terminal to ask at, so --yes is needed")
	}
	if !o.askYesOrNo(question) {
		return errNotConfirmed.Note("nothing was changed")
	}
	return nil
}

// personAt returns where the answers of a person come from; nil where none can be asked, such as in a script.
func personAt(in *os.File, stderr io.Writer) io.Reader {
	asked, isFile := stderr.(*os.File)
	if !isFile || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(asked.Fd())) {
		return nil
	}
	return in
}

// absolutePath returns a path as it is from everywhere; as it was given where that cannot be told.
func absolutePath(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// openAppForCommand opens the service for an admin command, which may take long on a large database, and records the
// command.
func openAppForCommand(ctx context.Context, c *config.Common, o *output) (*app.App, error) {
	if err := installed(ctx, c); err != nil {
		return nil, err
	}
	isNew := isNewInstallation(c)
	if isNew {
		if err := o.confirmNewInstallation(c); err != nil {
			return nil, err
		}
	}
	a, err := app.OpenApp(ctx, *c, sqldb.Options{MaxConns: 4, StatementTimeout: app.LongStatement})
	if err != nil {
		return nil, err
	}
	if isNew {
		keep := ": keep a copy of that file apart"
		if c.KMS != "" {
			keep = ""
		}
		o.warn(fmt.Sprintf("a new installation was begun in %s, with its root key in %s%s; if you meant one that is "+
			"there already, check --data",
			absolutePath(c.Data), placeOfRoot(c), keep))
	}
	if err := recordCommand(ctx, a); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}
