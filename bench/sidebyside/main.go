// Command sidebyside runs Vigia and what a team would otherwise use on the same work, in one run: PocketBase for the
// CRUD half, ripgrep, gitleaks, xurls and Go's regexp for scanning, sorted files and a table for passwords, a plain
// table queue for delivery.
//
//	make compare                                # from the top of the tree; writes raw results, plots and the tables of bench/README.md
//	make compare ARGS="-only scan -dry"         # one part, written nowhere
//
// The sides take turns, and the best round of each counts, so that other work on the machine harms them alike.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
)

// options are kept with the results.
type options struct {
	Rounds    int           `json:"rounds"`
	Length    time.Duration `json:"round_ns"`
	Conns     int           `json:"connections"`
	People    int           `json:"people"`
	Dump      int           `json:"dump_mib"`
	SlowDump  int           `json:"slow_dump_mib"`
	Passwords int           `json:"passwords"`
	Events    int           `json:"events"`

	only  string
	dry   bool
	peers string
}

const (
	results = "bench/results"
	readme  = "bench/README.md"
)

func main() {
	var o options
	flag.IntVar(&o.Rounds, "rounds", 3, "rounds of each side")
	flag.DurationVar(&o.Length, "d", 2*time.Second, "length of a round of requests")
	flag.IntVar(&o.Conns, "c", 16, "connections")
	flag.IntVar(&o.People, "people", 20_000, "beneficiaries, created in batches of 1,000")
	flag.IntVar(&o.Dump, "dump", 128, "MiB of each dump")
	flag.IntVar(&o.SlowDump, "slow-dump", 2, "MiB of it that the slow tools read")
	flag.IntVar(&o.Passwords, "passwords", 5_000_000, "password hashes")
	flag.IntVar(&o.Events, "events", 5_000, "events of a round of delivery")
	flag.StringVar(&o.only, "only", "", "crud, scan, passwords or delivery; all unless given")
	flag.BoolVar(&o.dry, "dry", false, "print the tables and write nothing")
	flag.StringVar(&o.peers, "peers", "bin/peers", "folder of the peers' programs, which `make compare` builds")
	child := flag.String("child", "", "internal: deliver as this side")
	load.Main(func(ctx context.Context) {
		if *child != "" {
			deliver(ctx, *child, flag.Args())
			return
		}
		o.peers = load.Must(filepath.Abs(o.peers))
		compare(ctx, o)
	})
}

func compare(ctx context.Context, o options) {
	folder, remove := load.Folder()
	defer remove()
	r := report{Date: time.Now().UTC().Format(time.RFC3339), Commit: commit(), Machine: machine(), Options: o, Versions: map[string]string{}}
	for _, part := range []struct {
		name string
		run  func(context.Context, *report, string) []group
	}{{"crud", crud}, {"scan", scanning}, {"passwords", passwords}, {"delivery", delivery}} {
		if o.only != "" && o.only != part.name {
			continue
		}
		began := time.Now()
		r.Groups = append(r.Groups, part.run(ctx, &r, folder)...)
		fmt.Fprintf(os.Stderr, "sidebyside: %s took %s\n", part.name, time.Since(began).Round(time.Second))
	}
	fmt.Println(r.render())
	if !o.dry && o.only == "" {
		r.write()
	}
}

// write puts the raw results, the plots and the tables into the tree.
func (r report) write() {
	put := func(text string, path ...string) {
		load.Check(os.WriteFile(filepath.Join(path...), []byte(text), 0o644))
	}
	put(string(load.Must(json.MarshalIndent(r, "", "  ")))+"\n", results, r.file())
	for _, g := range r.Groups {
		put(plot(g), results, r.plotFile(g))
	}
	before, _, after, err := split(string(load.Must(os.ReadFile(readme))))
	load.Check(err)
	put(before+r.render()+after, readme)
}

var marks = regexp.MustCompile(`(?s)^(.*<!-- figures: [^\n]*-->\n)(.*)(<!-- /figures -->\n.*)$`)

// split finds the generated part of the page.
func split(text string) (before, figures, after string, err error) {
	m := marks.FindStringSubmatch(text)
	if m == nil {
		return "", "", "", errors.New(readme + " has lost the marks around its figures")
	}
	return m[1], m[2], m[3], nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

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
	text := said("git", "rev-parse", "--short", "HEAD")
	if said("git", "status", "--porcelain", "--untracked-files=no") != "" {
		text += " with local changes"
	}
	return text
}

var cpuName = regexp.MustCompile(`(?m)^model name\s*: (.*)$`)

func machine() string {
	text := fmt.Sprintf("%s %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if m := cpuName.FindSubmatch(load.Must(os.ReadFile("/proc/cpuinfo"))); m != nil {
		text += ", " + strings.TrimSpace(string(m[1]))
	}
	return text + ", load " + strings.Fields(string(load.Must(os.ReadFile("/proc/loadavg"))))[0]
}

// peerVersion reads the version of a module from the program that was built from it.
func peerVersion(program, module string) string {
	out, err := exec.Command("go", "version", "-m", program).Output()
	found := regexp.MustCompile(`(?m)^\s*(?:dep|mod)\s+` + regexp.QuoteMeta(module) + `\s+(\S+)`).FindSubmatch(out)
	if err != nil || found == nil {
		return "unknown"
	}
	return string(found[1])
}

// rounds lets the sides take turns and keeps the best of each.
func rounds(n int, m measure, sides []string, work func(side string) float64) measure {
	m.Values, m.Rounds = map[string]float64{}, map[string][]float64{}
	for range n {
		for _, side := range sides {
			m.Rounds[side] = append(m.Rounds[side], work(side))
		}
	}
	for side, list := range m.Rounds {
		m.Values[side] = slices.Max(list)
	}
	return m
}
