package container

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// texts are what a walk hands out.
func texts(t testing.TB, source io.Reader, options Options) (string, Report) {
	t.Helper()
	var all strings.Builder
	report, err := WalkSource(context.Background(), "dump", source, options, func(_ Entry, r io.Reader) error {
		_, err := io.Copy(&all, r)
		return err
	})
	must(t, err)
	return all.String(), report
}

// TestSQLite: every row of every table comes out, a line each, with its columns' names before, whatever the size of
// pages, the encoding, the length of rows and the kind of table. SQLite 3.40 made the files.
func TestSQLite(t *testing.T) {
	for _, name := range []string{"page512", "page4096", "page65536", "utf16le", "utf16be", "vacuum"} {
		t.Run(name, func(t *testing.T) {
			var want []string
			for i := range 120 {
				long := strings.Repeat("ação ", i%7*(i/4))
				want = append(
					want,
					fmt.Sprintf("%d\t%s\tpessoa%d@exemplo.com.br\t%d\t%d.5\t\n", i+1, long, i, i*i*12345678, i),
					fmt.Sprintf("chave%d\tvalor%d@exemplo.com.br\n", i, i),
				)
			}
			got, report := texts(t, bytes.NewReader(read(t, "db/"+name+".sqlite.gz")), Options{})
			if report.Skipped != 0 || !strings.Contains(got, "id\tnome\te-mail\tnumero\tsaldo\tnada\n") ||
				!strings.Contains(got, "chave\tvalor\n") {
				t.Errorf("%+v, %.200s", report, got)
			}
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Fatalf("missing: %q", w)
				}
			}
			if n := strings.Count(got, "\n"); n != len(want)+4 {
				t.Errorf("%d lines, %d rows", n, len(want))
			}
		})
	}
}

// read reads a file of testdata, unpacked.
func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + path)
	must(t, err)
	if !strings.HasSuffix(path, ".gz") {
		return b
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	must(t, err)
	b, err = io.ReadAll(r)
	must(t, err)
	return b
}

// TestSQLiteLog: what was written last stands in the log beside the database.
func TestSQLiteLog(t *testing.T) {
	if got, report := texts(
		t,
		bytes.NewReader(read(t, "db/log.sqlite-wal")),
		Options{},
	); report.Skipped != 0 ||
		!strings.Contains(got, "maria@exemplo.com\t52998224725\n") {
		t.Errorf("%q, %+v", got, report)
	}
}

// TestSQLiteCut: what a cut or damaged database still has is read, and that something is missing is said. No bytes
// bring about a panic or endless reading.
func TestSQLiteCut(t *testing.T) {
	file := read(t, "db/page512.sqlite.gz")
	got, report := texts(t, bytes.NewReader(file[:len(file)/2]), Options{})
	if n := strings.Count(got, "@"); n < 80 || report.Verdict() != Partly {
		t.Errorf("%d of 240, %+v", n, report)
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range sized(100, 300) {
		bad := bytes.Clone(file)
		for range 1 + random.IntN(20) {
			bad[random.IntN(len(bad))] = byte(random.Uint32())
		}
		_, report := texts(t, bytes.NewReader(bad), Options{})
		for _, s := range report.Skips {
			if strings.Contains(s.Reason, "runtime error") {
				t.Fatal(s.Reason)
			}
		}
	}
}

func FuzzSQLite(f *testing.F) {
	for _, name := range []string{"numbers.sqlite", "wide.sqlite", "norows.sqlite", "log.sqlite-wal"} {
		f.Add(read(f, "db/"+name))
	}
	fuzzDocument(f)
}

// fuzzDocument: no panic in our own readers, and an end.
func fuzzDocument(f *testing.F) {
	f.Fuzz(func(t *testing.T, file []byte) {
		slow := time.AfterFunc(2*time.Minute, func() { // where it goes round in circles; a busy machine is slow too
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
			panic("no end")
		})
		defer slow.Stop()
		report, err := WalkSource(
			context.Background(),
			"dump",
			bytes.NewReader(file),
			Options{Limits: Limits{Bytes: 1 << 23}},
			func(_ Entry, r io.Reader) error {
				_, err := io.Copy(io.Discard, r)
				return err
			},
		)
		for _, s := range report.Skips {
			if strings.Contains(s.Reason, "runtime error") {
				t.Errorf("%s, %v", s.Reason, err)
			}
		}
	})
}
