// Command leak measures what leak monitoring promises: looking a new value up in every breach, importing, labels, what
// breaches have in common, and pairs of value and password. -only against -against FOLDER compares scans and imports
// with those of another checkout, which is how a change of speed is told on a busy machine.
//
// It prints one line per figure with its bar, and exits with 1 when a bar is missed. Rates of two sides are measured in
// the same run.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/corpora"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/segment"
)

var (
	keys     = flag.Int("keys", 100_000_000, "keys of the large segment")
	probes   = flag.Int("probes", 10_000_000, "watched values probed in it")
	segments = flag.Int("segments", 1000, "segments that a new value is looked up in")
	size     = flag.Int("size", 512, "size of the imported dump in MiB")
	dumps    = flag.String("dumps", "dense,sparse,mixed", "which dumps are imported: dense, sparse, mixed, or a format of scantest")
	line     = flag.Int("line", 4096, "length of the simulated single line in MiB")
	files    = flag.Int("files", 1_000_000, "files in the simulated tar")
	compared = flag.Int("compared", 20_000_000, "keys of each of the segments whose overlap is counted")
	paired   = flag.Int("paired", 100_000_000, "pairs of value and password")
)

func main() {
	load.Main("",
		load.Part{Name: "new", Run: newValue}, load.Part{Name: "import", Run: imports}, load.Part{Name: "memory", Run: memory},
		load.Part{Name: "labels", Run: labels}, load.Part{Name: "overlap", Run: overlap}, load.Part{Name: "pairs", Run: pairs},
		load.Part{Name: "against", Run: against, ByHand: true})
}

// create begins a segment of keys in a folder, and open opens it until the scope ends.
func create(folder, name string) *segment.Writer {
	return load.Must(segment.Create(filepath.Join(folder, name), segment.Options{Width: segment.Bits64}))
}

func open(folder, name string) *segment.Reader {
	r := load.Must(segment.Open(filepath.Join(folder, name)))
	load.Defer(func() { load.Check(r.Close()) })
	return r
}

// oneCore has all that is left of the scope run on one.
func oneCore() {
	before := runtime.GOMAXPROCS(1)
	load.Defer(func() { runtime.GOMAXPROCS(before) })
}

// rising calls fn with n keys that rise, evenly spread.
func rising(random *rand.Rand, n int, fn func(key uint64)) {
	gap, key := 2*(^uint64(0)/uint64(n+1)), uint64(0)
	for range n {
		step := random.Uint64N(gap) + 1
		if key+step < key {
			return // the end of the numbers
		}
		key += step
		fn(key)
	}
}

// writeSegment writes n rising keys.
func writeSegment(ctx context.Context, folder, name string, seed uint64, n int) segment.Summary {
	w := create(folder, name)
	rising(rand.New(rand.NewPCG(seed, 1)), n, func(key uint64) { load.Check(w.Add(key)) })
	return load.Must(w.Commit(ctx))
}

// onlySegments is a store of nothing but segments.
type onlySegments struct {
	leak.Store
	segments []leak.Segment
}

func (s *onlySegments) CorporaEpoch(context.Context) (int64, error) { return 1, nil }

func (s *onlySegments) Segments(context.Context) ([]leak.Segment, int64, error) {
	return s.segments, 1, nil
}

// newValue looks values up in many segments, as the request that adds one does.
func newValue(ctx context.Context) {
	s, folder := &onlySegments{}, load.Folder()
	const each, lookUps = 50_000, 2000
	for i := range *segments {
		file := fmt.Sprintf("b%05d.seg", i)
		sum := writeSegment(ctx, folder, file, uint64(i), each)
		s.segments = append(s.segments, leak.Segment{Breach: file, File: file, Digest: sum.Digest.String()})
	}
	l := leak.NewLibrary(s, load.Must(corpora.Open(folder, "")), nil, slog.New(slog.DiscardHandler))
	opened := load.Time(1, func() { load.Check(l.Load(ctx)) })
	load.Defer(func() { load.Check(l.Close()) })
	var times []time.Duration
	for i := range 2 * lookUps {
		value, start := rand.Uint64(), time.Now()
		l.Probe(value)
		if i >= lookUps { // warm: most pages of most segments have been touched
			times = append(times, time.Since(start))
		}
	}
	// The median: on a machine that does other work too, the tail measures that work.
	p50 := load.Median(times)
	load.Bar(p50 < 5*time.Millisecond, "new value: %d segments of %d keys: p50 %v, p99 %v (bar: 5 ms warm); opened in %v", *segments, each,
		p50, load.Percentile(times, 99), opened.Elapsed.Round(time.Millisecond))
}
