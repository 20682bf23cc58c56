package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/segment"
)

// shares is how many of a thousand people of a made-up dump have each set of classes.
var shares = []int{480, 210, 110, 70, 40, 30, 20, 15, 10, 5, 4, 3, 2, 1}

// labelOf draws a set of classes.
func labelOf(random *rand.Rand) byte {
	at := random.IntN(1000)
	for i, share := range shares {
		if at -= share; at < 0 {
			return byte(i)
		}
	}
	return 0
}

// labels compares a segment with labels and one of the same keys without.
func labels(ctx context.Context) {
	folder := load.Folder()
	secret := load.Must(seal.OpenOrCreate(filepath.Join(folder, "keys.json")))
	table := segment.NewLabels(segment.LabelRules{Unite: func(a, _ []byte) []byte { return a }})
	ids := make([]segment.LabelID, len(shares))
	for i := range ids {
		ids[i] = table.ID([]byte{byte(i)})
	}
	plain := create(folder, "plain.seg")
	labelled := load.Must(segment.CreateLabelled(filepath.Join(folder, "labelled.seg"), segment.Options{Width: segment.Bits64}, table, secret.SealTable))
	random, counts, all := rand.New(rand.NewPCG(1, 1)), make([]float64, len(shares)), 0.0
	rising(random, *keys, func(key uint64) {
		label := labelOf(random)
		counts[label]++
		all++
		load.Check(plain.Add(key), labelled.Add(key, ids[label]))
	})
	without, with := load.Must(plain.Commit(ctx)), load.Must(labelled.Commit(ctx))
	site.Bits("segment", without.Count, without.Size, 42)
	entropy := 0.0
	for _, n := range counts {
		if n > 0 {
			entropy -= n / all * math.Log2(n/all)
		}
	}
	bits := func(s segment.Summary) float64 { return float64(s.Size) * 8 / float64(s.Count) }
	over := bits(with) - bits(without) - entropy
	load.Bar(over <= 0.3, "labels: %d keys: %.2f bits a key without, %.2f with; %.3f are the entropy of the labels, %.3f are over it (bar: 0.3)", with.Count, bits(without), bits(with),
		entropy, over)
	a, b := open(folder, "plain.seg"), open(folder, "labelled.seg")
	load.Check(b.OpenLabels(secret.OpenTable))
	askBoth(a, b, random)
}

// askBoth looks the same values up in both, half of which they hold, on one core.
func askBoth(a, b *segment.Reader, random *rand.Rand) {
	oneCore()
	sorted := half(a, *probes)
	scattered := slices.Clone(sorted[:min(len(sorted), 1_000_000)])
	step := max(1, len(sorted)/len(scattered))
	for i := range scattered {
		scattered[i] = sorted[i*step]
	}
	random.Shuffle(len(scattered), func(i, j int) { scattered[i], scattered[j] = scattered[j], scattered[i] })
	each := func(what string, n int, least float64, without, with func()) []load.Series {
		return load.Compare(what, "a second of CPU", load.Result.OfCPU,
			load.Side{Name: "without labels", Run: func() load.Result { return load.Time(n, without) }},
			load.Side{Name: "with", Run: func() load.Result { return load.Time(n, with) }, Least: least})
	}
	each("look-ups", len(scattered), 0.8, func() {
		for _, k := range scattered {
			load.Must(a.Contains(k))
		}
	}, func() {
		for _, k := range scattered {
			load.Must2(b.LookUp(k))
		}
	})
	const batch = 50_000
	found, entries := make([]uint64, 0, batch), make([]segment.Entry, 0, batch)
	took := each("sorted probes", len(sorted), 1/1.3, func() {
		for some := range slices.Chunk(sorted, batch) {
			found = load.Must(a.Intersect(found[:0], some))
		}
	}, func() {
		for some := range slices.Chunk(sorted, batch) {
			entries = load.Must(b.LookUpAll(entries[:0], some))
		}
	})
	for i, name := range []string{"without labels", "with"} {
		seconds := load.Median(took[i].Values(func(r load.Result) float64 { return r.Elapsed.Seconds() }))
		load.Bar(seconds < 20, "probe: %d watched values in %d keys %s: %.2f s on one core; less than 20 for 10 million in 100 million", len(sorted),
			a.Count(), name, seconds)
	}
}

