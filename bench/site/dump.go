package site

import (
	"bufio"
	"context"
	"io"
	"math"
	"os"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/container"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/scan"
	"github.com/vigiahq/vigia/internal/scan/scantest"
)

// dumps are the kinds of dumps: identifiers everywhere, hardly any, and a megabyte of each in turn.
var dumps = map[string][]func(uint64, scantest.Truth) *scantest.Dump{
	"dense": {scantest.NewDense}, "sparse": {scantest.NewSparse}, "mixed": {scantest.NewDense, scantest.NewSparse},
}

// WriteDump makes a dump of a kind, or of a format of scantest that tells records, and counts what was written by kind of
// identifier.
func WriteDump(path, name string, size int) (counts [16]int) {
	f := load.Must(os.Create(path))
	defer func() { load.Check(f.Close()) }()
	w := bufio.NewWriter(f)
	defer func() { load.Check(w.Flush()) }()
	for _, format := range scantest.Formats {
		if format.Name == name {
			for seed, done := uint64(1), 0; done < size; seed++ {
				done += load.Must(w.Write(format.Write(seed, 20_000).Text))
			}
			return counts
		}
	}
	var made []*scantest.Dump
	for _, kind := range dumps[name] {
		made = append(made, kind(1, func(kind identifier.Kind, _ []byte, meant bool) {
			if meant {
				counts[kind]++
			}
		}))
	}
	if made == nil {
		load.Fail("%q is no dump", name)
	}
	part := []byte(nil)
	for done, i := 0, 0; done < size; done, i = done+len(part), i+1 {
		part = made[i%len(made)].Append(part[:0], min(1<<20, size-done))
		load.Must(w.Write(part))
	}
	return counts
}

// Scan reads a file with the scanner and counts what it finds by kind.
func Scan(path string) (found [16]int) {
	f := load.Must(os.Open(path))
	defer func() { load.Check(f.Close()) }()
	scanner := scan.NewScanner(func(kind identifier.Kind, _ []byte) { found[kind]++ })
	report := load.Must(container.Walk(context.Background(), path, f, container.Options{}, func(_ container.Entry, r io.Reader) error {
		_, err := scanner.Scan(context.Background(), r)
		return err
	}))
	if size := Size(path); report.Bytes != size {
		load.Fail("%d of %d bytes were scanned", report.Bytes, size)
	}
	return found
}

// Size of a file.
func Size(path string) int64 { return load.Must(os.Stat(path)).Size() }

// Bits judges the size of a set of keys, of which so many bits a key are allowed at 100 million: at another number
// each key tells more or less.
func Bits(name string, keys uint64, size int64, most float64) {
	const asked = 100_000_000
	bits, allowed := float64(size)*8/float64(keys), most+math.Log2(asked/float64(keys))
	load.Bar(bits <= allowed, "%s: %d keys in %.1f MB, %.2f bits a key; at most %.2f, which are %.1f at 100 million", name, keys, float64(size)/1e6,
		bits, allowed, most)
}
