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
	flag.Parse()
	ctx := context.Background()
	var err error
	if *child != "" {
		err = deliver(ctx, *child, flag.Args())
	} else {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sidebyside:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	peers, err := filepath.Abs(o.peers)
	if err != nil {
		return err
	}
	o.peers = peers
	folder, err := os.MkdirTemp("", "vigia-sidebyside")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	r := report{Date: time.Now().UTC().Format(time.RFC3339), Commit: commit(), Machine: machine(), Options: o, Versions: map[string]string{}}
	for _, part := range []struct {
		name string
		run  func(context.Context, *report, string) ([]group, error)
	}{{"crud", crud}, {"scan", scanning}, {"passwords", passwords}, {"delivery", delivery}} {
		if o.only != "" && o.only != part.name {
			continue
		}
		began := time.Now()
		groups, err := part.run(ctx, &r, folder)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		r.Groups = append(r.Groups, groups...)
		fmt.Fprintf(os.Stderr, "sidebyside: %s took %s\n", part.name, time.Since(began).Round(time.Second))
	}
	fmt.Println(r.render())
	if o.dry || o.only != "" {
		return nil
	}
	return r.write(".")
}

// write puts the raw results, the plots and the tables into the tree.
func (r report) write(top string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(top, results, r.file()), append(raw, '\n'), 0o644); err != nil {
		return err
	}
	for _, g := range r.Groups {
		if err := os.WriteFile(filepath.Join(top, results, r.plotFile(g)), []byte(plot(g)), 0o644); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(filepath.Join(top, readme))
	if err != nil {
		return err
	}
	before, _, after, err := split(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(top, readme), []byte(before+r.render()+after), 0o644)
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

func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	text := strings.TrimSpace(string(out))
	if out, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output(); err == nil && len(out) > 0 {
		text += " with local changes"
	}
	return text
}

var (
	cpuName = regexp.MustCompile(`(?m)^model name\s*: (.*)$`)
)

func machine() string {
	text := fmt.Sprintf("%s %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := cpuName.FindSubmatch(raw); m != nil {
			text += ", " + strings.TrimSpace(string(m[1]))
		}
	}
	if raw, err := os.ReadFile("/proc/loadavg"); err == nil {
		text += ", load " + strings.Fields(string(raw))[0]
	}
	return text
}

// version asks a program for its version.
func version(program string, args ...string) string {
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// peerVersion reads the version of a module from the program that was built from it.
func peerVersion(program, module string) string {
	out, err := exec.Command("go", "version", "-m", program).Output()
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) >= 3 && (f[0] == "dep" || f[0] == "mod") && f[1] == module {
			return f[2]
		}
	}
	return "unknown"
}

// rounds takes turns and keeps the best of each side.
func rounds(n int, m *measure, sides []string, work func(side string) (float64, error)) error {
	m.Values, m.Rounds = map[string]float64{}, map[string][]float64{}
	for range n {
		for _, side := range sides {
			v, err := work(side)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", m.What, side, err)
			}
			m.Rounds[side] = append(m.Rounds[side], v)
		}
	}
	for side, list := range m.Rounds {
		m.Values[side] = slices.Max(list)
	}
	return nil
}
