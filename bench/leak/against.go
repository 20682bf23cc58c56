package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/vigiahq/vigia/bench/dump"
	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/scan/scantest"
)

// scanMain is put into a checkout as a program, whatever its module is called.
const scanMain = `package main

import (
	"context"
	"os"

	"MODULE/internal/identifier"
	"MODULE/internal/scan"
)

func main() {
	f, err := os.Open(os.Args[1])
	if err == nil {
		_, err = scan.NewScanner(func(identifier.Kind, []byte) {}).Scan(context.Background(), f)
	}
	if err != nil {
		panic(err)
	}
}
`

// against compares with another checkout of the repository: scanning and importing the same dumps, each in a process of
// its own on one core, in turns, by processor time.
func against(ctx context.Context, folder string) {
	here, there := binaries(folder, "here", "."), binaries(folder, "there", *checkout)
	imported := 0
	for _, name := range strings.Split(*dumps, ",") {
		path := filepath.Join(folder, "dump.txt")
		writeDump(path, name)
		run := func(args ...string) func() load.Result {
			return func() load.Result {
				cmd := exec.CommandContext(ctx, args[0], args[1:]...)
				if imported++; len(args) > 2 {
					cmd.Args = append(cmd.Args, "--name", fmt.Sprint("b", imported))
				}
				cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
				return load.Time(1, func() {
					if out, err := cmd.CombinedOutput(); err != nil {
						load.Fail("%v: %s", err, out)
					}
				})
			}
		}
		imports := func(side string, more ...string) func() load.Result {
			// Each into an installation without a breach: what is counted of those before it has a bar of its own, and would
			// grow from round to round.
			args := append([]string{side + "-vigia", "breach", "import", "--title", "x", "--date", "2025-01-01", "--exposes", "email", path}, more...)
			return func() load.Result {
				load.Check(os.RemoveAll(side + "-data"))
				load.Check(os.CopyFS(side+"-data", os.DirFS(side+"-empty")))
				return run(append(args, "--data", side+"-data")...)()
			}
		}
		took := load.Turns(*rounds, run(there+"-scan", path), run(here+"-scan", path), imports(there), imports(here), imports(here, "--no-pairs"))
		for _, c := range []struct {
			what        string
			there, here load.Rounds
			least       float64
		}{{"scan", took[0], took[1], 0.95}, {"import", took[2], took[3], 0.7}, {"import --no-pairs", took[2], took[4], 0.7}} {
			var ratios []float64
			for n := range *rounds {
				ratios = append(ratios, c.there[n].Spent.Seconds()/c.here[n].Spent.Seconds())
			}
			bar(load.Median(ratios) >= c.least, "%s %s: %.2f of the other's MB/s (bar: %.2f; rounds %.2f; %.0f and %.0f ms)", c.what, name, load.Median(ratios), c.least, ratios,
				c.there.Cheapest().Seconds()*1e3, c.here.Cheapest().Seconds()*1e3)
		}
	}
}

// writeDump makes a dump of a kind, or of a format that tells records.
func writeDump(path, name string) {
	for _, f := range scantest.Formats {
		if f.Name == name {
			var text []byte
			for seed := uint64(1); len(text) < *size<<20; seed++ {
				text = append(text, f.Write(seed, 20_000).Text...)
			}
			load.Check(os.WriteFile(path, text, 0o600))
			return
		}
	}
	dump.Write(path, *size<<20, kindsOf(name)...)
}

// binaries builds the command and a scanner from a checkout, begins an installation with the former, and returns what
// their paths begin with.
func binaries(folder, name, checkout string) string {
	checkout, prefix := load.Must(filepath.Abs(checkout)), filepath.Join(folder, name)
	build := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Stderr = checkout, os.Stderr
		return strings.TrimSpace(string(load.Must(cmd.Output())))
	}
	text := strings.ReplaceAll(scanMain, "MODULE", build("list", "-m"))
	load.Check(os.WriteFile(prefix+".go", []byte(text), 0o600))
	overlay := load.Must(json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(checkout, "bench/scanalone/main.go"): prefix + ".go"}}))
	load.Check(os.WriteFile(prefix+".json", overlay, 0o600))
	build("build", "-o", prefix+"-vigia", "./cmd/vigia")
	build("build", "-o", prefix+"-scan", "-overlay", prefix+".json", "./bench/scanalone")
	load.Must(exec.Command(prefix+"-vigia", "partner", "create", "--name", "bench", "--data", prefix+"-empty").Output())
	return prefix
}