// half returns n sorted keys, every second of which the segment holds.
func half(r *segment.Reader, n int) []uint64 {
	asked, every, i := make([]uint64, 0, n), max(1, 2*int(r.Count())/n), 0
	for k, err := range r.All() {
		load.Check(err)
		if i++; i%every == 0 && len(asked) < n/2 {
			asked = append(asked, k)
		}
	}
	for range len(asked) {
		asked = append(asked, rand.Uint64())
	}
	slices.Sort(asked)
	return asked
}

// overlap counts what two segments have in common, and what one has in common with many.
func overlap(ctx context.Context) {
	folder, random := load.Folder(), rand.New(rand.NewPCG(2, 2))
	first, second, shared := create(folder, "first.seg"), create(folder, "second.seg"), uint64(0)
	rising(random, *compared*3/2, func(key uint64) {
		switch random.IntN(3) {
		case 0:
			load.Check(first.Add(key))
		case 1:
			load.Check(second.Add(key))
		default:
			load.Check(first.Add(key), second.Add(key))
			shared++
		}
	})
	load.Must(first.Commit(ctx))
	load.Must(second.Commit(ctx))
	a, b := open(folder, "first.seg"), open(folder, "second.seg")
	oneCore()
	var got segment.Overlap
	took := load.Time(1, func() { got = load.Must(a.Compare(ctx, []*segment.Reader{b})) })
	load.Bar(got.Any == shared && took.Spent < 4*time.Second, "overlap: %d with %d keys: %.2f s of CPU, %d in common, all of them counted (bar: 4 s on one core at 20 million)", a.Count(), b.Count(),
		took.Spent.Seconds(), got.Any)
	earlier := []*segment.Reader{b}
	const others = 100
	for i := range others {
		name := fmt.Sprintf("%d.seg", i)
		writeSegment(ctx, folder, name, uint64(i), max(1, *compared/others))
		earlier = append(earlier, open(folder, name))
	}
	took = load.Time(1, func() { got = load.Must(a.Compare(ctx, earlier)) })
	load.Bar(got.Each[0] == shared, "overlap: %d keys with %d segments that have %d: %.2f s of CPU, %d known", a.Count(), len(earlier), 2**compared, took.Spent.Seconds(), got.Any)
}

// pairs puts pairs of a value and a password into a segment of their own, and asks for pairs that are not in it: of a
// value with another password, and of another value with the password.
func pairs(ctx context.Context) {
	folder := load.Folder()
	secret := load.Must(seal.OpenOrCreate(filepath.Join(folder, "keys.json")))
	w := create(folder, "pairs.seg")
	random := rand.New(rand.NewPCG(3, 3))
	const prefix = 1<<40 - 1
	type pair struct{ value, password uint64 }
	kept := make([]pair, 0, 1_000_000)
	every := max(1, *paired/cap(kept))
	for i := range *paired {
		p := pair{random.Uint64(), random.Uint64() & prefix}
		if i%every == 0 && len(kept) < cap(kept) {
			kept = append(kept, p)
		}
		load.Check(w.Add(secret.Pair(p.value, p.password)))
	}
	sum := load.Must(w.Commit(ctx))
	r := open(folder, "pairs.seg")
	oneCore()
	missing, wrong, asked := 0, 0, 3*len(kept)
	took := load.Time(asked, func() {
		for _, p := range kept {
			if !load.Must(r.Contains(secret.Pair(p.value, p.password))) {
				missing++
			}
			for _, other := range []pair{{p.value, (p.password + 1) & prefix}, {p.value + 1, p.password}} {
				if load.Must(r.Contains(secret.Pair(other.value, other.password))) {
					wrong++
				}
			}
		}
	})
	bits := float64(sum.Size) * 8 / float64(sum.Count)
	load.Bar(missing == 0 && wrong == 0, "pairs: %d in %.1f MB, %.2f bits a pair; %.2f million look-ups a second of CPU, the fingerprint included; of %d asked %d not found, %d found wrongly", sum.Count,
		float64(sum.Size)/1e6, bits, took.OfCPU()/1e6, asked, missing, wrong)
}
