package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/corpora"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/segment"
)

// writeSegment writes n rising keys, evenly spread, by random gaps.
func writeSegment(ctx context.Context, path string, seed uint64, n int) segment.Summary {
	w := load.Must(segment.Create(path, segment.Options{Width: segment.Bits64}))
	defer w.Abort()
	random, gap, key := rand.New(rand.NewPCG(seed, 1)), 2*(^uint64(0)/uint64(n+1)), uint64(0)
	for range n {
		step := random.Uint64N(gap) + 1
		if key+step < key {
			break // the end of the numbers
		}
		key += step
		load.Check(w.Add(key))
	}
	return load.Must(w.Commit(ctx))
}

// probe asks a large segment about many watched values on one core, half of which it holds.
func probe(ctx context.Context, folder string) {
	path := filepath.Join(folder, "large.seg")
	sum := writeSegment(ctx, path, 1, *keys)
	bits := float64(sum.Size) * 8 / float64(sum.Count)
	bar(bits <= 42, "segment: %d keys in %.1f MB, %.2f bits a key (bar: 42)", sum.Count, float64(sum.Size)/1e6, bits)
	r := load.Must(segment.Open(path))
	defer func() { _ = r.Close() }()
	asked, every, i := make([]uint64, 0, *probes), max(1, 2**keys / *probes), 0
	for k, err := range r.All() {
		load.Check(err)
		if i++; i%every == 0 && len(asked) < *probes/2 {
			asked = append(asked, k)
		}
	}
	for len(asked) < *probes {
		asked = append(asked, rand.Uint64())
	}
	slices.Sort(asked)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const batch = 50_000
	hits, found := 0, make([]uint64, 0, batch)
	took := load.Time(len(asked), func() {
		for some := range slices.Chunk(asked, batch) {
			found = load.Must(r.Intersect(found[:0], some))
			hits += len(found)
		}
	})
	bar(took.Elapsed < 20*time.Second, "probe: %d watched values in %d keys: %.2f s, %.2f s of CPU, %d found (bar: 20 s on one core)", len(asked), sum.Count,
		took.Elapsed.Seconds(), took.Spent.Seconds(), hits)
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
func newValue(ctx context.Context, folder string) {
	files := load.Must(corpora.Open(folder, ""))
	s := &onlySegments{}
	const each, rounds = 50_000, 2000
	for i := range *segments {
		file := fmt.Sprintf("b%05d.seg", i)
		sum := writeSegment(ctx, filepath.Join(folder, file), uint64(i), each)
		s.segments = append(s.segments, leak.Segment{Breach: file, File: file, Digest: sum.Digest.String()})
	}
	l := leak.NewLibrary(s, files, nil, slog.New(slog.DiscardHandler))
	opened := load.Time(1, func() { load.Check(l.Load(ctx)) })
	defer func() { _ = l.Close() }()
	var times []time.Duration
	for i := range 2 * rounds {
		value, start := rand.Uint64(), time.Now()
		l.Probe(value)
		if i >= rounds { // warm: most pages of most segments have been touched
			times = append(times, time.Since(start))
		}
	}
	ms := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
	// The median: on a machine that does other work too, the tail measures that work.
	p50 := load.Median(times)
	bar(p50 < 5*time.Millisecond, "new value: %d segments of %d keys: p50 %.3f ms, p99 %.3f ms (bar: 5 ms warm); opened in %.0f ms", *segments, each,
		ms(p50), ms(load.Percentile(times, 99)), ms(opened.Elapsed))
}
