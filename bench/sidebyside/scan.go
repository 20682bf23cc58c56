package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/identifier"
)

const (
	rgSide, leaksSide, urlsSide, regexpSide = "ripgrep", "gitleaks", "xurls (e-mails only)", "Go regexp"
)

// patterns find the four types in the written forms that the scanner knows. They check no digits, so they do less than
// the scanner does.
var patterns = []string{
	`[A-Za-z0-9._%+'-]+(?:@|%40)[A-Za-z0-9.-]+\.[A-Za-z]{2,}`,
	`\b[0-9]{3}[. -]?[0-9]{3}[. -]?[0-9]{3}[-/. ]?[0-9]{2}\b`,
	`(?:\+?55[ .-]{0,2})?\(?0?[1-9][0-9]\)?[ .-]{0,2}(?:9[ .-]?)?[0-9]{4}[ .-]?[0-9]{4}\b|\+[1-9][0-9]{9,14}\b`,
	`\b[0-9]{4}[ -]?(?:[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}(?:[ -]?[0-9]{3})?|[0-9]{6}[ -]?[0-9]{4,5})\b|\b[0-9]{12,19}\b`,
}

func scanning(_ context.Context, r *report) {
	t := &tools{
		leaks: r.peer(leaksSide, "gitleaks", "github.com/zricethezav/gitleaks/v8"), urls: r.peer("xurls", "xurls", "mvdan.cc/xurls/v2"),
		rules: load.File("rules.toml"), found: map[string]float64{},
	}
	r.Versions[rgSide] = said("rg", "--version")
	load.Check(os.WriteFile(t.rules, []byte(leakRules()), 0o600))
	for _, c := range []struct {
		kind  string
		least float64 // times ripgrep
	}{{"dense", 4}, {"sparse", 8}} {
		// The slow tools read a smaller dump of the same kind.
		path, small := load.File(c.kind), load.File(c.kind+"-small")
		written, smallWritten := site.WriteDump(path, c.kind, *dumpSize<<20), site.WriteDump(small, c.kind, *slowDump<<20)
		g := r.group("scan-"+c.kind, "Identifiers in a "+c.kind+" dump", rgSide, leaksSide, urlsSide, regexpSide)
		judge := g.compare("read a dump, "+perMB(written)+" a MB", "MB/s of CPU", c.least, load.Mega(load.Result.OfCPU), func(side string) load.Result {
			file := small
			if side == us || side == rgSide {
				file = path
			}
			return load.Time(int(site.Size(file)), func() { t.read(side, file) })
		}, g.Sides[1:]...)
		judge(regexpSide, 40)
		t.found[rgSide] = number(ripgrep(path, "--count-matches", "--no-filename"))
		off := func(reported, truth float64) float64 { return 100 * math.Abs(reported-truth) / truth }
		const unit = "for 100 that are there"
		g.add("reported too many or too few", unit, map[string]float64{
			us: off(t.found[us], sum(written)), rgSide: off(t.found[rgSide], sum(written)),
			leaksSide: off(t.found[leaksSide], sum(smallWritten)), regexpSide: off(t.found[regexpSide], sum(smallWritten)),
		})
		g.add("the same of e-mail addresses alone", unit, map[string]float64{
			us: off(t.emails, float64(written[identifier.Email])), urlsSide: off(t.found[urlsSide], float64(smallWritten[identifier.Email])),
		})
	}
}

// number is what a command prints.
func number(cmd *exec.Cmd) (n float64) {
	load.Must(fmt.Sscan(string(site.Output(cmd)), &n))
	return n
}

func sum(counts [16]int) (n float64) {
	for _, c := range counts {
		n += float64(c)
	}
	return n
}

// perMB tells how many of each kind a megabyte holds.
func perMB(counts [16]int) string {
	var parts []string
	for _, k := range identifier.Kinds() {
		if counts[k] > 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f", k, float64(counts[k])/float64(*dumpSize<<20)*1e6))
		}
	}
	return strings.Join(parts, ", ")
}

// leakRules gives gitleaks the same four patterns and no others.
func leakRules() string {
	var b strings.Builder
	b.WriteString("title = \"identifiers\"\n")
	for i, name := range []string{"email", "cpf", "phone", "card"} {
		fmt.Fprintf(&b, "[[rules]]\nid = %q\ndescription = %q\nregex = '''%s'''\n", name, name, patterns[i])
	}
	return b.String()
}

func ripgrep(path string, more ...string) *exec.Cmd {
	args := append([]string{"-a", "-j1", "--no-unicode", "--no-config"}, more...)
	for _, p := range patterns {
		args = append(args, "-e", p)
	}
	return exec.Command("rg", append(args, path)...)
}

// tools reads a file as each side does and remembers how much it reported.
type tools struct {
	leaks, urls, rules string
	found              map[string]float64
	emails             float64 // that ours found
}

func (t *tools) read(side, path string) {
	switch side {
	case us:
		n := site.Scan(path)
		t.found[side], t.emails = sum(n), float64(n[identifier.Email])
	case rgSide: // prints every match to nowhere
		load.Check(ripgrep(path, "-oN").Run())
	case regexpSide:
		re, n := regexp.MustCompile(strings.Join(patterns, "|")), 0
		for line := range bytes.Lines(load.Must(os.ReadFile(path))) {
			n += len(re.FindAllIndex(line, -1))
		}
		t.found[side] = float64(n)
	case leaksSide:
		out := t.rules + ".csv"
		site.Output(exec.Command(t.leaks, "dir", path, "--config", t.rules, "--no-banner", "--log-level", "error", "--exit-code", "0",
			"--max-decode-depth", "0", "--report-format", "csv", "--report-path", out))
		t.found[side] = float64(max(0, bytes.Count(load.Must(os.ReadFile(out)), []byte("\n"))-1))
	default:
		cmd := exec.Command(t.urls, "-r")
		cmd.Stdin = bytes.NewReader(load.Must(os.ReadFile(path)))
		t.found[side] = float64(bytes.Count(site.Output(cmd), []byte("@")))
	}
}
