package container

import (
	"bytes"
	"context"
	"io"
	"testing"
)

// Whatever the archive: no panic, and an end.
func FuzzWalk(f *testing.F) {
	text := []byte(secret)
	for _, seed := range [][]byte{
		gzipped(f, text), zstded(f, text), xzed(f, text), tarred(f, "a", secret), zipped(f, "a", secret), sevenZipped(f,
			"a", secret, false, 1),
		sevenZipped(f, "a", secret, true, 1), zipped(f, "a", string(gzipped(f, tarred(f, "b", secret)))),
	} {
		f.Add(seed)
	}
	limits := Limits{Bytes: 8 << 20, Entries: 1000}
	f.Fuzz(func(t *testing.T, dump []byte) {
		for _, source := range []io.Reader{bytes.NewReader(dump), streamed{bytes.NewReader(dump)}} {
			_, _ = WalkSource(
				context.Background(),
				"dump",
				source,
				Options{Limits: limits},
				func(_ Entry, r io.Reader) error {
					_, err := io.Copy(io.Discard, r)
					return err
				},
			)
		}
	})
}
