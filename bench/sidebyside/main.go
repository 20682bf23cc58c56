// Command sidebyside runs Vigia and PocketBase, which a team would otherwise use for tables over HTTP, on the same work
// in one run:
//
//	make compare              # from the top of the tree; writes the figures of bench/README.md
//	make compare ARGS=-dry    # prints them and writes nothing
//
// The sides take turns, and the median of the rounds counts, so that other work on the machine harms them alike.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
)

var (
	people    = flag.Int("people", 20_000, "beneficiaries, created in batches of 1,000")
	dry       = flag.Bool("dry", false, "print the figures and write nothing")
	peerFiles = flag.String("peers", "bin/peers", "folder of PocketBase's program, which `make compare` builds")
)

const us, pocketBase, readme = "Vigia", "PocketBase", "bench/README.md"

func main() {
	load.Main("", load.Step{Name: "crud", Run: func(ctx context.Context) {
		if *formerFile != "" {
			compareWithFormer(ctx)
			return
		}
		compareServices(ctx)
	}})
}

// marks stand around the generated part of the page.
var marks = regexp.MustCompile("(?s)(<!-- figures: made by `make compare` -->\n).*(<!-- /figures -->\n)")

// report is the generated part of the page.
type report struct{ strings.Builder }

// newReport begins with when, what and where.
func newReport(version string) *report {
	r := &report{}
	fmt.Fprintf(r, "Run of %s, commit %s, PocketBase %s, %s %s/%s, %d cores, %s, load %s. Medians of %d rounds.\n\n| Work | Unit | %s | %s |\n|---|---|---:|---:|\n",
		time.Now().UTC().Format(time.RFC3339), firstLine("git", "describe", "--always", "--exclude=*", "--dirty= with local changes"), version,
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), firstLine("sed", "-n", `s/^model name\s*: //p`, "/proc/cpuinfo"),
		strings.Fields(firstLine("cat", "/proc/loadavg"))[0], load.Rounds, us, pocketBase)
	return r
}

// addRow adds a line to the table.
func (r *report) addRow(what, unit string, values map[string]float64) {
	fmt.Fprintf(r, "| %s | %s | %s | %s |\n", what, unit, load.Figure(values[us]), load.Figure(values[pocketBase]))
}

// compare lets both sides take turns. Vigia has to reach at least so many times what PocketBase does.
func (r *report) compare(what, unit string, least float64, run func(side string) load.Result) {
	values := map[string]float64{}
	sides := []load.Side{{Name: pocketBase}, {Name: us, Least: least}}
	for i, s := range sides {
		sides[i].Run = func() load.Result { return run(s.Name) }
	}
	for i, took := range load.Compare(what, unit, sides...) {
		values[sides[i].Name] = load.Median(took.Rates())
	}
	r.addRow(what, unit, values)
}

// publish prints the figures, and writes them into the page unless this is a dry run.
func (r *report) publish() {
	fmt.Println(r)
	if *dry {
		return
	}
	text := load.Must(os.ReadFile(readme))
	if !marks.Match(text) {
		load.Fail("%s has lost the marks around its figures", readme)
	}
	text = marks.ReplaceAll(text, []byte("${1}"+strings.ReplaceAll(r.String(), "$", "$$")+"${2}"))
	load.Check(os.WriteFile(readme, text, 0o600))
}

// firstLine returns the first line that a command prints, or that it is unknown.
func firstLine(program string, args ...string) string {
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// findPocketBase returns PocketBase's program and its version, read from the module that it was built from.
func findPocketBase(ctx context.Context) (program, version string) {
	program = load.Must(filepath.Abs(filepath.Join(*peerFiles, "base")))
	out, err := exec.CommandContext(ctx, "go", "version", "-m", program).Output()
	found := regexp.MustCompile(`(?m)^\s*(?:dep|mod)\s+github.com/pocketbase/pocketbase\s+(\S+)`).FindSubmatch(out)
	if err != nil || found == nil {
		load.Fail("%s is not there; run this by `make compare`", program)
	}
	return program, string(found[1])
}
