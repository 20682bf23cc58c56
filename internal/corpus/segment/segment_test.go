package segment

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// build makes a segment of keys and returns its path.
func build(t testing.TB, opt Options, keys []uint64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.seg")
	w, err := CreateSegment(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.AddKeys(keys); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string) *Reader {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func uniform(seed uint64, n int, w Width) []uint64 {
	src := rand.NewPCG(seed, 1)
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = src.Uint64() & w.MaxKey()
	}
	return keys
}

// sets are shapes of key sets that stress different parts of the page layout.
func sets(w Width) map[string][]uint64 {
	mx := w.MaxKey()
	dense := make([]uint64, 100_000)
	for i := range dense {
		dense[i] = uint64(i) + 12345
	}
	var clustered, powers []uint64
	for i := range uint64(200) {
		for j := range uint64(300) {
			clustered = append(clustered, (i*i*i*7919*104729+j*3)&mx)
		}
	}
	for i := range uint(w) {
		powers = append(powers, 1<<i, 1<<i-1, mx-1<<i)
	}
	return map[string][]uint64{
		"empty": nil, "zero": {0}, "largest": {mx}, "both ends": {mx, 0}, "repeated": {7, 7, 7, 7},
		"uniform": uniform(1, 50_000, w), "dense": dense, "clustered": clustered, "powers": powers,
		"dense at the top": {mx, mx - 1, mx - 2, mx - 3}, "few": uniform(2, 10, w),
	}
}

func TestHoldsExactlyTheKeys(t *testing.T) {
	for _, w := range []Width{Bits40, Bits64} {
		for name, keys := range sets(w) {
			r := open(t, build(t, Options{Width: w, Note: []byte(name)}, keys))
			want := slices.Compact(slices.Sorted(slices.Values(keys)))
			if r.Count() != uint64(len(want)) || string(r.Note()) != name || r.Width() != w {
				t.Errorf("%d/%s: count %d note %q width %d", w, name, r.Count(), r.Note(), r.Width())
			}
			if err := r.VerifyAll(context.Background()); err != nil {
				t.Errorf("%d/%s: %v", w, name, err)
			}
			checkAgainst(t, r, want)
		}
	}
}

// checkAgainst compares every answer that r gives about want and about the neighbours of its keys.
func checkAgainst(t interface {
	Helper()
	Fatalf(string, ...any)
}, r *Reader, want []uint64,
) {
	t.Helper()
	var got []uint64
	for k, err := range r.KeysInRange(0, math.MaxUint64) {
		if err != nil {
			t.Fatalf("walk: %v", err)
		}
		got = append(got, k)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("walk gave %d keys, want %d, or other ones", len(got), len(want))
	}
	probes := []uint64{0, r.width.MaxKey(), ^uint64(0)}
	for _, k := range want {
		probes = append(probes, k, k-1, k+1)
	}
	slices.Sort(probes)
	var hits []uint64
	for _, k := range probes {
		found, err := r.Contains(k)
		if _, in := slices.BinarySearch(want, k); err != nil || found != in {
			t.Fatalf("Contains(%#x) = %v, %v; want %v", k, found, err, in)
		}
		if found {
			hits = append(hits, k)
		}
	}
	both, err := r.Intersect(nil, probes)
	if err != nil || !slices.Equal(both, hits) {
		t.Fatalf("Intersect gave %d hits, %v; want %d", len(both), err, len(hits))
	}
}

func TestAgreesWithMap(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom([]Width{Bits40, Bits64}).Draw(t, "width")
		keys := rapid.SliceOf(rapid.Uint64Range(0, w.MaxKey())).Draw(t, "keys")
		spread := rapid.SliceOfN(rapid.Uint64Range(0, 1<<rapid.IntRange(1, 39).Draw(t, "span")), 0, 3000).Draw(t,
			"spread")
		keys = append(keys, spread...)
		path := filepath.Join(dir, "p.seg")
		wr, err := CreateSegment(path, Options{Width: w})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if err := wr.AddKeys([]uint64{k}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := wr.Commit(context.Background()); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		checkAgainst(t, r, slices.Compact(slices.Sorted(slices.Values(keys))))
	})
}

