// Command scan compares the scanner with ripgrep and with Go's regexp on the same made-up dumps, in one run, by CPU time.
//
//	go run ./bench/scan [-size MiB] [-rounds N] [-keep FOLDER]
//
// It prints one line per tool and dump, and exits with 1 when a bar of the leak-monitoring issue is missed. ripgrep (rg) must be installed.
package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"vigia/internal/identifier"
	"vigia/internal/scan"
	"vigia/internal/scan/scantest"
)

// patterns find the four types in the written forms that the scanner knows. They check no digits, so they do less than the scanner does.
var patterns = []string{
	`[A-Za-z0-9._%+'-]+(?:@|%40)[A-Za-z0-9.-]+\.[A-Za-z]{2,}`,
	`\b[0-9]{3}[. -]?[0-9]{3}[. -]?[0-9]{3}[-/. ]?[0-9]{2}\b`,
	`(?:\+?55[ .-]{0,2})?\(?0?[1-9][0-9]\)?[ .-]{0,2}(?:9[ .-]?)?[0-9]{4}[ .-]?[0-9]{4}\b|\+[1-9][0-9]{9,14}\b`,
	`\b[0-9]{4}[ -]?(?:[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}(?:[ -]?[0-9]{3})?|[0-9]{6}[ -]?[0-9]{4,5})\b|\b[0-9]{12,19}\b`,
}

// regexpShare is the part of a dump that Go's regexp reads: it would take minutes for all of it.
const regexpShare = 8 << 20

// bars are the least ratios of throughput per second of CPU.
var bars = map[string]struct{ ripgrep, regexp float64 }{"dense": {4, 40}, "sparse": {8, 40}}

func main() {
	size := flag.Int("size", 1024, "size of each dump in MiB")
	rounds := flag.Int("rounds", 3, "rounds of each tool; the best counts")
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
	for _, dump := range []struct {
		name string
		make func(uint64, scantest.Truth) *scantest.Dump
	}{{"dense", scantest.NewDense}, {"sparse", scantest.NewSparse}} {
		path := filepath.Join(folder, dump.name+".txt")
		written, err := write(path, dump.make, size)
		if err != nil {
			return err
		}
		fmt.Printf("%s dump, %d MiB; identifiers a MB: %s\n", dump.name, size>>20, perMB(written, size))
		n, err := compare(rg, path, dump.name, rounds)
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

// compare measures the three tools on one dump and counts the bars that are missed. The tools take turns and the best round of each counts, so
// that other work on the machine harms them alike.
func compare(rg, path, name string, rounds int) (missed int, err error) {
	var ours, grep, std float64
	for range rounds {
		for _, tool := range []struct {
			best  *float64
			limit int64
			work  func(string, int64) error
		}{
			{&ours, 0, scanFile},
			{&grep, 0, func(path string, _ int64) error { return ripgrep(rg, path) }},
			{&std, regexpShare, goRegexp},
		} {
			rate, err := measure(path, tool.limit, tool.work)
			if err != nil {
				return 0, err
			}
			*tool.best = max(*tool.best, rate)
		}
	}
	fmt.Printf("  scanner  %8.1f MB/s of CPU\n  ripgrep  %8.1f MB/s of CPU\n  regexp   %8.1f MB/s of CPU\n", ours, grep, std)
	for _, row := range []struct {
		tool       string
		ratio, bar float64
	}{{"ripgrep", ours / grep, bars[name].ripgrep}, {"regexp", ours / std, bars[name].regexp}} {
		verdict := "ok"
		if row.ratio < row.bar {
			verdict = "MISSED"
			missed++
		}
		fmt.Printf("  scanner is %.1fx %s, at least %.0fx wanted: %s\n", row.ratio, row.tool, row.bar, verdict)
	}
	return missed, nil
}

// measure returns the MB of the file, or of its first limit bytes, that work reads per second of CPU, children included.
func measure(path string, limit int64, work func(path string, limit int64) error) (float64, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	size := stat.Size()
	if limit > 0 && limit < size {
		size = limit
	}
	before := cpu()
	if err := work(path, size); err != nil {
		return 0, err
	}
	return float64(size) / 1e6 / (cpu() - before).Seconds(), nil
}

// cpu is the time this process and its finished children have spent, in user and system mode.
func cpu() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

func scanFile(path string, limit int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var tally [16]int
	scanner := scan.NewScanner(func(kind identifier.Kind, _ []byte) { tally[kind]++ })
	report, err := scan.Walk(context.Background(), path, f, scan.Limits{}, func(_ scan.Entry, r io.Reader) error {
		_, err := scanner.Scan(context.Background(), r)
		return err
	})
	if err == nil && report.Bytes != limit {
		err = fmt.Errorf("%d of %d bytes were scanned", report.Bytes, limit)
	}
	return err
}

func ripgrep(rg, path string) error {
	args := []string{"-aoN", "-j1", "--no-unicode", "--no-config"}
	for _, p := range patterns {
		args = append(args, "-e", p)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	cmd := exec.Command(rg, append(args, path)...)
	cmd.Stdout, cmd.Stderr = null, os.Stderr
	return cmd.Run()
}

func goRegexp(path string, limit int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return err
	}
	re, n := regexp.MustCompile(strings.Join(patterns, "|")), 0
	for line := range bytes.Lines(text) {
		n += len(re.FindAllIndex(line, -1))
	}
	if n == 0 {
		return fmt.Errorf("the patterns found nothing")
	}
	return nil
}

// write makes the dump and counts what was written by kind.
func write(path string, make func(uint64, scantest.Truth) *scantest.Dump, size int) (counts [16]int, err error) {
	f, err := os.Create(path)
	if err != nil {
		return counts, err
	}
	defer f.Close()
	dump := make(1, func(kind identifier.Kind, _ []byte, meant bool) {
		if meant {
			counts[kind]++
		}
	})
	w, part := bufio.NewWriter(f), []byte(nil)
	for done := 0; done < size; done += len(part) {
		part = dump.Append(part[:0], min(1<<20, size-done))
		if _, err := w.Write(part); err != nil {
			return counts, err
		}
	}
	return counts, w.Flush()
}

func perMB(counts [16]int, size int) string {
	var parts []string
	for _, k := range identifier.Kinds() {
		if counts[k] > 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f", k, float64(counts[k])/float64(size)*1e6))
		}
	}
	return strings.Join(parts, ", ")
}
