// Command scan compares the scanner with ripgrep and with Go's regexp on the same made-up dumps, in one run, by CPU
// time.
//
//	go run ./bench/scan [-size MiB] [-rounds N] [-keep FOLDER]
//
// It prints one line per tool and dump, and exits with 1 when a bar of the leak-monitoring issue is missed. ripgrep
// (rg) must be installed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/vigiahq/vigia/bench/dump"
	"github.com/vigiahq/vigia/bench/load"
)

var (
	size   = flag.Int("size", 1024, "size of each dump in MiB")
	rounds = flag.Int("rounds", 3, "rounds of each tool; the median counts")
	keep   = flag.String("keep", "", "folder to keep the dumps in; by default they are removed")
)

// regexpShare is the part of a dump that Go's regexp reads: it would take minutes for all of it.
const regexpShare = 8 << 20

// bars are the least ratios of throughput per second of CPU.
var bars = map[string]struct{ ripgrep, regexp float64 }{"dense": {4, 40}, "sparse": {8, 40}}

func main() {
	load.Main(func(context.Context) {
		rg, err := exec.LookPath("rg")
		if err != nil {
			load.Fail("ripgrep is not installed (package ripgrep): the comparison cannot be made")
		}
		folder := *keep
		if folder == "" {
			made, remove := load.Folder()
			defer remove()
			folder = made
		}
		for _, kind := range dump.Kinds {
			path := filepath.Join(folder, kind.Name+".txt")
			written := dump.Write(path, *size<<20, kind)
			fmt.Printf("%s dump, %d MiB; identifiers a MB: %s\n", kind.Name, *size, dump.PerMB(written, *size<<20))
			compare(path, "ripgrep", bars[kind.Name].ripgrep, 0, func(path string, _ int64) { dump.Ripgrep(rg, path) })
			compare(path, "regexp", bars[kind.Name].regexp, regexpShare, func(path string, n int64) { dump.Regexp(path, n) })
		}
	})
}

// compare measures the scanner and another tool on one dump. In each round the scanner runs before and after the other,
// so that a machine that grows slower or faster meanwhile does so for both; the median of the rounds' ratios counts.
func compare(path, name string, bar float64, limit int64, work func(string, int64)) {
	scanner := func() float64 {
		return dump.Measure(path, 0, func(path string, n int64) { dump.Scan(path, n) })
	}
	var ours, theirs, ratios []float64
	for range *rounds {
		before, rate, after := scanner(), dump.Measure(path, limit, work), scanner()
		ours, theirs = append(ours, before, after), append(theirs, rate)
		ratios = append(ratios, (before+after)/2/rate)
	}
	ratio := load.Median(ratios)
	fmt.Printf("  scanner %.1f MB/s of CPU, %s %.1f: %.1fx (rounds %.1f), at least %.0fx wanted: %s\n",
		load.Median(ours), name, load.Median(theirs), ratio, ratios, bar, load.Bar(ratio >= bar))
}
