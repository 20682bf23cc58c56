package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// namedByFlag are the commands whose first argument used to be given by a flag; the flag is still taken.
var namedByFlag = map[string]string{
	"partner create":   "name",
	"key roll":         "key",
	"key revoke":       "key",
	"plan create":      "id",
	"breach import":    "name",
	"breach append":    "name",
	"breach show":      "name",
	"breach edit":      "name",
	"breach explain":   "name",
	"breach verify":    "name",
	"breach retract":   "name",
	"feed add":         "name",
	"operator create":  "email",
	"operator invite":  "email",
	"operator role":    "email",
	"operator reset":   "email",
	"operator disable": "email",
	"operator enable":  "email",
	"operator logout":  "email",
}

// takeOldFlags puts the name of what a command works on where it is expected, behind the command, if it was given by
// the flag that was used before names became arguments.
func takeOldFlags(args []string) []string {
	at, flag := findNamedCommand(args)
	if flag == "" {
		return args
	}
	for i := at; i < len(args); i++ {
		if args[i] == "--" {
			return args
		}
		if value, found := strings.CutPrefix(args[i], "--"+flag+"="); found {
			return slices.Concat(args[:at], []string{value}, args[at:i], args[i+1:])
		}
		if args[i] == "--"+flag && i+1 < len(args) {
			return slices.Concat(args[:at], []string{args[i+1]}, args[at:i], args[i+2:])
		}
	}
	return args
}

// findNamedCommand returns where the arguments of a command of namedByFlag begin, and its old flag; an empty flag for
// any other command.
func findNamedCommand(args []string) (at int, flag string) {
	for i := 0; i+1 < len(args); i++ {
		if flag, found := namedByFlag[args[i]+" "+args[i+1]]; found {
			return i + 2, flag
		}
	}
	return 0, ""
}

// askForHelp turns 'vigia help partner create' into 'vigia partner create --help'.
func askForHelp(args []string) []string {
	if len(args) == 0 || args[0] != "help" {
		return args
	}
	return append(slices.Clone(args[1:]), "--help")
}

// versionFlag prints the version, as 'vigia version' does.
type versionFlag bool

// BeforeReset prints the version and ends the program, as kong's own flags do.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	if _, err := fmt.Fprintf(app.Stdout, "vigia %s, commit %s\n", versionText(), commitText()); err != nil {
		return err
	}
	app.Exit(exitOK)
	return nil
}

// groupWithoutCommand returns the group of commands that was called without one of its commands, such as 'vigia
// partner'; nil for every other wrong call.
func groupWithoutCommand(err error, args []string) *kong.Context {
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) {
		return nil
	}
	node := wrong.Context.Model.Node
	if selected := wrong.Context.Selected(); selected != nil {
		node = selected
	}
	if node.Leaf() || len(args) > 0 && args[len(args)-1] != node.Name && node != wrong.Context.Model.Node {
		return nil
	}
	if node == wrong.Context.Model.Node && len(args) > 0 {
		return nil
	}
	return wrong.Context
}

// printUsage says what was wrong with a call and where help is; a group of commands that is called alone shows its
// help.
func printUsage(err error, args []string, stderr io.Writer) {
	if group := groupWithoutCommand(err, args); group != nil {
		group.Stdout = stderr
		if printHelp(helpOptions, group) == nil {
			return
		}
	}
	text := err.Error()
	var f *fault.Error // of a flag's value: its code and cause are for logs
	if errors.As(err, &f) && f.Detail() != "" {
		text = f.Detail()
	}
	_, _ = fmt.Fprintln(stderr, "vigia:", text)
	_, _ = fmt.Fprintln(stderr, "Run 'vigia --help', or add --help to a command, for what it takes.")
}
