package scan

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/scan/scantest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The pieces of a file are those of the same bytes read as a stream: all of them, from their middle, and where the file
// cannot be mapped.
func TestFilePieces(t *testing.T) {
	dump := scantest.NewDense(17, func(identifier.Kind, []byte, bool) {}).Append(nil, 256<<10)
	path := filepath.Join(t.TempDir(), "dump")
	must(t, os.WriteFile(path, dump, 0o600))
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	collect := func(into *[]string) Found {
		return func(kind identifier.Kind, normal []byte) { *into = append(*into, kind.String()+" "+string(normal)) }
	}
	defer func() { mapView = mapFile }()
	for _, way := range []string{"mapped", "read"} {
		if way == "read" {
			mapView = func(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }
		}
		for _, size := range []int64{20_000, 65_536, 1 << 20} {
			for _, total := range []int64{1, Overlap - 1, Overlap, size - 1, size, size + Overlap - 1, size + Overlap, size + Overlap + 1, 3*size + 77, int64(len(dump))} {
				if total > int64(len(dump)) {
					continue
				}
				for first := int64(0); first == 0 || first*size+Overlap <= total && first < 4; first++ {
					var want, got, second []string
					ctx := context.Background()
					stream := NewPieces(bytes.NewReader(dump[first*size:total]), size, Place{First: first})
					var took atomic.Int64
					pieces := FilePieces(f, total, size, Place{First: first}, func(n int64) { took.Add(n) })
					for more := true; more; {
						more, err = stream.Scan(ctx, 2, []*Recorder{recorder(collect(&want))})
						must(t, err)
						again, err := pieces.Scan(ctx, 2, []*Recorder{recorder(collect(&got)), recorder(collect(&second))})
						must(t, err)
						if again != more {
							t.Fatalf("%s, %d bytes in pieces of %d from %d: more is %v, of the stream %v", way, total, size, first, again, more)
						}
					}
					got = append(got, second...)
					slices.Sort(got)
					slices.Sort(want)
					if !slices.Equal(got, want) {
						t.Fatalf("%s, %d bytes in pieces of %d from %d: %d identifiers, of the stream %d", way, total, size, first, len(got), len(want))
					}
					if took.Load() != total-first*size {
						t.Fatalf("%s, %d bytes in pieces of %d from %d: %d were counted", way, total, size, first, took.Load())
					}
				}
			}
		}
	}
}

// Both ways to read the pieces of a file notice that it became shorter.
func TestFilePiecesOfAFileThatShrank(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dump")
	must(t, os.WriteFile(path, []byte(strings.Repeat("x", 10_000)), 0o600))
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	defer func() { mapView = mapFile }()
	for range 2 {
		_, err := FilePieces(f, 1<<20, 4096, Place{}, func(int64) {}).Scan(context.Background(), 1000, []*Recorder{recorder(func(identifier.Kind, []byte) {})})
		if !errors.Is(err, ErrChanged) {
			t.Errorf("%v", err)
		}
		mapView = func(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }
	}
}
