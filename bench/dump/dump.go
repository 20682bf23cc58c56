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
	"syscall"
	"time"

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
func Measure(path string, limit int64, work func(path string, limit int64) error) (float64, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	size := stat.Size()
	if limit > 0 && limit < size {
		size = limit
	}
	before := CPU()
	if err := work(path, size); err != nil {
		return 0, err
	}
	return float64(size) / 1e6 / (CPU() - before).Seconds(), nil
}

// CPU is the time this process and its finished children have spent, in user and system mode.
func CPU() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

// Scan reads the file with the scanner and counts what it finds by kind.
func Scan(path string, limit int64) (found [16]int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return found, err
	}
	defer f.Close()
	scanner := scan.NewScanner(func(kind identifier.Kind, _ []byte) { found[kind]++ })
	report, err := container.Walk(context.Background(), path, f, container.Options{}, func(_ container.Entry, r io.Reader) error {
		_, err := scanner.Scan(context.Background(), r)
		return err
	})
	if err == nil && report.Bytes != limit {
		err = fmt.Errorf("%d of %d bytes were scanned", report.Bytes, limit)
	}
	return found, err
}

// Ripgrep prints every match of the patterns to nowhere.
func Ripgrep(rg, path string) error {
	args := RipgrepArgs("-oN")
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	cmd := exec.Command(rg, append(args, path)...)
	cmd.Stdout, cmd.Stderr = null, os.Stderr
	return cmd.Run()
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
func Regexp(path string, limit int64) (found int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return 0, err
	}
	re := regexp.MustCompile(strings.Join(Patterns, "|"))
	for line := range bytes.Lines(text) {
		found += len(re.FindAllIndex(line, -1))
	}
	if found == 0 {
		return 0, fmt.Errorf("the patterns found nothing")
	}
	return found, nil
}

// Write makes the dump and counts what was written by kind.
func Write(path string, make func(uint64, scantest.Truth) *scantest.Dump, size int) (counts [16]int, err error) {
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
