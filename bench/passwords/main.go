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

	"github.com/vigiahq/vigia/bench/keyset"
	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/segment"
)

var (
	count    = flag.Int("n", 100_000_000, "number of made-up hashes")
	dir      = flag.String("dir", "", "folder for the files (default: a temporary one, removed afterwards)")
	sizeOnly = flag.Bool("size", false, "measure only the size of the set")
	wide     = flag.Bool("wide", false, "measure the set with 64-bit keys instead")
	text     = flag.String("import", "", "only import this text (what the benchmark starts as a process of its own)")
)

func main() {
	load.Main(func(ctx context.Context) {
		if *text != "" { // tells the most memory it had
			folder := load.Must(os.MkdirTemp(*dir, "corpora-"))
			defer os.RemoveAll(folder)
			keyset.ImportText(ctx, folder, *text)
			fmt.Println(load.Memory("self", "VmHWM") >> 10)
			return
		}
		measure()
	})
}

func measure() {
	if *dir == "" {
		made, remove := load.Folder()
		defer remove()
		*dir = made
	}
	width := segment.Bits40
	if *wide {
		width = segment.Bits64
	}
	fmt.Printf("%d made-up uniform keys of %d bits\n\n", *count, width)
	writeSet(width)
	if *sizeOnly {
		return
	}
	r := load.Must(segment.Open(setPath()))
	defer r.Close()
	lookUps(r)
	coldPages(r)
	sortedProbes(r)
	if !*wide {
		textImport(r)
	}
}

func setPath() string { return filepath.Join(*dir, "keys.seg") }

// writeSet builds the set from keys in random order and prints its size.
func writeSet(width segment.Width) {
	var sum segment.Summary
	took := load.Time(*count, func() { sum = keyset.WriteSet(setPath(), *count, width) })
	bits := float64(sum.Size) * 8 / float64(sum.Count)
	fmt.Printf("set: %d distinct keys, %d bytes, %.2f bits a key, %.1f %% of a plain array; written unsorted at %.1f M keys/s\n",
		sum.Count, sum.Size, bits, 100*bits/float64(width), took.Rate()/1e6)
	limit(width == segment.Bits40 && *count == 100_000_000, "bits a key", bits, 16.6)
	limit(width == segment.Bits40 && *count == 1_000_000_000, "bits a key", bits, 13.4)
	limit(width == segment.Bits64 && *count == 100_000_000, "bits a key", bits, 42)
}

// limit prints whether a figure is at most what the issue allows, where it sets a limit.
func limit(applies bool, what string, got, most float64) {
	if applies {
		fmt.Printf("  %-60s %8.2f  at most  %8.2f  %s\n", what, got, most, load.Verdict(got <= most))
	}
}

// floor prints whether a figure is at least what the issue asks for.
func floor(what string, got, least float64) {
	fmt.Printf("  %-60s %8.2f  at least %8.2f  %s\n", what, got, least, load.Verdict(got >= least))
}
