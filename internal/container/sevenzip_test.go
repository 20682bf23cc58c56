package container

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/vigiahq/vigia/internal/scan/scantest"
)

// TestSevenZipMethods reads archives that 7-Zip 26.02 made, of two texts, an empty one, a folder and a link, packed in
// each way that it knows (`7z a -snl -m0=LZMA ...`), two of them under the password "senha", and finds what is in the
// texts.
func TestSevenZipMethods(t *testing.T) {
	paths, err := filepath.Glob("testdata/7z/*.7z")
	if err != nil || len(paths) < 15 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".7z")
		t.Run(name, func(t *testing.T) {
			packed, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			values, names, report, err := walked(bytes.NewReader(packed), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if slices.Sort(names); report.Skipped != 0 || !slices.Equal(names, []string{"dump!pasta/dois é.txt", "dump!um.txt"}) || len(values) != 90 {
				t.Errorf("%v, %d values, %+v", names, len(values), report)
			}
		})
	}
}

// TestKeysAreBounded: what the keys of an archive would cost is known before any is made, and a few kilobytes cannot ask
// for minutes of it.
func TestKeysAreBounded(t *testing.T) {
	for _, name := range []string{"encrypted", "encrypted-table"} {
		packed, err := os.ReadFile("testdata/7z/" + name + ".7z")
		must(t, err)
		values, _, report, err := walked(bytes.NewReader(packed), Limits{Derivations: 1 << 18}) // one key takes 1 << 19
		if err != nil || len(values) > 0 || report.Verdict() != Unread || !strings.Contains(report.Skips[0].Reason, "too long") {
			t.Errorf("%s: %d values, %+v, %v", name, len(values), report, err)
		}
	}
}

