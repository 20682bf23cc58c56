package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// leaves are all commands that can be run.
func leaves(t *testing.T) []*kong.Node {
	t.Helper()
	var c cli
	p, err := newParser(&c, io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	list := p.Model.Leaves(false)
	if len(list) < 60 {
		t.Fatalf("only %d commands", len(list))
	}
	return list
}

var exampleLine = regexp.MustCompile(`(?m)^ {2,}(?:[A-Z_]+=\S+ )*(vigia .+)$`)

// TestHelpExamplesParse: every example that --help shows is a command line that the parser takes.
func TestHelpExamplesParse(t *testing.T) {
	parses := newJudge(t)
	for _, n := range leaves(t) {
		for _, m := range exampleLine.FindAllStringSubmatch(n.Detail, -1) {
			if err := parses(m[1]); err != nil {
				t.Errorf("%s --help shows %q: %v", n.Path(), m[1], err)
			}
		}
	}
}

// TestHelpShowsOwnFlags: --help shows a command's own flags, --help-all the global ones too, behind them.
func TestHelpShowsOwnFlags(t *testing.T) {
	code, out, errs := vigia(t, "key", "create", "--help")
	if code != exitOK || errs != "" || !strings.Contains(out, "--scopes") || strings.Contains(out, "--database") {
		t.Error(code, out, errs)
	}
	code, out, errs = vigia(t, "key", "create", "--help-all")
	own, global := strings.Index(out, "--scopes"), strings.Index(out, "--database")
	if code != exitOK || errs != "" || own < 0 || global < own {
		t.Error(code, out, errs)
	}
}

// newJudge returns what tells what is wrong with a command line; a pipe, a redirection or a comment ends it. One parser
// serves for all lines once it has forgotten which flags were set by the last.
func newJudge(t *testing.T) func(line string) error {
	t.Helper()
	var c cli
	p, err := newParser(&c, io.Discard, io.Discard, func(int) { panic(exited{}) })
	if err != nil {
		t.Fatal(err)
	}
	return func(line string) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = errors.New("it asks for help")
			}
		}()
		err = kong.Visit(p.Model.Node, func(node kong.Visitable, next kong.Next) error {
			if value, ok := node.(*kong.Value); ok {
				value.Set = false
			}
			return next(nil)
		})
		if err == nil {
			_, err = p.Parse(takeOldFlags(askForHelp(shellWords(line)[1:])))
		}
		if err != nil && strings.Contains(err.Error(), "no such file or directory") {
			err = nil // an example may name a file that only its reader has
		}
		return err
	}
}

func shellWords(line string) []string {
	var words []string
	for _, m := range regexp.MustCompile(`(?:[^\s'"]|'[^']*'|"[^"]*")+`).FindAllString(line, -1) {
		if m == "|" || m == ">" || m == "<" || m == "&&" || strings.HasPrefix(m, "#") {
			break
		}
		words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(m))
	}
	return words
}

// notOneShot are commands that run until they are stopped, and the ones that would look for another machine.
var notOneShot = []string{"serve", "demo", "passwords download"}

// ownFormat are commands that write a format of their own: a log of one JSON value a line, a script, a page.
var ownFormat = []string{"subject log", "completion", "man"}

// TestEveryCommandSpeaksJSON runs each command with made-up arguments on an empty installation: with --json it ends
// with one JSON value on standard output, or with a JSON error on standard error, and never with loose text.
func TestEveryCommandSpeaksJSON(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, n := range leaves(t) {
		path := n.Path()
		if slices.Contains(notOneShot, path) || slices.Contains(ownFormat, path) {
			continue
		}
		args := append(strings.Fields(path), madeUp(t, n)...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var out, errs bytes.Buffer
		code := runCommand(ctx, append(args, "--data", data, "--json"), &out, &errs)
		cancel()
		text := out.Bytes()
		if code != exitOK && out.Len() == 0 {
			text = lastLine(errs.Bytes())
		}
		if !json.Valid(bytes.TrimSpace(text)) || len(bytes.TrimSpace(text)) == 0 {
			t.Errorf("%s ends with code %d and prints\n%s\n%s", strings.Join(args, " "), code, &out, &errs)
		}
	}
}

func lastLine(text []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return lines[len(lines)-1]
}

// madeUp are values for what a command requires.
func madeUp(t *testing.T, n *kong.Node) []string {
	t.Helper()
	var args []string
	for _, a := range n.Positional {
		if a.Required {
			args = append(args, valueFor(t, a))
		}
	}
	for _, f := range n.Flags {
		if f.Required {
			args = append(args, "--"+f.Name+"="+valueFor(t, f.Value))
		}
	}
	return args
}

func valueFor(t *testing.T, v *kong.Value) string {
	t.Helper()
	switch kind := v.Target.Type().String(); {
	case v.Enum != "":
		return v.EnumSlice()[0]
	case kind == "time.Duration":
		return "1h"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"), strings.HasPrefix(kind, "float"):
		return "1"
	case strings.Contains(v.Tag.Type, "existing"), v.Tag.Type == "path":
		file := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(file, []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return "x"
}
