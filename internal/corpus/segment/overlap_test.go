package segment

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Segments of many sizes and ways to overlap, against plain sets.
func TestCompare(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 8))
	mine := slices.Compact(slices.Sorted(slices.Values(uniform(1, 30_000, Bits64))))
	r := open(t, build(t, Options{Width: Bits64}, mine))
	var others []*Reader
	var sets [][]uint64
	for _, c := range []struct{ own, mine int }{
		{0, 0},
		{0, 30_000},
		{10, 10},
		{20_000, 5_000},
		{1_000_000, 12_345},
		{5, 0},
		{100_000, 1},
	} {
		keys := uniform(rnd.Uint64(), c.own, Bits64)
		for range c.mine {
			keys = append(keys, mine[rnd.IntN(len(mine))])
		}
		if c.mine == len(mine) {
			keys = slices.Clone(mine)
		}
		keys = slices.Compact(slices.Sorted(slices.Values(keys)))
		sets, others = append(sets, keys), append(others, open(t, build(t, Options{Width: Bits64}, keys)))
	}
	labels := NewLabels(LabelRules{Unite: or})
	sets = append(sets, mine[:777])
	others = append(
		others,
		open(t, buildLabelled(t, Options{Width: Bits64}, labels, labelledPairs(1, mine[:777], shapes["falling"]))),
	)
	for _, skip := range []int{0, 2} { // with and without the one that has everything
		got, err := r.CompareWith(context.Background(), others[skip:])
		if err != nil {
			t.Fatal(err)
		}
		inAny := map[uint64]bool{}
		for i, set := range sets[skip:] {
			n := uint64(0)
			for _, k := range set {
				if _, in := slices.BinarySearch(mine, k); in {
					n++
					inAny[k] = true
				}
			}
			if got.Each[i] != n {
				t.Errorf("segment %d: %d keys in common, want %d", i, got.Each[i], n)
			}
		}
		if got.Any != uint64(len(inAny)) {
			t.Errorf("%d keys known, want %d", got.Any, len(inAny))
		}
	}
}

func TestCompareEnds(t *testing.T) {
	r := open(t, build(t, Options{Width: Bits64}, uniform(1, 5000, Bits64)))
	if _, err := r.CompareWith(context.Background(),
		[]*Reader{open(t, build(t, Options{Width: Bits40}, []uint64{1}))}); !errors.Is(err, ErrOption) {
		t.Errorf("another width: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.CompareWith(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	empty := open(t, build(t, Options{Width: Bits64}, nil))
	if got, err := empty.CompareWith(
		context.Background(),
		[]*Reader{r},
	); err != nil || got.Any != 0 ||
		got.Each[0] != 0 {
		t.Errorf("empty: %v, %v", got, err)
	}
}

// BenchmarkCompare is two segments of as many keys, half of which they share.
func BenchmarkCompare(b *testing.B) {
	keys := slices.Compact(slices.Sorted(slices.Values(uniform(1, 3*benchKeys/2, Bits64))))
	third := len(keys) / 3
	var mine, other []uint64
	for i, k := range keys {
		if i%3 != 0 {
			mine = append(mine, k)
		}
		if i%3 != 1 {
			other = append(other, k)
		}
	}
	r, o := open(b, build(b, Options{Width: Bits64}, mine)), open(b, build(b, Options{Width: Bits64}, other))
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		got, err := r.CompareWith(context.Background(), []*Reader{o})
		if err != nil || int(got.Any) < third-1 {
			b.Fatal(got, err)
		}
		best = min(best, time.Since(start))
	}
	b.ReportMetric(best.Seconds()*20e6/float64(len(mine)), "s-for-20-million")
}