func TestRange(t *testing.T) {
	keys := distinct(8, 10_000)
	r := open(t, build(t, Options{Width: Bits40}, keys))
	empty := open(t, build(t, Options{Width: Bits40}, nil))
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.OneOf(rapid.SampledFrom(keys), rapid.Uint64Range(0, Bits40.MaxKey()), rapid.Just(^uint64(0)))
		first, last := bound.Draw(t, "first"), bound.Draw(t, "last")
		var want, got []uint64
		for _, k := range keys {
			if first <= k && k <= last {
				want = append(want, k)
			}
		}
		for k, err := range r.KeysInRange(first, last) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, k)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d keys, want %d", len(got), len(want))
		}
		for range empty.KeysInRange(first, last) {
			t.Fatal("a key in an empty segment")
		}
	})
}

// FuzzWriter takes any keys in any order.
func FuzzWriter(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), uint8(0))
	path := filepath.Join(f.TempDir(), "x.seg")
	f.Fuzz(func(t *testing.T, raw []byte, shift uint8) {
		var keys []uint64
		for ; len(raw) >= 8; raw = raw[8:] {
			keys = append(keys, binary.LittleEndian.Uint64(raw)>>(shift%64))
		}
		w, err := CreateSegment(path, Options{Width: Bits64})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AddKeys(keys); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(context.Background()); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		checkAgainst(t, r, slices.Compact(slices.Sorted(slices.Values(keys))))
	})
}

// The least memory makes a writer spill many runs; what comes out must not depend on that, nor on the order of the
// keys.
func TestSpillsAndMergesToTheSameBytes(t *testing.T) {
	keys := uniform(3, 700_000, Bits40)
	keys = append(keys, keys[:100_000]...) // repeated across runs
	spilled := build(t, Options{Width: Bits40, Memory: leastMemory}, keys)
	slices.Sort(keys)
	straight := build(t, Options{Width: Bits40}, keys)
	a, errA := os.ReadFile(spilled)
	b, errB := os.ReadFile(straight)
	if errA != nil || errB != nil || !slices.Equal(a, b) {
		t.Fatalf("spilled %d bytes, straight %d bytes: not the same (%v, %v)", len(a), len(b), errA, errB)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(spilled), "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("files left behind: %v %v", left, err)
	}
	checkAgainst(t, open(t, spilled), slices.Compact(keys))
}

func TestRefusesWhatDoesNotFit(t *testing.T) {
	w, err := CreateSegment(filepath.Join(t.TempDir(), "x.seg"), Options{Width: Bits40})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.AddKeys([]uint64{1 << 40}); !errors.Is(err, ErrKeyTooWide) {
		t.Errorf("Add: %v", err)
	}
	if err := w.AddKeys([]uint64{1, 1 << 63}); !errors.Is(err, ErrKeyTooWide) {
		t.Errorf("AddAll: %v", err)
	}
	if err := w.SetNote(make([]byte, MaxNote+1)); !errors.Is(err, ErrOption) {
		t.Errorf("SetNote: %v", err)
	}
	if _, err := CreateSegment(filepath.Join(t.TempDir(), "x.seg"), Options{Width: 41}); !errors.Is(err, ErrOption) {
		t.Errorf("width 41: %v", err)
	}
}

func TestLookUpDoesNotAllocate(t *testing.T) {
	keys := distinct(4, 5000)
	r := open(t, build(t, Options{Width: Bits40}, keys))
	i := 0
	if n := testing.AllocsPerRun(2000, func() {
		_, _ = r.Contains(keys[i])
		_, _ = r.Contains(keys[i] + 1)
		i++
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSelectBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Uint64Min(1).Draw(t, "x")
		k := uint(0)
		for i := range uint(64) {
			if x>>i&1 == 0 {
				continue
			}
			if got := selectBit(x, k); got != i {
				t.Fatalf("selectBit(%#x, %d) = %d, want %d", x, k, got, i)
			}
			k++
		}
	})
}

func TestSortKeys(t *testing.T) {
	for _, w := range []Width{Bits40, Bits64} {
		for _, keys := range sets(w) {
			want := slices.Sorted(slices.Values(keys))
			sortKeys(asRecords(keys), make([]bare, len(keys)), uint(w))
			if !slices.Equal(keys, want) {
				t.Errorf("width %d: %d keys not sorted", w, len(keys))
			}
		}
	}
}

