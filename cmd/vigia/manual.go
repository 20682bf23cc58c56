package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd is 'vigia man', which packages install as vigia(1). The page is made from the same tags and texts as --help.
type manCmd struct{}

func (manCmd) Help() string { return "Example:\n  vigia man > vigia.1 && man ./vigia.1" }

func (manCmd) Run(ctx *kong.Context, o *output) error { return writeManual(o.w, ctx.Model) }

// writeManual writes the manual page of every command in roff.
func writeManual(w io.Writer, app *kong.Application) error {
	var b strings.Builder
	date := ""
	if at, known := buildTime(); known {
		date = at.UTC().Format("2006-01-02")
	}
	fmt.Fprintf(&b, ".TH VIGIA 1 %q %q\n", date, "Vigia "+versionText())
	b.WriteString(".SH NAME\nvigia \\- digital protection that an operator runs for its partners\n")
	b.WriteString(".SH SYNOPSIS\n.B vigia\n.I command\n[\\fIflag\\fR ...]\n.SH DESCRIPTION\n")
	b.WriteString(roffText(app.Help) + "\n")
	for _, group := range commandGroups {
		fmt.Fprintf(&b, ".SH %s\n", strings.ToUpper(roffText(group.Title)))
		for _, node := range app.Children {
			if node.Group != nil && node.Group.Key == group.Key && !node.Hidden {
				writeCommand(&b, node)
			}
		}
	}
	b.WriteString(".SH FLAGS OF EVERY COMMAND\n")
	for _, f := range app.Flags {
		writeFlag(&b, f)
	}
	b.WriteString(".SH EXIT STATUS\n")
	for code, meaning := range exitMeanings {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", code, roffText(meaning))
	}
	b.WriteString(".SH SEE ALSO\nThe documents of the project, in /usr/share/doc/vigia where a package installed it.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeCommand writes a command with its arguments and flags, or all commands of a group.
func writeCommand(b *strings.Builder, node *kong.Node) {
	if !node.Leaf() {
		for _, child := range node.Children {
			writeCommand(b, child)
		}
		return
	}
	fmt.Fprintf(b, ".SS %s\n", roffText(strings.TrimPrefix(node.Summary(), "vigia ")))
	b.WriteString(roffText(node.Help) + "\n")
	if node.Detail != "" {
		b.WriteString(".PP\n" + roffText(node.Detail) + "\n")
	}
	for _, argument := range node.Positional {
		fmt.Fprintf(b, ".TP\n.I %s\n%s\n", roffText(argument.Summary()), roffText(argument.Help))
	}
	for _, f := range node.Flags {
		writeFlag(b, f)
	}
}

// writeFlag writes a flag, its help, its default and the variable that sets it.
func writeFlag(b *strings.Builder, f *kong.Flag) {
	if f.Hidden {
		return
	}
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roffText(f.String()), roffText(withDefault(f.Value)))
}

// roffText escapes a text: a backslash, a dash that is typed, and a line that would be read as a request. Lines that
// begin with blanks are examples and stay as they are.
func roffText(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	var lines []string
	inExample := false
	for line := range strings.SplitSeq(text, "\n") {
		isExample := strings.HasPrefix(line, "  ")
		if isExample != inExample {
			request := ".nf"
			if inExample {
				request = ".fi"
			}
			lines = append(lines, request)
			inExample = isExample
		}
		switch {
		case line == "":
			line = ".PP"
		case line[0] == '.' || line[0] == '\'':
			line = `\&` + line
		}
		lines = append(lines, line)
	}
	if inExample {
		lines = append(lines, ".fi")
	}
	return strings.Join(lines, "\n")
}
