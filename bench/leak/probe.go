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

	"github.com/vigiahq/vigia/internal/corpora"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/segment"
)

// spread makes n rising keys, evenly spread, by random gaps.
func spread(rnd *rand.Rand, n int, each func(uint64) error) error {
	gap := 2 * (^uint64(0) / uint64(n+1))
	for key, i := uint64(0), 0; i < n; i++ {
		step := rnd.Uint64N(gap) + 1
		if key+step < key {
			return nil // the end of the numbers
		}
		key += step
		if err := each(key); err != nil {
			return err
		}
	}
	return nil
}

func writeSegment(ctx context.Context, path string, seed uint64, n int) (segment.Summary, error) {
	w, err := segment.Create(path, segment.Options{Width: segment.Bits64})
	if err != nil {
		return segment.Summary{}, err
	}
	defer w.Abort()
	if err := spread(rand.New(rand.NewPCG(seed, 1)), n, w.Add); err != nil {
		return segment.Summary{}, err
	}
	return w.Commit(ctx)
}

// probe asks a large segment about many watched values on one core, half of which it holds.
func (b *bench) probe(ctx context.Context) error {
	path := filepath.Join(b.folder, "large.seg")
	sum, err := writeSegment(ctx, path, 1, b.keys)
	if err != nil {
		return err
	}
	b.bar(float64(sum.Size)*8/float64(sum.Count) <= 42, "segment: %d keys in %.1f MB, %.2f bits a key (bar: 42)", sum.Count, float64(sum.Size)/1e6,
		float64(sum.Size)*8/float64(sum.Count))
	r, err := segment.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	probes, every := make([]uint64, 0, b.probes), max(1, 2*b.keys/b.probes)
	i := 0
	for k, err := range r.All() {
		if err != nil {
			return err
		}
		if i++; i%every == 0 && len(probes) < b.probes/2 {
			probes = append(probes, k)
		}
	}
	for len(probes) < b.probes {
		probes = append(probes, rand.Uint64())
	}
	slices.Sort(probes)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const batch = 50_000
	hits, start, used := 0, time.Now(), cpu()
	found := make([]uint64, 0, batch)
	for at := 0; at < len(probes); at += batch {
		if found, err = r.Intersect(found[:0], probes[at:min(at+batch, len(probes))]); err != nil {
			return err
		}
		hits += len(found)
	}
	took, spent := time.Since(start), cpu()-used
	b.bar(took < 20*time.Second, "probe: %d watched values in %d keys: %.2f s, %.2f s of CPU, %d found (bar: 20 s on one core)", len(probes), sum.Count,
		took.Seconds(), spent.Seconds(), hits)
	return nil
}

// shelf is a store of nothing but segments.
type shelf struct {
	leak.Store
	segments []leak.Segment
}

func (s *shelf) CorporaEpoch(context.Context) (int64, error) { return 1, nil }

func (s *shelf) Segments(context.Context) ([]leak.Segment, int64, error) { return s.segments, 1, nil }

// newValue looks values up in many segments, as the request that adds one does.
func (b *bench) newValue(ctx context.Context) error {
	dir := filepath.Join(b.folder, "many")
	depot, err := corpora.Open(dir, "")
	if err != nil {
		return err
	}
	s := &shelf{}
	const each = 50_000
	for i := range b.segments {
		file := fmt.Sprintf("b%05d.seg", i)
		sum, err := writeSegment(ctx, filepath.Join(dir, file), uint64(i), each)
		if err != nil {
			return err
		}
		s.segments = append(s.segments, leak.Segment{Breach: file, File: file, Digest: sum.Digest.String()})
	}
	l := leak.NewLibrary(s, depot, slog.New(slog.DiscardHandler))
	start := time.Now()
	if err := l.Load(ctx); err != nil {
		return err
	}
	opened := time.Since(start)
	defer func() { _ = l.Close() }()
	const rounds = 2000
	for range rounds { // warm: most pages of most segments have been touched
		l.Probe(rand.Uint64())
	}
	times := make([]time.Duration, rounds)
	for i := range times {
		value := rand.Uint64()
		start := time.Now()
		l.Probe(value)
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	p50, p99 := times[rounds/2], times[rounds*99/100]
	// The median: on a machine that does other work too, the tail measures that work.
	b.bar(p50 < 5*time.Millisecond, "new value: %d segments of %d keys: p50 %.3f ms, p99 %.3f ms (bar: 5 ms warm); opened in %.0f ms", b.segments, each,
		ms(p50), ms(p99), ms(opened))
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
