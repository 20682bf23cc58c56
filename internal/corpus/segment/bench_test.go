package segment

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
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

// BenchmarkLookUp asks a segment with and one without labels in turn, about random keys and about sorted ones, half of
// which are present. It takes small steps and the best of each, because other work on the machine only makes them
// longer.
func BenchmarkLookUp(b *testing.B) {
	keys := slices.Compact(slices.Sorted(slices.Values(uniform(1, benchKeys, Bits64))))
	plain := open(b, build(b, Options{Width: Bits64}, keys))
	for _, shape := range []string{"one", "two", "falling", "steep", "even", "many"} {
		r := openLabelled(
			b,
			buildLabelled(
				b,
				Options{Width: Bits64},
				NewLabels(LabelRules{Unite: or}),
				labelledPairs(1, keys, shapes[shape]),
			),
		)
		b.Run(shape, func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(3, 3))
			best := [3]time.Duration{time.Hour, time.Hour, time.Hour}
			const few = 2000
			probes, hits := make([]uint64, few), make([]uint64, 0, few)
			for b.Loop() {
				for i := range probes {
					if probes[i] = rnd.Uint64(); i%2 == 0 {
						probes[i] = keys[rnd.IntN(len(keys))]
					}
				}
				for i, ask := range []func() error{
					func() error {
						return each(probes, func(k uint64) (err error) { _, err = plain.Contains(k); return err })
					},
					func() error {
						return each(probes,
							func(k uint64) (err error) { _, _, err = r.LookUp(k); return err })
					},
					func() (err error) { hits, err = plain.Intersect(hits[:0], probes); return err },
				} {
					if i == 2 { // as dense as ten million probes in a hundred million keys
						at := rnd.IntN(len(keys) - 5*few)
						for k := range probes {
							if probes[k] = keys[at+5*k]; k%2 == 0 {
								probes[k]++
							}
						}
					}
					start := time.Now()
					if err := ask(); err != nil {
						b.Fatal(err)
					}
					best[i] = min(best[i], time.Since(start))
				}
			}
			for i, name := range []string{"ns-plain", "ns-labelled", "ns-sorted-plain"} {
				b.ReportMetric(float64(best[i].Nanoseconds())/few, name)
			}
			b.ReportMetric(100*best[0].Seconds()/best[1].Seconds(), "%-of-rate")
		})
	}
}

func each(keys []uint64, fn func(uint64) error) error {
	for _, k := range keys {
		if err := fn(k); err != nil {
			return err
		}
	}
	return nil
}
