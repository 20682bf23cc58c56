package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type manCmd struct{}

// Help shows examples.
func (manCmd) Help() string {
	return "Prints the manual page, made from the same source as --help.\n\nExamples:\n  vigia man | man -l -\n" +
		"  vigia man > /usr/local/share/man/man1/vigia.1"
}

// Run prints the page.
func (manCmd) Run(k *kong.Context, o *output) error {
	page := manPage(k.Model)
	return o.print(map[string]string{"page": page}, func(w io.Writer) { _, _ = io.WriteString(w, page) })
}

// exitCodes are the same in docs/operations.md; a test compares them.
var exitCodes = []struct {
	code  int
	means string
}{
	{exitOK, "done"},
	{exitFailure, "it failed; the message says why"},
	{exitUsage, "the command line or the configuration is wrong"},
	{exitNotFound, "what was named does not exist"},
	{exitConflict, "it conflicts with what is there"},
}

// manPage writes the model as a page for man(1).
func manPage(model *kong.Application) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	about, examples, _ := strings.Cut(model.Help, "\n\nExamples:\n")
	p(`.TH VIGIA 1 "" "vigia %s" "Vigia"`, roff(versionText()))
	p(".SH NAME\nvigia \\- digital protection that an operator runs for its partners")
	p(".SH SYNOPSIS\n.B vigia\n.I command\n[\\fIflags\\fR]")
	p(".SH DESCRIPTION\n%s\n.PP\nEvery command takes \\fB\\-\\-help\\fR, and \\fB\\-\\-json\\fR for output that programs read.", roff(about))
	p(".SH OPTIONS OF EVERY COMMAND")
	manFlags(&b, model.Node)
	p(".SH COMMANDS")
	manCommands(&b, model.Node)
	p(".SH EXIT STATUS")
	for _, e := range exitCodes {
		p(".TP\n.B %d\n%s", e.code, roff(e.means))
	}
	p(".SH EXAMPLES\n.nf\n%s\n.fi", roff(examples))
	p(".SH SEE ALSO\ndocs/operations.md and docs/configuration.md of the project; \\fBvigia doctor\\fR explains what is wrong with a set\\-up.")
	return b.String()
}

// manCommands writes every command that can be run, by its full name.
func manCommands(b *strings.Builder, node *kong.Node) {
	for _, child := range node.Children {
		if child.Hidden {
			continue
		}
		if !child.Leaf() {
			manCommands(b, child)
			continue
		}
		fmt.Fprintf(b, ".SS %s\n%s\n", roff(strings.TrimSpace(child.FullPath()+manArguments(child))), roff(child.Help))
		if child.Detail != "" {
			fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", roff(child.Detail))
		}
		manFlags(b, child)
	}
}

func manArguments(node *kong.Node) string {
	text := ""
	for _, a := range node.Positional {
		text += " " + a.Summary()
	}
	return text
}

func manFlags(b *strings.Builder, node *kong.Node) {
	for _, f := range node.Flags {
		if f.Hidden {
			continue
		}
		name := "--" + f.Name
		if !f.IsBool() {
			name += "=" + f.FormatPlaceHolder()
		}
		help := f.Help
		if len(f.Envs) > 0 {
			help += " Variable: " + strings.Join(f.Envs, ", ") + "."
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(help))
	}
}

// roff escapes what troff would take as its own: backslashes, hyphens, and lines that begin with a dot or a quote.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
