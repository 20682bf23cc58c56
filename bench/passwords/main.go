// Command passwords measures the password set against what it replaces, all in one run on one machine: size and speed
// of the compressed set beside a plain sorted array of 5-byte keys with binary search, pages read by a cold look-up,
// sorted probes in bulk, and the import of text beside `wc -l` on the same file. The hashes are made up and uniform.
// Only ratios inside one run mean anything.
//
//	go run ./bench/passwords -n 100000000
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/vigiahq/vigia/bench/keyset"
	"github.com/vigiahq/vigia/internal/segment"
)

func main() {
	n := flag.Int("n", 100_000_000, "number of made-up hashes")
	dir := flag.String("dir", "", "folder for the files (default: a temporary one, removed afterwards)")
	sizeOnly := flag.Bool("size", false, "measure only the size of the set")
	wide := flag.Bool("wide", false, "measure the set with 64-bit keys instead")
	text := flag.String("import", "", "only import this text (what the benchmark starts as a process of its own)")
	flag.Parse()
	if *text != "" {
		if err := importText(*text, *dir); err != nil {
			fmt.Fprintln(os.Stderr, "passwords:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*n, *dir, *sizeOnly, *wide); err != nil {
		fmt.Fprintln(os.Stderr, "passwords:", err)
		os.Exit(1)
	}
}

func run(n int, dir string, sizeOnly, wide bool) error {
	if dir == "" {
		tmp, err := os.MkdirTemp("", "bench-passwords-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	width := segment.Bits40
	if wide {
		width = segment.Bits64
	}
	fmt.Printf("%d made-up uniform keys of %d bits\n\n", n, width)
	path := filepath.Join(dir, "keys.seg")
	if err := writeSet(path, n, width); err != nil {
		return err
	}
	if sizeOnly {
		return nil
	}
	r, err := segment.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	steps := []func(*segment.Reader, string) error{lookUps, coldPages, sortedProbes}
	if !wide {
		steps = append(steps, textImport)
	}
	for _, step := range steps {
		if err := step(r, dir); err != nil {
			return err
		}
	}
	return nil
}

// writeSet builds the set from keys in random order and prints its size.
func writeSet(path string, n int, width segment.Width) error {
	w, err := segment.Create(path, segment.Options{Width: width})
	if err != nil {
		return err
	}
	defer w.Abort()
	began := time.Now()
	for i := range uint64(n) {
		if err := w.Add(keyset.KeyAt(i, width)); err != nil {
			return err
		}
	}
	sum, err := w.Commit(context.Background())
	if err != nil {
		return err
	}
	took := time.Since(began)
	bits := float64(sum.Size) * 8 / float64(sum.Count)
	fmt.Printf("set: %d distinct keys, %d bytes, %.2f bits a key, %.1f %% of a plain array; written unsorted at %.1f M keys/s\n",
		sum.Count, sum.Size, bits, 100*bits/float64(width), float64(n)/took.Seconds()/1e6)
	limit(width == segment.Bits40 && n == 100_000_000, "bits a key", bits, 16.6)
	limit(width == segment.Bits40 && n == 1_000_000_000, "bits a key", bits, 13.4)
	limit(width == segment.Bits64 && n == 100_000_000, "bits a key", bits, 42)
	return nil
}

// limit prints whether a figure is at most what the issue allows, where it sets a limit.
func limit(applies bool, what string, got, most float64) {
	if applies {
		fmt.Printf("  %-60s %8.2f  at most  %8.2f  %s\n", what, got, most, verdict(got <= most))
	}
}

// floor prints whether a figure is at least what the issue asks for.
func floor(what string, got, least float64) {
	fmt.Printf("  %-60s %8.2f  at least %8.2f  %s\n", what, got, least, verdict(got >= least))
}

func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "MISSED"
}