// TestManyBlocksOfXZ: blocks that each claim a window of 256 MiB take no more memory than what is in them.
//
//vigia:row H7
//vigia:bar every block's window counts against the limit; what is encrypted is known before a key is made, and keys cost against a
//vigia:bar limit; uploads have one.
//vigia:seen 2026-11-16: 200 blocks of 256 MiB each take less than 16 MiB; an encrypted 7z is named where not one round may be spent.
//vigia:tier C: 50 blocks, L: 200.
//vigia:broken a window that is allocated whole; a key that is not counted: 90 values read beyond the limit.
func TestManyBlocksOfXZ(t *testing.T) {
	one := compressed(t, func(w io.Writer) (io.WriteCloser, error) { return xz.WriterConfig{DictCap: 1 << 28}.NewWriter(w) }, []byte(secret))
	blocks := sized(50, 200)
	file := bytes.Repeat(one, blocks)
	var values []string
	grown := scantest.Heap(t, func() {
		var report Report
		var err error
		values, _, report, err = walked(bytes.NewReader(file), Limits{})
		if err != nil || report.Skipped != 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
	if len(values) != 2*blocks || grown > 16<<20 {
		t.Errorf("%d values; the heap grew by %d bytes", len(values), grown)
	}
}

// TestKeysHaveALimit: an encrypted 7z is known as such where not one round may be spent; a key that asks for more rounds
// than are left costs none of them, and what one costs counts against the next.
//
//vigia:row H7
func TestKeysHaveALimit(t *testing.T) {
	for _, name := range []string{"encrypted", "encrypted-table"} {
		packed, err := os.ReadFile("testdata/7z/" + name + ".7z")
		must(t, err)
		report, err := Walk(context.Background(), "dump", bytes.NewReader(packed), Options{Limits: Limits{Derivations: -1}}, // one round would be too long
			func(Entry, io.Reader) error { return nil })
		if err != nil || report.Verdict() != Unread || !strings.Contains(report.Skips[0].Reason, "encrypted") {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
	}
	w := walker{ctx: context.Background(), limits: Limits{Derivations: 1 << 20}, keys: map[string][]byte{}}
	for _, power := range []byte{21, 40, 41, 62} {
		if _, err := w.sevenZipKey("x", power, nil); !errors.Is(err, errDerivations) || w.derived != 0 {
			t.Errorf("2^%d rounds: %v after %d", power, err, w.derived)
		}
	}
	for range 4 { // what one key costs counts against the next
		_, _ = w.sevenZipKey(fmt.Sprint(w.derived), 18, nil)
	}
	if _, err := w.sevenZipKey("one more", 18, nil); !errors.Is(err, errDerivations) {
		t.Error("many keys have no limit:", err)
	}
}

// resum gives a changed archive the check sums of its table and its start, as a hostile one would have.
func resum(packed []byte) {
	offset, length := binary.LittleEndian.Uint64(packed[12:]), binary.LittleEndian.Uint64(packed[20:])
	table := packed[32+offset:][:length]
	binary.LittleEndian.PutUint32(packed[28:], crc32.ChecksumIEEE(table))
	binary.LittleEndian.PutUint32(packed[8:], crc32.ChecksumIEEE(packed[12:32]))
}

// TestSevenZipDamage changes bytes of those archives, many times: no panic and no endless reading. Where the sums were
// not mended, and no filter was left in, a text is whole or it is said that it is not.
func TestSevenZipDamage(t *testing.T) {
	paths, err := filepath.Glob("testdata/7z/*.7z")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	for _, path := range paths {
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		filtered := slices.Contains([]string{"arm64.7z", "bcj.7z", "bcj2.7z"}, filepath.Base(path))
		for i := range sized(150, 1000) {
			bad := bytes.Clone(good)
			for range 1 + random.IntN(3) {
				bad[32+random.IntN(len(bad)-32)] ^= 1 << random.IntN(8)
			}
			if i%2 == 0 {
				resum(bad)
			}
			values, _, report, err := walked(bytes.NewReader(bad), Limits{Memory: 1 << 26, Derivations: 1 << 10})
			if err != nil || i%2 == 1 && !filtered && report.Skipped == 0 && len(values) != 90 {
				t.Fatalf("%s: %d values, %v, %+v", path, len(values), err, report)
			}
		}
	}
}

// FuzzSevenZip looks for panics and for memory beyond the limit in tables whose sums are right.
func FuzzSevenZip(f *testing.F) {
	paths, err := filepath.Glob("testdata/7z/*.7z")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		packed, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		packed = bytes.Clone(packed)
		if len(packed) > 32 {
			offset, length := binary.LittleEndian.Uint64(packed[12:]), binary.LittleEndian.Uint64(packed[20:])
			if size := uint64(len(packed)) - 32; offset <= size && length <= size-offset {
				resum(packed)
			}
		}
		if _, _, _, err := walked(bytes.NewReader(packed), Limits{Memory: 1 << 24, Bytes: 1 << 24, Derivations: 1 << 10}); err != nil && !errors.Is(err, ErrBomb) {
			t.Error(err)
		}
	})
}

// TestTriesCountTogether: every password that is tried costs against one limit, so that the usual ones, which are tried on
// everything that is locked, cannot be made to take longer than it.
//
//vigia:row H7
func TestTriesCountTogether(t *testing.T) {
	for _, c := range []struct {
		name      string
		one, keys int64 // rounds of a key, and how many may be made
		enough    bool
	}{
		{"7z/encrypted.7z", 1 << 19, 1, false},
		{"zip/aes256.zip", 4 * zipRounds, 2, false},
		{"zip/aes256.zip", 4 * zipRounds, 64, true},
	} {
		packed, err := os.ReadFile("testdata/" + c.name)
		must(t, err)
		values, _, report, err := walkedWith(bytes.NewReader(packed), Options{
			Passwords: []string{"um errado", "outro errado"}, Limits: Limits{Derivations: c.keys * c.one},
		})
		if read := len(values) > 0; err != nil || read != c.enough {
			t.Errorf("%s: %d values with %d keys, %v", c.name, len(values), c.keys, err)
		}
		if !c.enough && (len(report.Skips) == 0 || !strings.Contains(report.Skips[0].Reason, "too long")) {
			t.Errorf("%s: %+v", c.name, report)
		}
	}
}
