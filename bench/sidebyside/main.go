// Command sidebyside runs Vigia and what a team would otherwise use on the same work, in one run: PocketBase for the
// CRUD half, ripgrep, gitleaks, xurls and Go's regexp for scanning, sorted files and a table for passwords, a plain
// table queue for delivery.
//
//	make compare                                # from the top of the tree; writes raw results, plots and the tables of bench/README.md
//	make compare ARGS="-only scan -dry"         # one part, written nowhere
//	go run ./bench/sidebyside -only again FILE  # writes plots and tables from raw results
//
// The sides take turns, and the median of the rounds counts, so that other work on the machine harms them alike.
package main

import (
	"context"
	"encoding/json"
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
	dumpSize  = flag.Int("dump", 128, "MiB of each dump")
	slowDump  = flag.Int("slow-dump", 2, "MiB of it that the slow tools read")
	hashes    = flag.Int("passwords", 5_000_000, "password hashes")
	events    = flag.Int("events", 5_000, "events of a round of delivery")
	dry       = flag.Bool("dry", false, "print the tables and write nothing")
	peerFiles = flag.String("peers", "bin/peers", "folder of the peers' programs, which `make compare` builds")
)

const (
	results = "bench/results"
	readme  = "bench/README.md"
)

func main() {
	load.Main("", load.Part{Name: "crud,scan,passwords,delivery", Run: compare},
		load.Part{Name: "deliver", Run: deliver, ByHand: true}, load.Part{Name: "import", Run: importAlone, ByHand: true},
		load.Part{Name: "again", Run: again, ByHand: true})
}

func compare(ctx context.Context) {
	r := &report{Date: time.Now().UTC().Format(time.RFC3339), Commit: commit(), Machine: machine(), Versions: map[string]string{}}
	r.Options = map[string]int{
		"rounds": load.Rounds, "round_ns": int(load.Length), "connections": load.Conns, "people": *people, "dump_mib": *dumpSize,
		"slow_dump_mib": *slowDump, "passwords": *hashes, "events": *events,
	}
	whole := load.Engine == ""
	for _, part := range []struct {
		name string
		run  func(context.Context, *report)
	}{{"crud", crud}, {"scan", scanning}, {"passwords", passwords}, {"delivery", delivery}} {
		if whole = whole && load.Wanted(part.name); load.Wanted(part.name) {
			load.Scope(func() { part.run(ctx, r) })
		}
	}
	fmt.Println(r.render())
	if !*dry && whole {
		load.Check(os.WriteFile(filepath.Join(results, r.file()), append(load.Must(json.MarshalIndent(r, "", "  ")), '\n'), 0o600))
		r.write()
	}
}

// again writes plots and tables from raw results that are there.
func again(context.Context) {
	var r report
	load.Check(json.Unmarshal(load.Must(os.ReadFile(flag.Arg(0))), &r))
	r.write()
}

// write puts the plots and the tables into the tree.
func (r report) write() {
	for _, g := range r.Groups {
		load.Check(os.WriteFile(filepath.Join(results, r.plotFile(g)), []byte(plot(g)), 0o600))
	}
	text := string(load.Must(os.ReadFile(readme)))
	if !marks.MatchString(text) {
		load.Fail("%s has lost the marks around its figures", readme)
	}
	load.Check(os.WriteFile(readme, []byte(marks.ReplaceAllStringFunc(text, func(string) string { return begin + r.render() + end })), 0o600))
}

// The generated part of the page stands between two marks.
const (
	begin = "<!-- figures: made by `make compare`; a test holds them against the raw results -->\n"
	end   = "<!-- /figures -->\n"
)

var marks = regexp.MustCompile(`(?s)` + regexp.QuoteMeta(begin) + `(.*)` + regexp.QuoteMeta(end))

// said is the first line that a command prints, or that it is unknown.
func said(program string, args ...string) string {
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

func commit() string {
	return said("git", "describe", "--always", "--exclude=*", "--dirty= with local changes")
}

func machine() string {
	text := fmt.Sprintf("%s %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if name := said("sed", "-n", `s/^model name\s*: //p`, "/proc/cpuinfo"); name != "" {
		text += ", " + name
	}
	return text + ", load " + strings.Fields(said("cat", "/proc/loadavg"))[0]
}

// peer is the program of another tool; its version, read from the module that it was built from, goes to the report.
func (r *report) peer(name, program, module string) string {
	path := load.Must(filepath.Abs(filepath.Join(*peerFiles, program)))
	out, err := exec.Command("go", "version", "-m", path).Output()
	found := regexp.MustCompile(`(?m)^\s*(?:dep|mod)\s+` + regexp.QuoteMeta(module) + `\s+(\S+)`).FindSubmatch(out)
	if err != nil || found == nil {
		load.Fail("%s is not there; run this by `make compare`", path)
	}
	r.Versions[name] = string(found[1])
	return path
}
