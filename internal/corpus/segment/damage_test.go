package segment

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// answers checks that r, whatever happened to its file, says the truth about its keys or reports damage. It asks for as
// many of them as probes says, and their neighbours. It returns whether any damage was met.
func answers(t *testing.T, r *Reader, sorted []uint64, probes int) (damaged bool) {
	t.Helper()
	ask := func(k uint64) {
		found, err := r.Contains(k)
		if err != nil {
			damaged = true
			if !errors.Is(err, ErrCorrupt) || found {
				t.Fatalf("Contains(%#x): %v, %v", k, found, err)
			}
			return
		}
		if _, in := slices.BinarySearch(sorted, k); found != in {
			t.Fatalf("wrong answer: Contains(%#x) = %v", k, found)
		}
	}
	for i := range probes {
		k := sorted[i*len(sorted)/probes]
		ask(k)
		ask(k ^ 1)
	}
	hits, err := r.Intersect(nil, sorted)
	if err == nil && !slices.Equal(hits, sorted) || err != nil && !errors.Is(err, ErrCorrupt) {
		t.Fatalf("Intersect: %d of %d hits, %v", len(hits), len(sorted), err)
	}
	walked := 0
	for k, errWalk := range r.KeysInRange(0, math.MaxUint64) {
		if errWalk != nil {
			err = errors.Join(err, errWalk)
			break
		}
		if walked >= len(sorted) || k != sorted[walked] {
			t.Fatalf("walk gave %#x as key %d", k, walked)
		}
		walked++
	}
	return damaged || err != nil
}

// mustBeNoticed fails unless content is refused by Open, or by Verify, and answers nothing wrong in between.
func mustBeNoticed(t *testing.T, path string, content []byte, keys []uint64, what string) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		if !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%s: %v", what, err)
		}
		return
	}
	defer r.Close()
	answers(t, r, keys, min(len(keys), 50))
	if err := r.VerifyAll(context.Background()); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("%s: not noticed: %v", what, err)
	}
}

// distinct returns n sorted keys.
func distinct(seed uint64, n int) []uint64 {
	return slices.Compact(slices.Sorted(slices.Values(uniform(seed, n, Bits40))))
}

func small(t *testing.T) (content []byte, keys []uint64, path string) {
	keys = distinct(5, 60)
	path = build(t, Options{Width: Bits40, Note: []byte("note")}, keys)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content, keys, path
}

// damageStep is how many bytes lie between two that are damaged: a run at full size leaves none out. It is odd, so that
// each of the eight bits has its turn.
func damageStep() int { return sized(21, 1) }

// sized is how much of a trial runs: a part of it in the usual run, all of it in the long one.
func sized(usual, long int) int {
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		return long
	}
	return usual
}

func TestEveryFlippedByteIsNoticed(t *testing.T) {
	content, keys, path := small(t)
	for i := 0; i < len(content); i += damageStep() {
		for _, flip := range []byte{1 << (i % 8), 0xff} {
			content[i] ^= flip
			mustBeNoticed(t, path, content, keys, "flipped byte")
			content[i] ^= flip
		}
	}
}

func TestEveryCutIsNoticed(t *testing.T) {
	content, keys, path := small(t)
	for n := 0; n < len(content); n += damageStep() {
		mustBeNoticed(t, path, content[:n], keys, "cut")
	}
	mustBeNoticed(t, path, append(content, 0), keys, "longer")
	mustBeNoticed(t, path, append(slices.Clone(content), content...), keys, "twice")
}

func TestZerosAndSwapsAreNoticed(t *testing.T) {
	keys := distinct(6, 20_000)
	path := build(t, Options{Width: Bits40}, keys)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 512 {
		b := slices.Clone(whole)
		clear(b[at:min(at+512, len(b))])
		if bytes.Equal(b, whole) { // padding of the header
			continue
		}
		mustBeNoticed(t, path, b, keys, "zeros")
	}
	pages := len(whole) / pageSize
	for i := range pages {
		for j := i % sized(5, 1); j < i; j += sized(5, 1) {
			b := slices.Clone(whole)
			copy(b[i*pageSize:][:pageSize], whole[j*pageSize:][:pageSize])
			copy(b[j*pageSize:][:pageSize], whole[i*pageSize:][:pageSize])
			mustBeNoticed(t, path, b, keys, "swapped pages")
		}
	}
	mustBeNoticed(t, path, make([]byte, len(whole)), keys, "all zero")
	rng := rand.New(rand.NewPCG(9, 9))
	for range sized(100, 1000) {
		b := slices.Clone(whole)
		b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		mustBeNoticed(t, path, b, keys, "flipped bit")
	}
}

