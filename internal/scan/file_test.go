package scan

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vigia/internal/identifier"
	"vigia/internal/scan/scantest"
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
		if !errors.Is(err, errChanged) {
			t.Errorf("scan: %v", err)
		}
		return nil
	})
	if err != nil || report.Bytes >= viewSize {
		t.Errorf("%v, %+v", err, report)
	}
}
