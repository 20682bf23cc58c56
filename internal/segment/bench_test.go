package segment

import (
	"math/rand/v2"
	"slices"
	"testing"
)

const benchKeys = 2_000_000

func BenchmarkContains(b *testing.B) {
	keys := uniform(1, benchKeys, Bits40)
	r := open(b, build(b, Options{Width: Bits40}, keys))
	// Half of the probes are present.
	probes := append(uniform(2, 1<<16, Bits40), keys[:1<<16]...)
	rand.New(rand.NewPCG(3, 3)).Shuffle(len(probes), func(i, j int) { probes[i], probes[j] = probes[j], probes[i] })
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := r.Contains(probes[i&(1<<17-1)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(float64(r.Size()*8)/float64(r.Count()), "bits/key")
}

func BenchmarkIntersect(b *testing.B) {
	r := open(b, build(b, Options{Width: Bits64}, uniform(1, benchKeys, Bits64)))
	probes := slices.Sorted(slices.Values(uniform(2, benchKeys/10, Bits64)))
	b.SetBytes(int64(8 * len(probes)))
	b.ReportAllocs()
	dst := make([]uint64, 0, len(probes))
	for b.Loop() {
		if _, err := r.Intersect(dst, probes); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteSorted(b *testing.B) {
	keys := slices.Sorted(slices.Values(uniform(1, benchKeys, Bits40)))
	b.SetBytes(8 * benchKeys)
	for b.Loop() {
		build(b, Options{Width: Bits40}, keys)
	}
}

func BenchmarkWriteUnsorted(b *testing.B) {
	keys := uniform(1, benchKeys, Bits40)
	b.SetBytes(8 * benchKeys)
	for b.Loop() {
		build(b, Options{Width: Bits40, Memory: 8 << 20}, keys)
	}
}
