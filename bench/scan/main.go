// Command scan compares the scanner with ripgrep and with Go's regexp on the same made-up dumps, in one run, by CPU
// time.
//
//	go run ./bench/scan [-size MiB] [-rounds N] [-keep FOLDER]
//
// It prints one line per tool and dump, and exits with 1 when a bar of the leak-monitoring issue is missed. ripgrep
// (rg) must be installed.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/vigiahq/vigia/bench/dump"
	"github.com/vigiahq/vigia/internal/scan/scantest"
)

// regexpShare is the part of a dump that Go's regexp reads: it would take minutes for all of it.
const regexpShare = 8 << 20

// bars are the least ratios of throughput per second of CPU.
var bars = map[string]struct{ ripgrep, regexp float64 }{"dense": {4, 40}, "sparse": {8, 40}}

func main() {
	size := flag.Int("size", 1024, "size of each dump in MiB")
	rounds := flag.Int("rounds", 3, "rounds of each tool; the median counts")
	keep := flag.String("keep", "", "folder to keep the dumps in; by default they are removed")
	flag.Parse()
	if err := run(*size<<20, *rounds, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "scan:", err)
		os.Exit(1)
	}
}

func run(size, rounds int, folder string) error {
	rg, err := exec.LookPath("rg")
	if err != nil {
		return fmt.Errorf("ripgrep is not installed (package ripgrep): the comparison cannot be made")
	}
	if folder == "" {
		if folder, err = os.MkdirTemp("", "scan-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
	}
	missed := 0
	for _, kind := range []struct {
		name string
		make func(uint64, scantest.Truth) *scantest.Dump
	}{{"dense", scantest.NewDense}, {"sparse", scantest.NewSparse}} {
		path := filepath.Join(folder, kind.name+".txt")
		written, err := dump.Write(path, kind.make, size)
		if err != nil {
			return err
		}
		fmt.Printf("%s dump, %d MiB; identifiers a MB: %s\n", kind.name, size>>20, dump.PerMB(written, size))
		n, err := compare(rg, path, kind.name, rounds)
		if err != nil {
			return err
		}
		missed += n
	}
	if missed > 0 {
		return fmt.Errorf("%d bars missed", missed)
	}
	return nil
}

// compare measures the three tools on one dump and counts the bars that are missed. In each round the scanner runs
// before and after every other tool, so that a machine that grows slower or faster meanwhile does so for both; the
// median of the rounds' ratios counts.
func compare(rg, path, name string, rounds int) (missed int, err error) {
	scanner := func() (float64, error) {
		return dump.Measure(path, 0, func(path string, n int64) error { _, err := dump.Scan(path, n); return err })
	}
	others := []struct {
		name  string
		bar   float64
		limit int64
		work  func(string, int64) error
	}{
		{"ripgrep", bars[name].ripgrep, 0, func(path string, _ int64) error { return dump.Ripgrep(rg, path) }},
		{"regexp", bars[name].regexp, regexpShare, func(path string, n int64) error { _, err := dump.Regexp(path, n); return err }},
	}
	for _, other := range others {
		var ours, theirs, ratios []float64
		for range rounds {
			before, err := scanner()
			if err != nil {
				return 0, err
			}
			rate, err := dump.Measure(path, other.limit, other.work)
			if err != nil {
				return 0, err
			}
			after, err := scanner()
			if err != nil {
				return 0, err
			}
			ours, theirs = append(ours, before, after), append(theirs, rate)
			ratios = append(ratios, (before+after)/2/rate)
		}
		ratio, verdict := median(ratios), "ok"
		if ratio < other.bar {
			verdict = "MISSED"
			missed++
		}
		fmt.Printf("  scanner %.1f MB/s of CPU, %s %.1f: %.1fx (rounds %.1f), at least %.0fx wanted: %s\n",
			median(ours), other.name, median(theirs), ratio, ratios, other.bar, verdict)
	}
	return missed, nil
}

func median(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}
