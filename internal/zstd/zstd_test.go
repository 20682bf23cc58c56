package zstd_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	reference "github.com/klauspost/compress/zstd"

	"github.com/vigiahq/vigia/internal/zstd"
)

const window = 64 << 20

func read(packed []byte) ([]byte, error) {
	return io.ReadAll(zstd.NewReader(bytes.NewReader(packed), window))
}

// texts are of every kind that a block can be: empty, one byte, repeated, noise, rows, and longer than many blocks.
func texts() map[string][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	var rows, digits, far bytes.Buffer
	for i := range sized(6_000, 15_000) {
		fmt.Fprintf(&rows, "%d;pessoa%d@exemplo.com.br;%x;%s\n", i, random.IntN(9_000), random.Uint64(), strings.Repeat("=", random.IntN(40)))
		fmt.Fprint(&digits, random.IntN(10))
	}
	for range 2 {
		far.Write(noise)
		far.Write(rows.Bytes()[:sized(350_000, 900_000)])
	}
	return map[string][]byte{
		"empty": nil, "one": {'a'}, "short": []byte("ana@exemplo.com.br"), "same": bytes.Repeat([]byte{'x'}, 1_000_000), "noise": noise,
		"rows": rows.Bytes(), "digits": digits.Bytes(), "far": far.Bytes(), "periods": bytes.Repeat([]byte("abcdefg"), 50_000),
	}
}

// sized is how much of a trial runs: a part of it in the usual run, all of it in the long one.
func sized(usual, long int) int {
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		return long
	}
	return usual
}

func pack(t testing.TB, text []byte, options ...reference.EOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := reference.NewWriter(&b, append(options, reference.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(struct{ io.Writer }{w}, iotest.HalfReader(bytes.NewReader(text))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestReadsWhatTheLibraryWrites: every kind of text, at every level, with and without checksum, in streams and in one
// piece.
func TestReadsWhatTheLibraryWrites(t *testing.T) {
	for name, text := range texts() {
		for level := reference.SpeedFastest; level <= reference.SpeedBestCompression; level++ {
			for _, sum := range []bool{true, false} {
				options := []reference.EOption{reference.WithEncoderLevel(level), reference.WithEncoderCRC(sum)}
				whole, err := reference.NewWriter(nil, append(options, reference.WithSingleSegment(sum))...)
				if err != nil {
					t.Fatal(err)
				}
				for i, packed := range [][]byte{
					pack(t, text, options...), pack(t, text, append(options, reference.WithWindowSize(1<<17))...), whole.EncodeAll(text, nil),
					pack(t, text, append(options, reference.WithEncoderPadding(1000))...),
				} {
					if got, err := read(packed); err != nil || !bytes.Equal(got, text) {
						t.Errorf("%s, level %v, checksum %v, form %d: %d of %d bytes, %v", name, level, sum, i, len(got), len(text), err)
					}
				}
			}
		}
	}
}

// TestFramesFollowEachOther: a file may be many, and some of what is in it is for others.
func TestFramesFollowEachOther(t *testing.T) {
	one, two := pack(t, []byte("um\n")), pack(t, texts()["rows"])
	skipped := []byte{0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'}
	packed := bytes.Join([][]byte{skipped, one, two, skipped, one}, nil)
	want := "um\n" + string(texts()["rows"]) + "um\n"
	got, err := io.ReadAll(zstd.NewReader(iotest.OneByteReader(bytes.NewReader(packed)), window))
	if err != nil || string(got) != want {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
	for n := range len(one) {
		if n == 0 {
			continue
		}
		if _, err := read(one[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
}

// TestDamage changes a byte, many times: what comes out is the text, or an error; with a checksum it is never another
// text. The library judges the same.
func TestDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	text := texts()["rows"][:60_000]
	d, err := reference.NewReader(nil, reference.WithDecoderConcurrency(1), reference.WithDecoderMaxWindow(window))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for level := reference.SpeedFastest; level <= reference.SpeedBestCompression; level++ {
		good := pack(t, text, reference.WithEncoderLevel(level))
		for range sized(200, 1000) {
			bad := bytes.Clone(good)
			bad[random.IntN(len(bad))] ^= 1 << random.IntN(8)
			got, err := read(bad)
			if err == nil && !bytes.Equal(got, text) {
				t.Fatal("another text was read")
			}
			if _, theirs := d.DecodeAll(bad, nil); (theirs == nil) != (err == nil) && !errors.Is(theirs, reference.ErrMagicMismatch) {
				t.Errorf("ours: %v, the library's: %v", err, theirs)
			}
		}
	}
}

// TestLimits: a window that is too large is refused before memory is taken for it, and so is a dictionary.
func TestLimits(t *testing.T) {
	packed := pack(t, texts()["rows"], reference.WithWindowSize(8<<20))
	if size, ok := zstd.Window(packed); !ok || size != 8<<20 {
		t.Error(size, ok)
	}
	if _, err := io.ReadAll(zstd.NewReader(bytes.NewReader(packed), 4<<20)); !errors.Is(err, zstd.ErrWindow) {
		t.Error(err)
	}
	for name, head := range map[string][]byte{
		"dictionary": {0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 0, 1, 0, 0}, "largest window": {0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 1, 0, 0}, "gzip": {0x1f, 0x8b, 8, 0, 0, 0},
		"reserved bit": {0x28, 0xb5, 0x2f, 0xfd, 8, 0, 1, 0, 0}, "reserved block": {0x28, 0xb5, 0x2f, 0xfd, 0, 0, 7, 0, 0},
	} {
		if _, err := read(head); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if _, ok := zstd.Window([]byte("text")); ok {
		t.Error("a text has a window")
	}
}

// FuzzRead: whatever the bytes are, this package and the library agree on the text where both read one.
func FuzzRead(f *testing.F) {
	for _, text := range texts() {
		f.Add(pack(f, text[:min(len(text), 5000)]))
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		const limit = 1 << 20
		got, err := io.ReadAll(io.LimitReader(zstd.NewReader(bytes.NewReader(packed), limit), limit))
		d, e := reference.NewReader(bytes.NewReader(packed), reference.WithDecoderConcurrency(1), reference.WithDecoderMaxWindow(limit), reference.WithDecoderLowmem(true))
		if e != nil {
			t.Fatal(e)
		}
		defer d.Close()
		want, e := io.ReadAll(io.LimitReader(d, limit))
		if err == nil && e == nil && !bytes.Equal(got, want) {
			t.Errorf("%d bytes, the library reads %d", len(got), len(want))
		}
	})
}

func BenchmarkRead(b *testing.B) {
	packed := pack(b, bytes.Repeat(texts()["rows"], 4))
	for name, open := range map[string]func(io.Reader) io.Reader{
		"ours": func(r io.Reader) io.Reader { return zstd.NewReader(r, window) },
		"library": func(r io.Reader) io.Reader {
			d, err := reference.NewReader(r, reference.WithDecoderConcurrency(1))
			if err != nil {
				b.Fatal(err)
			}
			return d.IOReadCloser()
		},
	} {
		b.Run(name, func(b *testing.B) {
			var n int64
			for b.Loop() {
				var err error
				if n, err = io.Copy(io.Discard, open(bytes.NewReader(packed))); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(n)
		})
	}
}