func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	for _, content := range []string{"", "hello", "\x1f\x8b", string(make([]byte, 3*pageSize)), headerMagic} {
		mustBeNoticed(t, path, []byte(content), nil, "foreign")
	}
	if _, err := Open(dir); !errors.Is(err, ErrCorrupt) {
		t.Errorf("folder: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	newer := encodeHeader(Bits40, false)
	newer[8] = 3
	binary.LittleEndian.PutUint32(newer[pageSize-4:], checksum(newer[:pageSize-4]))
	content, _, small := small(t)
	copy(content, newer)
	mustBeNoticed(t, small, content, nil, "newer version")
}

// A file that is cut under an open reader reads as zeros in its last page and not at all after it.
func TestCutWhileOpen(t *testing.T) {
	keys := distinct(7, 20_000)
	for _, touched := range []bool{true, false} {
		for _, left := range []int64{
			0, 1, pageSize, 2*pageSize + 1, 3*pageSize + 700, 4*pageSize + 4095,
			5*pageSize - 8, 6*pageSize + 20,
		} {
			path := build(t, Options{Width: Bits40}, keys)
			r := open(t, path)
			if touched && answers(t, r, keys, sized(2000, len(keys))) {
				t.Fatal("damaged before the cut")
			}
			if err := os.Truncate(path, left); err != nil {
				t.Fatal(err)
			}
			if !answers(t, r, keys, sized(2000, len(keys))) {
				t.Errorf("cut to %d: nothing noticed", left)
			}
			if err := r.Unchanged(); !errors.Is(err, ErrCorrupt) {
				t.Errorf("cut to %d: Unchanged says %v", left, err)
			}
			if err := r.VerifyAll(context.Background()); !errors.Is(err, ErrCorrupt) {
				t.Errorf("cut to %d: Verify says %v", left, err)
			}
		}
	}
}

func TestClosedReader(t *testing.T) {
	r, err := Open(build(t, Options{Width: Bits40}, []uint64{1}))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, errContains := r.Contains(1)
	_, errIntersect := r.Intersect(nil, []uint64{1})
	var errAll error
	for _, errAll = range r.KeysInRange(0, math.MaxUint64) {
	}
	for _, err := range []error{errContains, errIntersect, errAll, r.VerifyAll(context.Background()), r.Close()} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// FuzzOpen feeds any bytes to a reader.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "x.seg")
	seed, err := os.ReadFile(build(f, Options{Width: Bits40}, uniform(1, 100, Bits40)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add(seed[pageSize:])
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			return
		}
		defer r.Close()
		_, _ = r.Contains(1 << 20)
		_ = r.VerifyAll(context.Background())
	})
}

// FuzzPage gives pages to a reader that somebody made with right checksums and any content: nothing may crash, and what
// Verify accepts must answer like its own walk.
func FuzzPage(f *testing.F) {
	var p page
	keys := distinct(1, 300)
	n, l := planPage(keys, 0, 0)
	encodePage(&p, keys[:n], l)
	f.Add(p[:], keys[0], keys[n-1], uint64(n))
	path := filepath.Join(f.TempDir(), "x.seg")
	f.Fuzz(func(t *testing.T, content []byte, first, last, count uint64) {
		var p page
		copy(p[:], content)
		if err := os.WriteFile(path, forge(p, first, last, count), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			return
		}
		defer r.Close()
		_, _ = r.Contains(first + 12345)
		if r.VerifyAll(context.Background()) != nil {
			return
		}
		for k, err := range r.KeysInRange(0, math.MaxUint64) {
			if found, errFind := r.Contains(k); err != nil || errFind != nil || !found {
				t.Fatalf("verified, but %#x: %v, %v, %v", k, found, err, errFind)
			}
		}
	})
}

// forge makes a segment of one page with right checksums everywhere.
func forge(p page, first, last, count uint64) []byte {
	var d directory
	d.first, d.sum = []uint64{first}, []uint32{checksum(p[:])}
	b := append(encodeHeader(Bits64, false), p[:]...)
	b = append(b, d.encodeDirectory()...)
	f := footer{count: count, pages: 1, last: last, dirSum: checksum(d.encodeDirectory()), digest: digestOf(b)}
	return append(b, f.encodeFooter()...)
}
