package segment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// or unites labels that are sets of bits.
func or(a, b []byte) []byte {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := bytes.Clone(a)
	for i := range b {
		out[i] |= b[i]
	}
	return out
}

// openly seals nothing, but notices another context.
func openly(context, table []byte) ([]byte, error) { return slices.Concat(context, table), nil }

func openOpenly(context, sealed []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(sealed, context)
	if !ok {
		return nil, errors.New("another context")
	}
	return rest, nil
}

type pair struct {
	key   uint64
	label string
}

// buildLabelled makes a segment of pairs.
func buildLabelled(t testing.TB, opt Options, labels *Labels, pairs []pair) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.seg")
	w, err := CreateLabelled(path, opt, labels, openly)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, p := range pairs {
		if err := w.AddEntries([]Entry{{p.key, labels.LabelID([]byte(p.label))}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	return path
}

func openLabelled(t testing.TB, path string) *Reader {
	t.Helper()
	r := open(t, path)
	if err := r.OpenLabels(openOpenly); err != nil {
		t.Fatal(err)
	}
	return r
}

// truth is what a segment of pairs must say.
func truth(pairs []pair) map[uint64]string {
	m := map[uint64]string{}
	for _, p := range pairs {
		if had, ok := m[p.key]; ok && had != p.label {
			p.label = string(or([]byte(had), []byte(p.label)))
		}
		m[p.key] = p.label
	}
	return m
}

// checkLabels compares every way of asking with the truth.
func checkLabels(t interface {
	Helper()
	Fatalf(string, ...any)
}, r *Reader, want map[uint64]string,
) {
	t.Helper()
	if err := r.VerifyAll(context.Background()); err != nil {
		t.Fatalf("Verify: %v", err)
	}
	var keys, probes []uint64
	for k := range want {
		keys = append(keys, k)
		probes = append(probes, k, k+1)
	}
	slices.Sort(keys)
	slices.Sort(probes)
	label := func(id LabelID) string {
		text, err := r.LabelBytes(id)
		if err != nil {
			t.Fatalf("label %d: %v", id, err)
		}
		return string(text)
	}
	for _, k := range probes {
		id, found, err := r.LookUp(k)
		text, in := want[k]
		if err != nil || found != in || in && label(id) != text {
			t.Fatalf("LookUp(%#x) = %q, %v, %v; want %q, %v", k, label(id), found, err, text, in)
		}
	}
	walk, ids := &labelledReader{Reader: r}, []uint64{}
	table, err := r.Labels()
	if err != nil {
		t.Fatalf("walk: %v", err)
	}
	for id := range table {
		ids = append(ids, uint64(id))
	}
	walk.ids = ids
	i := 0
	for {
		records, err := walk.nextRecords()
		if err != nil {
			t.Fatalf("walk: %v", err)
		}
		if len(records) == 0 {
			break
		}
		for _, e := range records {
			if i >= len(keys) || e[0] != keys[i] || label(LabelID(e[1])) != want[e[0]] {
				t.Fatalf("entry %d: %v", i, e)
			}
			i++
		}
	}
	if i != len(keys) || r.Count() != uint64(len(keys)) {
		t.Fatalf("walked %d of %d, count %d", i, len(keys), r.Count())
	}
	checkAgainst(t, r, keys)
}

// shapes are ways in which labels are spread over keys.
var shapes = map[string]func(*rand.Rand) string{
	"one":       func(*rand.Rand) string { return "x" },
	"two":       func(r *rand.Rand) string { return fmt.Sprint(r.IntN(2)) },
	"rare":      func(r *rand.Rand) string { return fmt.Sprint(r.IntN(50) / 49) },
	"very rare": func(r *rand.Rand) string { return fmt.Sprint(r.IntN(5000) / 4999) },
	"even":      func(r *rand.Rand) string { return fmt.Sprint(r.IntN(37)) },
	"falling":   func(r *rand.Rand) string { return fmt.Sprint(int(r.ExpFloat64() * 3)) },
	"steep":     func(r *rand.Rand) string { return fmt.Sprint(int(r.ExpFloat64() / 3)) },
	"many":      func(r *rand.Rand) string { return fmt.Sprint(int(math.Exp(r.Float64() * 9))) },
	"empty too": func(r *rand.Rand) string { return []string{"", "a", "b"}[r.IntN(3)] },
}

func labelledPairs(seed uint64, keys []uint64, label func(*rand.Rand) string) []pair {
	rnd := rand.New(rand.NewPCG(seed, 7))
	pairs := make([]pair, len(keys))
	for i, k := range keys {
		pairs[i] = pair{k, label(rnd)}
	}
	return pairs
}

func TestHoldsExactlyTheLabels(t *testing.T) {
	for name, label := range shapes {
		for _, w := range []Width{Bits40, Bits64} {
			for set, keys := range sets(w) {
				keys = keys[:min(len(keys), sized(5_000, 20_000))]
				pairs := labelledPairs(1, slices.Compact(slices.Sorted(slices.Values(keys))), label)
				path := buildLabelled(t, Options{Width: w, Note: []byte(name)}, NewLabels(LabelRules{Unite: or}), pairs)
				r := openLabelled(t, path)
				if string(r.Note()) != name || r.code == nil {
					t.Errorf("%s/%s: note %q", name, set, r.Note())
				}
				checkLabels(t, r, truth(pairs))
			}
		}
	}
}

// Repeated keys, spilled runs and added segments: labels are united wherever two meet.
func TestLabelsAreUnited(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	var pairs []pair
	for _, k := range uniform(3, sized(60_000, 150_000), Bits64) {
		for range 1 + rnd.IntN(3) {
			pairs = append(pairs, pair{k, string([]byte{1 << rnd.IntN(6)})})
		}
	}
	rnd.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	want := truth(pairs)
	digest := ""
	for _, memory := range []int{leastMemory, 4 << 20, 0} {
		r := openLabelled(
			t,
			buildLabelled(t, Options{Width: Bits64, Memory: memory}, NewLabels(LabelRules{Unite: or}), pairs),
		)
		checkLabels(t, r, want)
		if digest == "" {
			digest = r.Digest().String()
		}
		if r.Digest().String() != digest {
			t.Errorf("with memory %d the file is another one", memory)
		}
	}
	half := len(pairs) / 2
	labels := NewLabels(LabelRules{Unite: or})
	parts := []*Reader{
		openLabelled(t, buildLabelled(t, Options{Width: Bits64}, labels, pairs[:half])),
		openLabelled(
			t,
			buildLabelled(t, Options{Width: Bits64, Memory: leastMemory}, labels, pairs[half:len(pairs)-10]),
		),
	}
	w, err := CreateLabelled(
		filepath.Join(t.TempDir(), "x.seg"),
		Options{Width: Bits64},
		NewLabels(LabelRules{Unite: or}),
		openly,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, p := range parts {
		if err := w.AddSegment(p); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range pairs[len(pairs)-10:] {
		if err := w.AddEntries([]Entry{{p.key, w.labels.LabelID([]byte(p.label))}}); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := w.Commit(context.Background())
	if err != nil || sum.Digest.String() != digest {
		t.Errorf("from parts the file is another one: %v", err)
	}
}

// A segment of the old kind is one whose keys have the empty label.
func TestSegmentsWithoutLabels(t *testing.T) {
	keys := distinct(5, 5000)
	plain := open(t, build(t, Options{Width: Bits40}, keys))
	want := map[uint64]string{}
	for _, k := range keys {
		want[k] = ""
	}
	checkLabels(t, plain, want)
	labels := NewLabels(LabelRules{Unite: or})
	w, err := CreateLabelled(filepath.Join(t.TempDir(), "x.seg"), Options{Width: Bits40}, labels, openly)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := errors.Join(
		w.AddSegment(plain),
		w.AddEntries([]Entry{{keys[0], labels.LabelID([]byte("x"))}}),
	); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	want[keys[0]] = "x"
	checkLabels(t, openLabelled(t, w.path), want)
}

func TestLabelsStaySealed(t *testing.T) {
	pairs := labelledPairs(1, distinct(5, 5000), shapes["even"])
	r := open(t, buildLabelled(t, Options{Width: Bits40}, NewLabels(LabelRules{Unite: or}), pairs))
	if _, err := r.Labels(); !errors.Is(err, ErrSealed) {
		t.Errorf("Labels before they were opened: %v", err)
	}
	if err := r.OpenLabels(func(_, _ []byte) ([]byte, error) { return nil, ErrCorrupt }); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a seal that does not open: %v", err)
	}
	if err := r.OpenLabels(func(_, _ []byte) ([]byte, error) { return []byte{1, 'x'}, nil }); !errors.Is(err,
		ErrCorrupt) {
		t.Errorf("a table of too few labels: %v", err)
	}
	if err := r.OpenLabels(openOpenly); err != nil {
		t.Error(err)
	}
}

// When there are too many labels they are made to say less, all of them, and the segment says so.
func TestTooManyLabels(t *testing.T) {
	cut := func(label []byte) []byte { return label[:max(0, len(label)-2)] }
	for name, c := range map[string]struct {
		rules LabelRules
		want  func(label string) string
	}{
		"coarsened": {LabelRules{Unite: or, Coarsen: cut}, func(l string) string { return l[:2] }},
		"dropped":   {LabelRules{Unite: or}, func(string) string { return "" }},
		"stubborn": {
			LabelRules{Unite: or, Coarsen: func(l []byte) []byte { return l }},
			func(string) string { return "" },
		},
	} {
		labels := NewLabels(c.rules)
		labels.limit = 50
		pairs := labelledPairs(
			1,
			distinct(5, 5000),
			func(r *rand.Rand) string { return fmt.Sprintf("%02d%02d", r.IntN(20), r.IntN(90)) },
		)
		r := openLabelled(t, buildLabelled(t, Options{Width: Bits40}, labels, pairs))
		want := map[uint64]string{}
		for _, p := range pairs {
			want[p.key] = c.want(p.label)
		}
		if labels.coarse == 0 {
			t.Errorf("%s: not said", name)
		}
		checkLabels(t, r, want)
	}
}

// TestLabelsTakeTheirBits: a label takes as many bits a key as its place in the table has, and nothing else.
func TestLabelsTakeTheirBits(t *testing.T) {
	keys := slices.Compact(slices.Sorted(slices.Values(uniform(9, 300_000, Bits64))))
	plain := open(t, build(t, Options{Width: Bits64}, keys))
	for name, label := range shapes {
		pairs := labelledPairs(2, keys, label)
		r := openLabelled(t, buildLabelled(t, Options{Width: Bits64}, NewLabels(LabelRules{Unite: or}), pairs))
		table := 0
		texts, err := r.Labels()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			table += len(text) + 1
		}
		// The table itself does not grow with the keys.
		width := float64(bits.Len(uint(len(texts) - 1)))
		over := 8*float64(r.Size()-plain.Size()-int64(table))/float64(len(keys)) - width
		if over > 0.3 {
			t.Errorf("%s: %.3f bits a key over the %.0f of its place", name, over, width)
		}
	}
}

func TestLabelsOfAnySet(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.Uint64Max(1<<rapid.IntRange(3, 40).Draw(t, "bits"))).Draw(t, "keys")
		var pairs []pair
		for _, k := range keys {
			pairs = append(
				pairs,
				pair{k & Bits40.MaxKey(), string(rapid.SliceOfN(rapid.Byte(), 0, 2).Draw(t, "label"))},
			)
		}
		path := filepath.Join(dir, "x.seg")
		labels := NewLabels(LabelRules{Unite: or})
		w, err := CreateLabelled(path, Options{Width: Bits40, Memory: leastMemory}, labels, openly)
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer w.Abort()
		for _, p := range pairs {
			if err := w.AddEntries([]Entry{{p.key, labels.LabelID([]byte(p.label))}}); err != nil {
				t.Fatalf("%v", err)
			}
		}
		if _, err := w.Commit(context.Background()); err != nil {
			t.Fatalf("%v", err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer r.Close()
		if err := r.OpenLabels(openOpenly); err != nil {
			t.Fatalf("%v", err)
		}
		checkLabels(t, r, truth(pairs))
	})
}
