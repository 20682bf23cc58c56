package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
			if slices.Sort(
				names,
			); report.Skipped != 0 || !slices.Equal(names, []string{"dump!pasta/dois é.txt", "dump!um.txt"}) ||
				len(values) != 90 {
				t.Errorf("%v, %d values, %+v", names, len(values), report)
			}
		})
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
		if strings.HasPrefix(filepath.Base(path), "encrypted") { // each try makes some twenty keys
			continue
		}
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range sized(20, 1000) {
			bad := bytes.Clone(good)
			for range 1 + random.IntN(3) {
				bad[32+random.IntN(len(bad)-32)] ^= 1 << random.IntN(8)
			}
			if i%2 == 0 {
				resum(bad)
			}
			values, _, report, err := walked(bytes.NewReader(bad), Limits{})
			if err != nil || i%2 == 1 && report.Skipped == 0 && len(values) != 90 {
				t.Fatalf("%s: %d values, %v, %+v", path, len(values), err, report)
			}
		}
	}
}

// FuzzSevenZip looks for panics in tables whose sums are right.
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
		if _, _, _, err := walked(
			bytes.NewReader(packed),
			Limits{Bytes: 1 << 24},
		); err != nil &&
			!errors.Is(err, ErrBomb) {
			t.Error(err)
		}
	})
}
