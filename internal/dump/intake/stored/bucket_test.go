package stored_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/platform/bucket/buckettest"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// zipOf makes a zip of texts, packed.
func zipOf(t *testing.T, texts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, text := range texts {
		f, err := w.Create(string(rune('a'+i)) + ".txt")
		if err == nil {
			_, err = f.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sevenZipOf makes a 7z of one text, stored. Its table of contents stands at the end and says where the text is and how
// long.
func sevenZipOf(text []byte) []byte {
	size := append([]byte{0xf0}, binary.LittleEndian.AppendUint32(nil, uint32(len(text)))...)
	table := slices.Concat(
		[]byte{1, 4, 6, 0, 1, 9}, size, []byte{0}, // header, streams: one packed stream
		[]byte{7, 0x0b, 1, 0, 1, 1, 0, 0x0c}, size, []byte{0, 0}, // one folder, copied as it is
		[]byte{5, 1, 0x11, 5, 0, 'a', 0, 0, 0}, []byte{0, 0}, // one file, its name
	)
	start := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	start = binary.LittleEndian.AppendUint64(start, uint64(len(table)))
	start = binary.LittleEndian.AppendUint32(start, crc32.ChecksumIEEE(table))
	head := binary.LittleEndian.AppendUint32([]byte{'7', 'z', 0xbc, 0xaf, 0x27, 0x1c, 0, 4}, crc32.ChecksumIEEE(start))
	return slices.Concat(head, start, text, table)
}

// TestArchivesInBuckets: a zip and a 7z, whose tables of contents stand at their ends, are read where they lie in a
// bucket, and give the keys of the texts in them.
func TestArchivesInBuckets(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		s3 := buckettest.NewFakeS3(t)
		v := newEnv(t, e)
		var texts [][]byte
		plain := t.TempDir()
		for seed, size := range []int{600_000, 3_000, 700_000} { // larger and smaller than what is scanned as a whole
			text, _ := madeUpDump(uint64(50+seed), size, v.Keys.Fingerprint)
			texts = append(texts, text)
			if err := os.WriteFile(filepath.Join(plain, string(rune('a'+seed))), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for name, body := range map[string][]byte{
			"dumps/a.zip": zipOf(t, texts[0], texts[1]),
			"dumps/b.7z":  sevenZipOf(texts[2]),
		} {
			s3.PutObject(name, body)
		}
		bucket := strings.Replace(s3.Address, "s3://vigia?", "s3://vigia/dumps/?", 1)
		want := v.Import(dumptest.MakeBreach("textos", cyber.SourceBreach, cyber.ExposedEmail), plain)
		got := v.Import(dumptest.MakeBreach("balde", cyber.SourceBreach, cyber.ExposedEmail), bucket)
		if len(got.Skips) > 0 || !slices.Equal(v.keysOf(got.Record), v.keysOf(want.Record)) ||
			got.Tally.Scanned != want.Tally.Scanned ||
			got.Tally.Streams != 3 {
			t.Errorf("from the bucket %+v, skipped %v; from texts %+v", got.Tally, got.Skips, want.Tally)
		}
		if _, err := intake.ListInputs(context.Background(), nil, []string{bucket + "&region=&x"}); err == nil {
			t.Error("an address that names no bucket was taken")
		}
	})
}
