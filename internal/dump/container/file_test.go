package container

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/identifier"
)

// view is how much of a file is mapped at once by the scanner.
const view = 4 << 20

// A file searched in place gives what the same bytes give when they are read, over the borders of views too.
func TestFileInPlace(t *testing.T) {
	var dump []byte
	for i := 0; len(dump) < 2*view+12345; i++ {
		dump = fmt.Appendf(
			dump,
			"%d;maria%d@exemplo.com;(11) 9%04d-%04d;529.982.247-25;4111 1111 1111 1111\n",
			i,
			i,
			i%10_000,
			9999-i%7919,
		)
	}
	path := filepath.Join(t.TempDir(), "dump")
	must(t, os.WriteFile(path, dump, 0o600))
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	count := func(source io.Reader) (counts [8]int, report Report) {
		sc := scan.NewScanner(func(kind identifier.Kind, _ []byte) { counts[kind]++ })
		report, err := WalkSource(context.Background(), "dump", source, Options{}, func(_ Entry, r io.Reader) error {
			_, err := sc.Scan(context.Background(), r)
			return err
		})
		must(t, err)
		return counts, report
	}
	want, _ := count(streamed{bytes.NewReader(dump)})
	got, report := count(f)
	if got != want || want[identifier.Email] == 0 {
		t.Errorf("in place %v, read %v", got, want)
	}
	if report.Bytes != int64(len(dump)) || report.Entries != 1 {
		t.Errorf("%+v", report)
	}
}

// manyFiles is a tar of n small files that is made while it is read.
func manyFiles(n int) io.Reader {
	r, w := io.Pipe()
	go func() {
		buffered := bufio.NewWriterSize(w, 64<<10)
		t := tar.NewWriter(buffered)
		for i := range n {
			if t.WriteHeader(&tar.Header{
				Name: fmt.Sprintf("logs/%d.txt", i), Size: int64(len(secret)),
				Mode: 0o600,
			}) != nil {
				return
			}
			if _, err := io.WriteString(t, secret); err != nil {
				return
			}
		}
		w.CloseWithError(errors.Join(t.Close(), buffered.Flush()))
	}()
	return r
}

// sized is how much of a trial runs: a part of it in the usual run, all of it in the long one.
func sized(usual, long int) int {
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		return long
	}
	return usual
}

// measureHeap runs work and returns by how much the heap grew at its largest, looked at often.
func measureHeap(t testing.TB, work func()) uint64 {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	defer runtime.GOMAXPROCS(
		runtime.GOMAXPROCS(min(4, runtime.GOMAXPROCS(0))),
	) // the collector's share grows with the processors
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	peak, stop, stopped := before.HeapAlloc, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapAlloc)
				time.Sleep(5 * time.Millisecond) // reading the figures stops the program
			}
		}
	}()
	work()
	close(stop)
	<-stopped
	return peak - before.HeapAlloc
}

// TestTarOfAMillionFiles: so many, a twentieth of them in the usual run, take bounded memory.
func TestTarOfAMillionFiles(t *testing.T) {
	n := sized(50_000, 1_000_000)
	count := 0
	s := scan.NewScanner(func(identifier.Kind, []byte) { count++ })
	grown := measureHeap(t, func() {
		report, err := WalkSource(
			context.Background(),
			"dump",
			manyFiles(n),
			Options{},
			func(_ Entry, r io.Reader) error {
				_, err := s.Scan(context.Background(), r)
				return err
			},
		)
		if err != nil || report.Entries != int64(n) || report.Skipped != 0 {
			t.Errorf("%v, %+v", err, report)
		}
	})
	if count != 2*n {
		t.Errorf("%d found", count)
	}
	if grown > 16<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}
