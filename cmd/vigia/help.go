package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

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
