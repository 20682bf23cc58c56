package segment

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// labelsAnswer checks that a segment with labels, whatever happened to its file, tells the right label or of damage.
func labelsAnswer(t *testing.T, path string, content []byte, want map[uint64]string, what string) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err == nil {
		defer r.Close()
		err = r.OpenLabels(openOpenly)
	}
	if err != nil {
		return // noticed
	}
	for k, label := range want {
		id, found, err := r.LookUp(k)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s: %v", what, err)
			}
			continue
		}
		text, err := r.LabelBytes(id)
		if err != nil || !found || string(text) != label {
			t.Fatalf("%s: LookUp(%#x) = %q, %v, %v; want %q", what, k, text, found, err, label)
		}
	}
	if err := r.VerifyAll(context.Background()); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("%s: not noticed: %v", what, err)
	}
}

func TestDamageOfLabelsIsNoticed(t *testing.T) {
	pairs := labelledPairs(1, distinct(5, 40), shapes["falling"])
	path := buildLabelled(t, Options{Width: Bits40, Note: []byte("note")}, NewLabels(LabelRules{Unite: or}), pairs)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := truth(pairs)
	for i := 0; i < len(whole); i += damageStep() {
		b := slices.Clone(whole)
		b[i] ^= 1 << (i % 8)
		labelsAnswer(t, path, b, want, "flipped bit")
	}
	for n := 0; n < len(whole); n += 7 * damageStep() {
		labelsAnswer(t, path, whole[:n], want, "cut")
	}
	labelsAnswer(t, path, append(slices.Clone(whole), 0), want, "longer")
}

// A table that was taken from another segment does not open.
func TestTableOfAnotherSegment(t *testing.T) {
	r := func(seed uint64) *Reader {
		return open(
			t,
			buildLabelled(
				t,
				Options{Width: Bits40},
				NewLabels(LabelRules{Unite: or}),
				labelledPairs(1, distinct(seed, 4000), shapes["two"]),
			),
		)
	}
	a, b := r(1), r(2)
	a.sealed = b.sealed
	if err := a.OpenLabels(openOpenly); err == nil {
		t.Error("it opened")
	}
}

func TestLabelLookUpDoesNotAllocate(t *testing.T) {
	keys := distinct(4, 5000)
	r := openLabelled(
		t,
		buildLabelled(
			t,
			Options{Width: Bits40},
			NewLabels(LabelRules{Unite: or}),
			labelledPairs(1, keys, shapes["falling"]),
		),
	)
	i := 0
	if n := testing.AllocsPerRun(2000, func() {
		id, _, _ := r.LookUp(keys[i])
		_, _, _ = r.LookUp(keys[i] + 1)
		_, _ = r.LabelBytes(id)
		i++
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The same keys and labels give the same file in every later version.
func TestGoldenLabels(t *testing.T) {
	golden := map[string]string{
		"falling":   "183cedf0e1d944cce06955a8115f552bb1c3d97573a48fc4829f0dbe09d24e5f",
		"rare":      "f6fc52d6223f3228f686c7f39d9a6f59fc95e1747bca44cf3f449987a5281c94",
		"many":      "54895ae7e5f69e17639e99f8f65b11b6e118b23ba8b003dd4300da46280caf0b",
		"empty too": "3a314c51eb70be595d911eab613d01ec536e638fa93dfc3488f275174bd13ff6",
	}
	keys := slices.Compact(slices.Sorted(slices.Values(uniform(6, 40_000, Bits64))))
	for name, want := range golden {
		pairs := labelledPairs(3, keys, shapes[name])
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		r := open(
			t,
			buildLabelled(t, Options{Width: Bits64, Memory: leastMemory}, NewLabels(LabelRules{Unite: or}), pairs),
		)
		if got := r.Digest().String(); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// FuzzLabelPage gives pages to a reader that somebody made with right checksums and any content: nothing may crash, and
// what Verify accepts must answer like its own walk.
func FuzzLabelPage(f *testing.F) {
	c := newLabelCode(9)
	keys, labels := distinct(1, 300), make([]uint32, 300)
	for i := range labels {
		labels[i] = uint32(i % c.labels)
	}
	n, l := planPage(keys, c.bitsPerKey(), 0)
	var p page
	c.putPlaces(&p, encodePage(&p, keys[:n], l), labels[:n])
	f.Add(p[:], c.encodeCode(), keys[0], keys[n-1], uint64(n))
	f.Add(p[:], newLabelCode(8).encodeCode(), keys[0], keys[n-1], uint64(n))
	path := filepath.Join(f.TempDir(), "x.seg")
	f.Fuzz(func(t *testing.T, content, described []byte, first, last, count uint64) {
		var p page
		copy(p[:], content)
		if err := os.WriteFile(path, forgeLabelled(p, described, first, last, count), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			return
		}
		defer r.Close()
		_, _, _ = r.LookUp(first)
		_, _, _ = r.LookUp(first + 12345)
		_, _ = r.Intersect(nil, []uint64{first, first + 1, first + 2, last})
		if r.VerifyAll(context.Background()) != nil {
			return
		}
		for key, err := range r.KeysInRange(0, math.MaxUint64) {
			if err != nil {
				t.Fatalf("verified, but does not walk: %v", err)
			}
			if id, found, err := r.LookUp(key); err != nil || !found || int(id) >= r.code.labels {
				t.Fatalf("verified, but %#x: %v, %v, %v", key, id, found, err)
			}
		}
	})
}

// forgeLabelled makes a segment of one page with right checksums everywhere.
func forgeLabelled(p page, described []byte, first, last, count uint64) []byte {
	var d directory
	d.first, d.sum = []uint64{first}, []uint32{checksum(p[:])}
	b := append(encodeHeader(Bits64, true), p[:]...)
	tail := append(d.encodeDirectory(), described...)
	b = append(b, tail...)
	f := footer{
		count:     count,
		pages:     1,
		last:      last,
		dirSum:    checksum(tail),
		digest:    digestOf(b),
		labelled:  true,
		labelsLen: uint64(len(described)),
	}
	return append(b, f.encodeFooter()...)
}
