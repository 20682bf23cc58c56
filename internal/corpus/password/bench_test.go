package password

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// sortedText is lines of made-up hashes in order, as the public corpus has them.
func sortedText(lines int) []byte {
	var b bytes.Buffer
	step := uint64(1<<40) / uint64(lines)
	for i := range uint64(lines) {
		k := i*step + (i*0x9e3779b97f4a7c15)%step
		fmt.Fprintf(&b, "%010X%030X:%d\r\n", k, i*0x94d049bb133111eb, 1+i%97)
	}
	return b.Bytes()
}

func BenchmarkImportSorted(b *testing.B) {
	content := sortedText(2_000_000)
	l := newLibrary(b)
	in := Input{
		Name: "x.txt",
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	}
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		mustImport(b, l, SHA1, in)
	}
}

func BenchmarkCheck(b *testing.B) {
	l := newLibrary(b)
	if err := l.EnsureDefault(ctx); err != nil {
		b.Fatal(err)
	}
	c := newChecker(b, l)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.CheckPrefix("5BAA61E4C9", true); err != nil {
			b.Fatal(err)
		}
	}
}
