package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/bench/dump"
	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/identifier"
)

const (
	rgSide, leaksSide, urlsSide, regexpSide = "ripgrep", "gitleaks", "xurls (e-mails only)", "Go regexp"
)

func scanning(_ context.Context, r *report, folder string) (groups []group) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		load.Fail("ripgrep is not installed (package ripgrep)")
	}
	r.Versions[rgSide] = said(rg, "--version")
	r.Versions[leaksSide] = peerVersion(r.peer("gitleaks"), "github.com/zricethezav/gitleaks/v8")
	r.Versions["xurls"] = peerVersion(r.peer("xurls"), "mvdan.cc/xurls/v2")
	rules := filepath.Join(folder, "rules.toml")
	load.Check(os.WriteFile(rules, []byte(leakRules()), 0o600))
	for _, kind := range dump.Kinds {
		path, small := filepath.Join(folder, kind.Name), filepath.Join(folder, kind.Name+"-small")
		written, smallWritten := dump.Write(path, r.Options.Dump<<20, kind), dump.Write(small, r.Options.SlowDump<<20, kind)
		t := tools{rg: rg, leaks: r.peer("gitleaks"), urls: r.peer("xurls"), rules: rules, found: map[string]float64{}}
		g := group{Name: "scan-" + kind.Name, Title: "Identifiers in a " + kind.Name + " dump", Sides: []string{us, rgSide, leaksSide, urlsSide, regexpSide}}
		speed := measure{What: fmt.Sprintf("read a dump, %s a MB", dump.PerMB(written, r.Options.Dump<<20)), Unit: "MB/s of CPU"}
		speed = rounds(r.Options.Rounds, speed, g.Sides, func(side string) float64 {
			file := small
			if side == us || side == rgSide {
				file = path
			}
			return dump.Measure(file, 0, func(file string, size int64) { t.read(side, file, size) })
		})
		t.count(path)
		off := func(reported, truth float64) float64 { return 100 * math.Abs(reported-truth) / truth }
		all := measure{What: "reported too many or too few", Unit: "for 100 that are there", Lower: true, Values: map[string]float64{
			us: off(t.found[us], sum(written)), rgSide: off(t.found[rgSide], sum(written)),
			leaksSide: off(t.found[leaksSide], sum(smallWritten)), regexpSide: off(t.found[regexpSide], sum(smallWritten)),
		}}
		emails := measure{What: "the same of e-mail addresses alone", Unit: all.Unit, Lower: true, Values: map[string]float64{
			us: off(t.emails, float64(written[identifier.Email])), urlsSide: off(t.found[urlsSide], float64(smallWritten[identifier.Email])),
		}}
		g.Measures = []measure{speed, all, emails}
		groups = append(groups, g)
	}
	return groups
}

func (r *report) peer(name string) string { return filepath.Join(r.Options.peers, name) }

func sum(counts [16]int) (n float64) {
	for _, c := range counts {
		n += float64(c)
	}
	return n
}

// leakRules gives gitleaks the same four patterns and no others.
func leakRules() string {
	var b strings.Builder
	b.WriteString("title = \"identifiers\"\n")
	for i, name := range []string{"email", "cpf", "phone", "card"} {
		fmt.Fprintf(&b, "[[rules]]\nid = %q\ndescription = %q\nregex = '''%s'''\n", name, name, dump.Patterns[i])
	}
	return b.String()
}

// tools reads a file as each side does and remembers how much it reported.
type tools struct {
	rg, leaks, urls, rules string
	found                  map[string]float64
	emails                 float64 // that ours found
}

func (t *tools) read(side, path string, size int64) {
	switch side {
	case us:
		n := dump.Scan(path, size)
		t.found[side], t.emails = sum(n), float64(n[identifier.Email])
	case rgSide:
		dump.Ripgrep(t.rg, path)
	case regexpSide:
		t.found[side] = float64(dump.Regexp(path, size))
	case leaksSide:
		out := t.rules + ".csv"
		cmd := exec.Command(t.leaks, "dir", path, "--config", t.rules, "--no-banner", "--log-level", "error", "--exit-code", "0", "--max-decode-depth", "0",
			"--report-format", "csv", "--report-path", out)
		if text, err := cmd.CombinedOutput(); err != nil {
			load.Fail("gitleaks: %w: %s", err, text)
		}
		t.found[side] = float64(max(0, bytes.Count(load.Must(os.ReadFile(out)), []byte("\n"))-1))
	default:
		in := load.Must(os.Open(path))
		defer in.Close()
		cmd := exec.Command(t.urls, "-r")
		cmd.Stdin = in
		t.found[side] = float64(bytes.Count(load.Must(cmd.Output()), []byte("@")))
	}
}

// count asks ripgrep for the number of matches, which it does not tell while printing them.
func (t *tools) count(path string) {
	out := load.Must(exec.Command(t.rg, append(dump.RipgrepArgs("--count-matches", "--no-filename"), path)...).Output())
	t.found[rgSide] = load.Must(strconv.ParseFloat(strings.TrimSpace(string(out)), 64))
}
