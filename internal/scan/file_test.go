package scan

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/scan/scantest"
)

// A file searched in place gives what the same bytes give when they are read, over the borders of views too.
func TestFileInPlace(t *testing.T) {
	dump := scantest.NewDense(13, func(identifier.Kind, []byte, bool) {}).Append(nil, 2*viewSize+12345)
	path := filepath.Join(t.TempDir(), "dump")
	must(t, os.WriteFile(path, dump, 0o600))
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	count := func(source io.Reader) (counts [8]int, report Report) {
		sc := NewScanner(func(kind identifier.Kind, _ []byte) { counts[kind]++ })
		report, err := Walk(context.Background(), "dump", source, Limits{}, func(_ Entry, r io.Reader) error {
			_, err := sc.Scan(context.Background(), r)
			return err
		})
		must(t, err)
		return counts, report
	}
	want, _ := count(stream{bytes.NewReader(dump)})
	got, report := count(f)
	if got != want || want[identifier.Email] == 0 {
		t.Errorf("in place %v, read %v", got, want)
	}
	if report.Bytes != int64(len(dump)) || report.Entries != 1 {
		t.Errorf("%+v", report)
	}
}

// A file cut short while it is searched ends the scan with an error, not the process.
func TestFileThatShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dump")
	must(t, os.WriteFile(path, []byte(strings.Repeat(secret, viewSize/len(secret)*2)), 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	sc := NewScanner(func(identifier.Kind, []byte) { must(t, f.Truncate(0)) })
	report, err := Walk(context.Background(), "dump", f, Limits{}, func(_ Entry, r io.Reader) error {
		_, err := sc.Scan(context.Background(), r)
		if !errors.Is(err, ErrChanged) {
			t.Errorf("scan: %v", err)
		}
		return nil
	})
	if err != nil || report.Bytes >= viewSize {
		t.Errorf("%v, %+v", err, report)
	}
}

// The pieces of a file are those of the same bytes read as a stream: all of them, from their middle, and where the file
// cannot be mapped.
func TestFilePieces(t *testing.T) {
	dump := scantest.NewDense(17, func(identifier.Kind, []byte, bool) {}).Append(nil, 64<<10)
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
		for _, size := range []int64{1000, 4096, 1 << 20} {
			for _, total := range []int64{1, Overlap - 1, Overlap, size - 1, size, size + Overlap - 1, size + Overlap, size + Overlap + 1, 3*size + 77, int64(len(dump))} {
				if total > int64(len(dump)) {
					continue
				}
				for first := int64(0); first == 0 || first*size+Overlap <= total && first < 4; first++ {
					var want, got, second []string
					ctx := context.Background()
					stream := NewPieces(bytes.NewReader(dump[first*size:total]), size, first > 0)
					var took atomic.Int64
					pieces := FilePieces(f, total, size, first, func(n int64) { took.Add(n) })
					for more := true; more; {
						more, err = stream.Scan(ctx, 2, []Found{collect(&want)})
						must(t, err)
						again, err := pieces.Scan(ctx, 2, []Found{collect(&got), collect(&second)})
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
		_, err := FilePieces(f, 1<<20, 4096, 0, func(int64) {}).Scan(context.Background(), 1000, []Found{func(identifier.Kind, []byte) {}})
		if !errors.Is(err, ErrChanged) {
			t.Errorf("%v", err)
		}
		mapView = func(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }
	}
}
