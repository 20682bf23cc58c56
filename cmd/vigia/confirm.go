package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

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

// errNotConfirmed ends a command whose user did not confirm what it would do.
var errNotConfirmed = fault.New(fault.Invalid, "command.not_confirmed")

// askYesOrNo asks the person at the terminal; no answer means no.
func (o *output) askYesOrNo(question string) bool {
	_, _ = fmt.Fprintf(o.err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(o.person).ReadString('\n')
	return (err == nil || answer != "") && strings.EqualFold(strings.TrimSpace(answer), "y")
}

// personAt returns where the answers of a person come from; nil where none can be asked, such as in a script.
func personAt(in *os.File, stderr io.Writer) io.Reader {
	asked, isFile := stderr.(*os.File)
	if !isFile || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(asked.Fd())) {
		return nil
	}
	return in
}
