package ppmd

import (
	"archive/zip"
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"testing"
)

func anyMemory(int64) error { return nil }

// packed is what 7-Zip 26.02 made of a text that fills a model of 1 MiB some times over, with its check sum.
func packed(t testing.TB, name string) (file *zip.File, raw []byte) {
	t.Helper()
	z, err := zip.OpenReader("testdata/" + name + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = z.Close() }) // was only read
	r, err := z.File[0].OpenRaw()
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return z.File[0], raw
}

// TestFullModels reads on when the model is full: made anew, or cut; with the size told, and to the mark of the end.
func TestFullModels(t *testing.T) {
	for _, name := range []string{"restart", "cutoff"} {
		file, raw := packed(t, name)
		for _, size := range []int64{int64(file.UncompressedSize64), Unknown} {
			r, err := NewZip(bytes.NewReader(raw), size, anyMemory)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil || crc32.ChecksumIEEE(text) != file.CRC32 {
				t.Errorf("%s, size %d: %d bytes of %d, %v", name, size, len(text), file.UncompressedSize64, err)
			}
		}
	}
}

// TestCutStream: what is there comes, then that more should have been; heads that are none, or ask for more memory than
// there is, are refused before any is taken.
func TestCutStream(t *testing.T) {
	file, raw := packed(t, "restart")
	for _, n := range []int{0, 1, 5, 6, 1000, len(raw) - 8} {
		r, err := NewZip(bytes.NewReader(raw[:n]), int64(file.UncompressedSize64), anyMemory)
		var text []byte
		if err == nil {
			text, err = io.ReadAll(r)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) || n >= 1000 && len(text) < n {
			t.Errorf("%d bytes of %d: %d read, %v", n, len(raw), len(text), err)
		}
	}
	for head, want := range map[string]error{"\x00\x00": ErrCorrupt, "\x07\x30": ErrCorrupt, "\x07\x20": errMethod} {
		if _, err := NewZip(bytes.NewReader(append([]byte(head), raw[2:]...)), Unknown, anyMemory); !errors.Is(err, want) {
			t.Errorf("%x: %v", head, err)
		}
	}
	full := errors.New("full")
	asked := int64(0)
	if _, err := NewZip(bytes.NewReader([]byte("\xf7\x0fabcd")), Unknown, func(n int64) error { asked = n; return full }); !errors.Is(err, full) || asked < 256<<20 {
		t.Errorf("%v after %d bytes were asked for", err, asked)
	}
}

// FuzzZip looks for panics that are none of a damaged stream, and for an end.
func FuzzZip(f *testing.F) {
	for _, name := range []string{"restart", "cutoff"} {
		_, raw := packed(f, name)
		f.Add(raw)
		f.Add(raw[:100])
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := NewZip(bytes.NewReader(raw), Unknown, func(n int64) error {
			if n > 2<<20 {
				return errors.ErrUnsupported
			}
			return nil
		})
		if err != nil {
			return
		}
		r.(*decoder).faults = func(p any) { t.Errorf("the model is broken: %v", p) }
		_, _ = io.Copy(io.Discard, io.LimitReader(r, 1<<20))
	})
}
