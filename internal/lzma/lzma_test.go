package lzma

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ulikunitz/xz"
	reference "github.com/ulikunitz/xz/lzma"
)

func noLimit(int64) error { return nil }

// texts are of the kinds that packers treat apart.
// The writer that they are packed with is slow: a quarter of each is enough in the usual run, which is still more than a
// window, a chunk and a block.
func texts() map[string][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	part := 4
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		part = 1
	}
	noise := make([]byte, 400_000/part)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	var lines bytes.Buffer
	for lines.Len() < 1<<20/part {
		fmt.Fprintf(&lines, "pessoa%d@exemplo.com.br;%d\n", random.IntN(100_000), random.Uint32())
	}
	return map[string][]byte{
		"nothing": {}, "a byte": {'x'}, "blanks": make([]byte, 1<<20/part), "noise": noise, "lines": lines.Bytes(),
		"lines and noise": append(append(bytes.Clone(lines.Bytes()[:200_000/part]), noise...), lines.Bytes()...),
	}
}

func packed(t testing.TB, open func(io.Writer) (io.WriteCloser, error), text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func same(t *testing.T, r io.Reader, want []byte) {
	t.Helper()
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
}

// TestReadsWhatAnotherWrote: texts packed by the usual Go library come out whole.
func TestReadsWhatAnotherWrote(t *testing.T) {
	for name, text := range texts() {
		t.Run(name, func(t *testing.T) {
			for _, dict := range []int{1 << 16, 1 << 20} {
				alone := packed(t, func(w io.Writer) (io.WriteCloser, error) { return reference.WriterConfig{DictCap: dict}.NewWriter(w) }, text)
				r, err := NewAlone(bytes.NewReader(alone), noLimit)
				if err != nil {
					t.Fatal(err)
				}
				same(t, r, text)
				sized := packed(t, func(w io.Writer) (io.WriteCloser, error) {
					return reference.WriterConfig{DictCap: dict, Size: int64(len(text)), SizeInHeader: true}.NewWriter(w)
				}, text)
				if r, err = NewRaw(bytes.NewReader(sized[13:]), sized[:5], int64(len(text)), noLimit); err != nil {
					t.Fatal(err)
				}
				same(t, r, text)
				x := packed(t, func(w io.Writer) (io.WriteCloser, error) {
					return xz.WriterConfig{DictCap: dict, BlockSize: 70_000}.NewWriter(w)
				}, text)
				same(t, NewXZ(bytes.NewReader(x), noLimit), text)
				same(t, NewXZ(bytes.NewReader(append(append(bytes.Clone(x), 0, 0, 0, 0), x...)), noLimit), append(bytes.Clone(text), text...))
			}
		})
	}
}

// TestReadsFilesOfPrograms: files that xz 5.4 and lzip wrote.
func TestReadsFilesOfPrograms(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.xz")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	want, err := os.ReadFile("testdata/text")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			same(t, NewXZ(f, noLimit), want)
		})
	}
}

// lzipped writes a member as lzip does.
func lzipped(t testing.TB, text []byte) []byte {
	t.Helper()
	alone := packed(t, func(w io.Writer) (io.WriteCloser, error) {
		return reference.WriterConfig{DictCap: 1 << 16, EOSMarker: true}.NewWriter(w)
	}, text)
	size := uint64(6 + len(alone) - 13 + 20)
	file := append([]byte("LZIP\x01\x10"), alone[13:]...)
	file = binary.LittleEndian.AppendUint32(file, crc32.ChecksumIEEE(text))
	file = binary.LittleEndian.AppendUint64(file, uint64(len(text)))
	return binary.LittleEndian.AppendUint64(file, size)
}

func TestLzip(t *testing.T) {
	for name, text := range texts() {
		t.Run(name, func(t *testing.T) {
			one := lzipped(t, text)
			same(t, NewLzip(bytes.NewReader(one), noLimit), text)
			same(t, NewLzip(bytes.NewReader(append(bytes.Clone(one), one...)), noLimit), append(bytes.Clone(text), text...))
			one[len(one)-20] ^= 1
			if _, err := io.ReadAll(NewLzip(bytes.NewReader(one), noLimit)); err == nil {
				t.Error("a wrong check sum was taken")
			}
		})
	}
}

