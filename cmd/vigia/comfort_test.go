package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	if len(list) < 80 {
		t.Fatalf("only %d commands", len(list))
	}
	return list
}

var exampleLine = regexp.MustCompile(`(?m)^ {2,}(?:[A-Z_]+=\S+ )*(vigia .+)$`)

// TestEveryCommandHasAnExample: --help ends well and shows at least one example of the command itself, and every
// example that it shows is a command line that the parser takes.
func TestEveryCommandHasAnExample(t *testing.T) {
	all := leaves(t)
	parses := newJudge(t)
	for _, n := range all {
		path := n.Path()
		code, out, errs := vigia(t, append(strings.Fields(path), "--help")...)
		if code != exitOK || errs != "" || !strings.Contains(out, "Usage: vigia") {
			t.Errorf("%s --help: code %d, %s", path, code, errs)
		}
		own := 0
		for _, m := range exampleLine.FindAllStringSubmatch(n.Detail, -1) {
			line := m[1]
			if line == "vigia "+path || strings.HasPrefix(line, "vigia "+path+" ") {
				own++
			}
			if err := parses(line); err != nil {
				t.Errorf("%s --help shows %q: %v", path, line, err)
			}
		}
		if own == 0 {
			t.Errorf("%s --help has no example of it", path)
		}
	}
	for path := range examples {
		if !slices.ContainsFunc(all, func(n *kong.Node) bool { return n.Path() == path }) {
			t.Errorf("there is an example for %s, which is no command", path)
		}
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
			_, err = p.Parse(shellWords(line)[1:])
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

// ownFormat are commands that write a file in a format of its own: a catalogue in YAML, a log of one JSON value a line.
var ownFormat = []string{"content export", "subject log"}

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
		code := run(ctx, append(args, "--data", data, "--json"), &out, &errs)
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

// TestExitCodesAreDocumented compares the manual page's list with the operator's page.
func TestExitCodesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range exitCodes {
		if !strings.Contains(string(page), fmt.Sprintf("| %d | %s |", e.code, e.means)) {
			t.Errorf("docs/operations.md does not say that %d means %q", e.code, e.means)
		}
	}
}

func TestNextWords(t *testing.T) {
	var c cli
	p, err := newParser(&c, io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]string{
		"par":                                 "partner",
		"partner cr":                          "create",
		"partner create --san":                "--sandbox",
		"partner create --js":                 "--json", // of every command
		"--data /x partner cr":                "create", // a flag's value is no command
		"serve --log-level d":                 "debug",
		"serve --log-level=debug --log-form":  "--log-format",
		"completion f":                        "fish",
		"partner create --sandbox --name x -": "--name",
		"comp":                                "completion", // and not the hidden one
		"partner create --name ":              "",           // anything
		"nonsense ":                           "demo",       // still at the top
	} {
		got := nextWords(p.Model.Node, strings.Split(typed, " "))
		if want == "" && len(got) == 0 {
			continue
		}
		if len(got) == 0 || !slices.ContainsFunc(got, func(s suggestion) bool { return s.Word == want }) ||
			slices.ContainsFunc(got, func(s suggestion) bool { return s.Word == "complete" || strings.ContainsAny(s.About, "\n\t") }) {
			t.Errorf("%q: %v", typed, got)
		}
	}
}

// TestBashCompletes sources the script in a real bash.
func TestBashCompletes(t *testing.T) {
	folder := filepath.Dir(binary(t, ""))
	script := `source <(vigia completion bash)
COMP_WORDS=(vigia partner s); COMP_CWORD=2; _vigia; echo "${COMPREPLY[*]}"
COMP_WORDS=(vigia serve --log-format ""); COMP_CWORD=3; _vigia; echo "${COMPREPLY[*]}"
COMP_WORDS=(vigia); COMP_CWORD=1; _vigia; echo "${#COMPREPLY[@]}"`
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
	cmd.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 3 || lines[0] != "show suspend set" || lines[1] != "auto json text" || len(lines[2]) < 2 {
		t.Errorf("%v: %s", err, out)
	}
}

// TestZshAndFishComplete gives the other two scripts to their shells. These are not on every machine, so it is part of
// the long run.
func TestZshAndFishComplete(t *testing.T) {
	if !long() {
		t.Skip("needs zsh and fish: VIGIA_TEST_LONG=1")
	}
	program := binary(t, "")
	run := func(shell string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), shell, args...)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
		return string(out)
	}
	for _, shell := range []string{"zsh", "fish"} {
		path := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(path, []byte(shellScripts[shell]), 0o600); err != nil {
			t.Fatal(err)
		}
		run(shell, "-n", path)
	}
	if got := run("fish", "-c", `vigia completion fish | source; complete -C "vigia partner s"`); !strings.HasPrefix(got, "set\t") ||
		!strings.Contains(got, "\nsuspend\t") { // fish sorts
		t.Errorf("fish: %q", got)
	}
	// zsh completes only at a terminal, so what the function hands to it is caught.
	got := run("zsh", "-fc", `compdef() { }; _describe() { print -l -- "${(@P)2}" }; _files() { print files }
		source <(vigia completion zsh); words=(vigia partner s); CURRENT=3; _vigia`)
	if !strings.HasPrefix(got, "show:") || !strings.Contains(got, "\nsuspend:") {
		t.Errorf("zsh: %q", got)
	}
}

func TestManPage(t *testing.T) {
	code, page, errs := vigia(t, "man")
	if code != exitOK {
		t.Fatal(errs)
	}
	for _, n := range leaves(t) {
		if !n.Hidden && !strings.Contains(page, ".SS "+roff(strings.TrimSpace(n.FullPath()+manArguments(n)))+"\n") {
			t.Errorf("the manual page leaves out %s", n.FullPath())
		}
	}
	for number, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, ".") && !regexp.MustCompile(`^\.(TH|SH|SS|TP|PP|B|I|nf|fi)( |$)`).MatchString(line) {
			t.Errorf("line %d is a request that nobody wrote: %q", number+1, line)
		}
	}
}
