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
	r.Versions[rgSide] = said("rg", "--version")
	read, found := tools(r), map[string]float64{}
	for _, c := range []struct {
		kind  string
		least float64 // times ripgrep
	}{{"dense", 4}, {"sparse", 8}} {
		// The slow tools read a smaller dump of the same kind.
		path, small := load.File(c.kind), load.File(c.kind+"-small")
		written, smallWritten := site.WriteDump(path, c.kind, *dumpSize<<20), site.WriteDump(small, c.kind, *slowDump<<20)
		g := r.group("scan-"+c.kind, "Identifiers in a "+c.kind+" dump", rgSide, leaksSide, urlsSide, regexpSide)
		what, worth := "read a dump, "+perMB(written)+" a MB", load.Mega(load.Result.OfCPU)
		judge := g.compare(what, "MB/s of CPU", c.least, worth, func(side string) load.Result {
			file := small
			if side == us || side == rgSide {
				file = path
			}
			return load.Time(int(site.Size(file)), func() { found[side] = read[side](file) })
		}, g.Sides[1:]...)
		judge(regexpSide, 40)
		emails := float64(site.Scan(path)[identifier.Email])
		found[rgSide] = number(ripgrep(path, "--count-matches", "--no-filename"))
		off := func(reported, truth float64) float64 { return 100 * math.Abs(reported-truth) / truth }
		const unit = "for 100 that are there"
		g.add("reported too many or too few", unit, map[string]float64{
			us: off(found[us], sum(written)), rgSide: off(found[rgSide], sum(written)),
			leaksSide: off(found[leaksSide], sum(smallWritten)), regexpSide: off(found[regexpSide], sum(smallWritten)),
		})
		g.add("the same of e-mail addresses alone", unit, map[string]float64{
			us: off(emails, float64(written[identifier.Email])), urlsSide: off(found[urlsSide], float64(smallWritten[identifier.Email])),
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
	for _, k := range identifier.ListKinds() {
		if counts[k] > 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f", k, float64(counts[k])/float64(*dumpSize<<20)*1e6))
		}
	}
	return strings.Join(parts, ", ")
}

func ripgrep(path string, more ...string) *exec.Cmd {
	args := append([]string{"-a", "-j1", "--no-unicode", "--no-config"}, more...)
	for _, p := range patterns {
		args = append(args, "-e", p)
	}
	return exec.Command("rg", append(args, path)...)
}

// tools read a file as each side does, and tell how much they reported.
func tools(r *report) map[string]func(path string) (found float64) {
	leaks, urls := r.peer(leaksSide, "gitleaks", "github.com/zricethezav/gitleaks/v8"), r.peer("xurls", "xurls", "mvdan.cc/xurls/v2")
	rules, out, text := load.File("rules.toml"), load.File("leaks.csv"), "title = \"identifiers\"\n"
	for i, name := range []string{"email", "cpf", "phone", "card"} { // gitleaks gets the same four patterns and no others
		text += fmt.Sprintf("[[rules]]\nid = %q\ndescription = %[1]q\nregex = '''%s'''\n", name, patterns[i])
	}
	load.Check(os.WriteFile(rules, []byte(text), 0o600))
	return map[string]func(path string) (found float64){
		us: func(path string) float64 { return sum(site.Scan(path)) },
		rgSide: func(path string) float64 { // prints every match to nowhere; they are counted apart
			load.Check(ripgrep(path, "-oN").Run())
			return 0
		},
		regexpSide: func(path string) (n float64) {
			re := regexp.MustCompile(strings.Join(patterns, "|"))
			for line := range bytes.Lines(load.Must(os.ReadFile(path))) {
				n += float64(len(re.FindAllIndex(line, -1)))
			}
			return n
		},
		leaksSide: func(path string) float64 {
			site.Output(exec.Command(leaks, "dir", path, "--config", rules, "--no-banner", "--log-level", "error", "--exit-code", "0",
				"--max-decode-depth", "0", "--report-format", "csv", "--report-path", out))
			return float64(max(0, bytes.Count(load.Must(os.ReadFile(out)), []byte("\n"))-1))
		},
		urlsSide: func(path string) float64 {
			cmd := exec.Command(urls, "-r")
			cmd.Stdin = bytes.NewReader(load.Must(os.ReadFile(path)))
			return float64(bytes.Count(site.Output(cmd), []byte("@")))
		},
	}
}