// TestWhatIsThereComesOut: of a stream that was cut, all that was packed before the cut is read, and the cut is told.
func TestWhatIsThereComesOut(t *testing.T) {
	long := texts()["lines"]
	for _, text := range [][]byte{long, long[:20_000]} { // of the second no chunk is whole
		x := packed(t, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }, text)
		got, err := io.ReadAll(NewXZ(bytes.NewReader(x[:len(x)/2]), noLimit))
		if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.HasPrefix(text, got) || len(got) < len(text)/3 {
			t.Errorf("%d of %d bytes, %v", len(got), len(text), err)
		}
	}
}

// TestClaimsCostNothing: a window is asked for as it is needed, however large it is said to be, and over the blocks of
// one file only once.
func TestClaimsCostNothing(t *testing.T) {
	text := []byte("maria@exemplo.com\n")
	x := packed(t, func(w io.Writer) (io.WriteCloser, error) { return xz.WriterConfig{DictCap: 1 << 28}.NewWriter(w) }, text)
	many := bytes.Repeat(x, 500)
	var asked int64
	got, err := io.ReadAll(NewXZ(bytes.NewReader(many), func(n int64) error { asked += n; return nil }))
	if err != nil || len(got) != 500*len(text) || asked > firstWindow {
		t.Errorf("%d bytes, %v; asked for %d bytes of memory", len(got), err, asked)
	}
	full := errors.New("no more")
	large := packed(t, func(w io.Writer) (io.WriteCloser, error) { return xz.WriterConfig{DictCap: 1 << 24}.NewWriter(w) }, texts()["lines"])
	left := int64(300_000)
	got, err = io.ReadAll(NewXZ(bytes.NewReader(large), func(n int64) error {
		if left -= n; left < 0 {
			return full
		}
		return nil
	}))
	if !errors.Is(err, full) || len(got) == 0 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestDamage: bytes that were changed give no panic, no endless reading, and no text that passes for whole.
func TestDamage(t *testing.T) {
	text := texts()["lines"][:20_000]
	good := packed(t, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }, text)
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		bad := bytes.Clone(good)
		bad[random.IntN(len(bad)-28)] ^= 1 << random.IntN(8)
		got, err := io.ReadAll(io.LimitReader(NewXZ(bytes.NewReader(bad), noLimit), 1<<20))
		if err == nil && !bytes.Equal(got, text) {
			t.Fatalf("%d bytes, no error", len(got))
		}
	}
}

func FuzzXZ(f *testing.F) {
	f.Add(packed(f, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }, []byte("maria@exemplo.com")))
	f.Fuzz(func(t *testing.T, file []byte) {
		var asked int64
		n, _ := io.Copy(io.Discard, io.LimitReader(NewXZ(bytes.NewReader(file), func(n int64) error { asked += n; return nil }), 1<<22))
		if asked > 2*n+firstWindow {
			t.Errorf("%d bytes of memory for %d of text", asked, n)
		}
	})
}

func FuzzRaw(f *testing.F) {
	alone := packed(f, func(w io.Writer) (io.WriteCloser, error) { return reference.NewWriter(w) }, []byte("maria@exemplo.com"))
	f.Add(alone)
	f.Add(lzipped(f, []byte("maria@exemplo.com")))
	f.Fuzz(func(t *testing.T, file []byte) {
		if r, err := NewAlone(bytes.NewReader(file), noLimit); err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(r, 1<<22))
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(NewLzip(bytes.NewReader(file), noLimit), 1<<22))
	})
}

func BenchmarkXZ(b *testing.B) {
	text := texts()["lines"]
	file := packed(b, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }, text)
	for name, open := range map[string]func() (io.Reader, error){
		"own":     func() (io.Reader, error) { return NewXZ(bytes.NewReader(file), noLimit), nil },
		"library": func() (io.Reader, error) { return xz.NewReader(bytes.NewReader(file)) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r, err := open()
				if err == nil {
					_, err = io.Copy(io.Discard, r)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