// Keys that come in every way a writer treats apart: encoded straight, spilled, left in memory, and out of other
// segments.
func TestAllWaysTogether(t *testing.T) {
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		path := filepath.Join(t.TempDir(), "x.seg")
		w, err := CreateSegment(path, Options{Width: Bits64, Memory: leastMemory})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		var want []uint64
		for i := range 8 {
			keys := uniform(seed*100+uint64(i), rnd.IntN(120_000), Bits64)
			if rnd.IntN(2) == 0 { // goes straight, if it follows
				slices.Sort(keys)
				for j := range keys {
					keys[j] = keys[j]>>4 + uint64(i)<<60
				}
			}
			want = append(want, keys...)
			if rnd.IntN(4) == 0 {
				err = w.AddSegment(open(t, build(t, Options{Width: Bits64}, keys)))
			} else {
				err = w.AddKeys(keys)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Commit(context.Background()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		a, errA := os.ReadFile(path)
		b, errB := os.ReadFile(build(t, Options{Width: Bits64}, want))
		if errA != nil || errB != nil || !slices.Equal(a, b) {
			t.Errorf("seed %d: %d bytes, straight %d bytes: not the same (%v, %v)", seed, len(a), len(b), errA, errB)
		}
		if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 1 {
			t.Errorf("files left behind: %v %v", left, err)
		}
	}
}

func TestAddSegmentOfAnotherWidth(t *testing.T) {
	w, err := CreateSegment(filepath.Join(t.TempDir(), "x.seg"), Options{Width: Bits64})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.AddSegment(open(t, build(t, Options{Width: Bits40}, []uint64{1}))); !errors.Is(err, ErrOption) {
		t.Errorf("AddSegment: %v", err)
	}
}

// Keys that are not spread over their first digit do not fit the memory that sorts one digit, and must come out all the
// same.
func TestSpillOfUnevenKeys(t *testing.T) {
	var rnd *rand.Rand
	for name, key := range map[string]func(i int) uint64{
		"small":      func(int) uint64 { return rnd.Uint64N(1 << 20) },
		"falling":    func(i int) uint64 { return uint64(1<<30 - i) },
		"all equal":  func(int) uint64 { return 7 },
		"few values": func(int) uint64 { return rnd.Uint64N(40) << 58 },
		"two heaps":  func(i int) uint64 { return uint64(i&1)<<63 | rnd.Uint64N(1<<40) },
		"half even":  func(i int) uint64 { return rnd.Uint64() >> (i & 1 * 20) },
	} {
		t.Run(name, func(t *testing.T) {
			rnd = rand.New(rand.NewPCG(4, 4)) // the same keys in whatever order the kinds come
			keys := make([]uint64, 300_000)
			for i := range keys {
				keys[i] = key(i)
			}
			spilled := build(t, Options{Width: Bits64, Memory: leastMemory}, keys)
			slices.Sort(keys)
			a, errA := os.ReadFile(spilled)
			b, errB := os.ReadFile(build(t, Options{Width: Bits64}, keys))
			if errA != nil || errB != nil || !slices.Equal(a, b) {
				t.Errorf("spilled %d bytes, straight %d bytes: not the same (%v, %v)", len(a), len(b), errA, errB)
			}
		})
	}
}

// A commit that is given up while spilled keys are read ends, with an error and without a segment.
func TestCommitGivenUpWhileSpilledKeysAreRead(t *testing.T) {
	for n := range 20 {
		path := filepath.Join(t.TempDir(), "x.seg")
		w, err := CreateSegment(path, Options{Width: Bits64, Memory: leastMemory})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AddKeys(uniform(1, 200_000, Bits64)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Duration(n)*time.Millisecond/4, cancel)
		_, err = w.Commit(ctx)
		cancel()
		left, globErr := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
		if globErr != nil || err != nil && (!errors.Is(err, context.Canceled) || len(left) != 0) ||
			err == nil && len(left) != 1 {
			t.Fatalf("commit: %v; files left behind: %v", err, left)
		}
	}
}

// A spill file that lost a bit must not make a segment.
func TestDamagedSpillIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.seg")
	w, err := CreateSegment(path, Options{Width: Bits64, Memory: leastMemory})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.AddKeys(uniform(1, 100_000, Bits64)); err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	if _, err := w.spill.file.ReadAt(b[:], 100_000); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 4
	if _, err := w.spill.file.WriteAt(b[:], 100_000); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(context.Background()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("commit: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 0 {
		t.Errorf("files left behind: %v %v", left, err)
	}
}
