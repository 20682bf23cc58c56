// Package dump makes the files that the benchmarks of scanning read, and reads them with the scanner and with what a
// team would otherwise use.
package dump

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/container"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/scan"
	"github.com/vigiahq/vigia/internal/scan/scantest"
)

// Patterns find the four types in the written forms that the scanner knows. They check no digits, so they do less than
// the scanner does.
var Patterns = []string{
	`[A-Za-z0-9._%+'-]+(?:@|%40)[A-Za-z0-9.-]+\.[A-Za-z]{2,}`,
	`\b[0-9]{3}[. -]?[0-9]{3}[. -]?[0-9]{3}[-/. ]?[0-9]{2}\b`,
	`(?:\+?55[ .-]{0,2})?\(?0?[1-9][0-9]\)?[ .-]{0,2}(?:9[ .-]?)?[0-9]{4}[ .-]?[0-9]{4}\b|\+[1-9][0-9]{9,14}\b`,
	`\b[0-9]{4}[ -]?(?:[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}(?:[ -]?[0-9]{3})?|[0-9]{6}[ -]?[0-9]{4,5})\b|\b[0-9]{12,19}\b`,
}

// Measure returns the MB of the file, or of its first limit bytes, that work reads per second of CPU, children
// included.
func Measure(path string, limit int64, work func(path string, limit int64)) float64 {
	size := load.Must(os.Stat(path)).Size()
	if limit > 0 {
		size = min(size, limit)
	}
	return float64(size) / 1e6 / load.Time(1, func() { work(path, size) }).Spent.Seconds()
}

// Scan reads the file with the scanner and counts what it finds by kind.
func Scan(path string, limit int64) (found [16]int) {
	f := load.Must(os.Open(path))
	defer f.Close()
	scanner := scan.NewScanner(func(kind identifier.Kind, _ []byte) { found[kind]++ })
	report := load.Must(container.Walk(context.Background(), path, f, container.Options{}, func(_ container.Entry, r io.Reader) error {
		_, err := scanner.Scan(context.Background(), r)
		return err
	}))
	if report.Bytes != limit {
		load.Fail("%d of %d bytes were scanned", report.Bytes, limit)
	}
	return found
}

// Ripgrep prints every match of the patterns to nowhere.
func Ripgrep(rg, path string) {
	null := load.Must(os.OpenFile(os.DevNull, os.O_WRONLY, 0))
	defer null.Close()
	cmd := exec.Command(rg, append(RipgrepArgs("-oN"), path)...)
	cmd.Stdout, cmd.Stderr = null, os.Stderr
	load.Check(cmd.Run())
}

// RipgrepArgs are the arguments before the file.
func RipgrepArgs(more ...string) []string {
	args := append([]string{"-a", "-j1", "--no-unicode", "--no-config"}, more...)
	for _, p := range Patterns {
		args = append(args, "-e", p)
	}
	return args
}

// Regexp counts the matches of the patterns line by line.
func Regexp(path string, limit int64) (found int) {
	f := load.Must(os.Open(path))
	defer f.Close()
	text := load.Must(io.ReadAll(io.LimitReader(f, limit)))
	re := regexp.MustCompile(strings.Join(Patterns, "|"))
	for line := range bytes.Lines(text) {
		found += len(re.FindAllIndex(line, -1))
	}
	if found == 0 {
		load.Fail("the patterns found nothing")
	}
	return found
}

// Kind is a dump that can be made.
type Kind struct {
	Name string
	Make func(uint64, scantest.Truth) *scantest.Dump
}

// Kinds are the two ends: identifiers everywhere, and hardly any.
var Kinds = []Kind{{"dense", scantest.NewDense}, {"sparse", scantest.NewSparse}}

// Write makes a dump, with a megabyte of each kind in turn, and counts what was written by kind of identifier.
func Write(path string, size int, kinds ...Kind) (counts [16]int) {
	f := load.Must(os.Create(path))
	defer f.Close()
	var dumps []*scantest.Dump
	for _, kind := range kinds {
		dumps = append(dumps, kind.Make(1, func(kind identifier.Kind, _ []byte, meant bool) {
			if meant {
				counts[kind]++
			}
		}))
	}
	w, part := bufio.NewWriter(f), []byte(nil)
	for done, i := 0, 0; done < size; done, i = done+len(part), i+1 {
		part = dumps[i%len(dumps)].Append(part[:0], min(1<<20, size-done))
		load.Must(w.Write(part))
	}
	load.Check(w.Flush())
	return counts
}

// PerMB tells how many of each kind a megabyte holds.
func PerMB(counts [16]int, size int) string {
	var parts []string
	for _, k := range identifier.Kinds() {
		if counts[k] > 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f", k, float64(counts[k])/float64(size)*1e6))
		}
	}
	return strings.Join(parts, ", ")
}
