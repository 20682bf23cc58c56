package reader_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/dump/reader"
)

// TestHostileFilesEnd: every hostile file comes to an end, by itself or by the limits, and is told of: a reader that
// ended says why, and one that did not end reads the next input.
func TestHostileFilesEnd(t *testing.T) {
	defer reader.SetIdleCPU(500 * time.Millisecond)() // what takes longer has no progress anyway
	files, formats := makeHostileFiles(), map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		format, _, _ := strings.Cut(name, "-")
		formats[format] = true
		begin := time.Now()
		what := readHostile(t, files[name])
		t.Logf("%-20s %9d bytes %6d ms  %s", name, len(files[name]), time.Since(begin).Milliseconds(), what)
	}
	if len(files) < 58 || len(formats) < 15 {
		t.Errorf("%d files of %d formats", len(files), len(formats))
	}
}

func readHostile(t *testing.T, content []byte) string {
	t.Helper()
	p, err := reader.StartProcess(context.Background(), reader.Job{Workers: 1, Span: 1 << 20, Piece: 1 << 18}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	found := 0
	take := func(batch []byte) {
		if err := reader.DecodeBatch(batch, func(s *reader.Sighting) {
			if string(s.Normal) == "ana@exemplo.com.br" {
				found++
			}
		}); err != nil {
			t.Error(err)
		}
		reader.ReuseBatch(batch)
	}
	for _, in := range []struct {
		reader.Input
		content []byte
	}{
		{reader.Input{Name: "hostile", Size: int64(len(content))}, nil},
		{
			reader.Input{Name: "next", Inline: true, Size: 19, From: reader.Cursor{Input: 1}},
			[]byte("ana@exemplo.com.br\n"),
		},
	} {
		if err := p.Read(in.Input, in.content, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		for report := (*reader.Report)(nil); report == nil; {
			fact, err := p.Next()
			var ended *reader.Ended
			if errors.As(err, &ended) && in.Name == "hostile" {
				return ended.Error()
			}
			if err != nil {
				t.Fatal(in.Name, err)
			}
			take(fact.Batch)
			report = fact.Ended
			if report != nil && in.Name == "hostile" {
				defer func(what string) { t.Log(what) }(report.Verdict().String() + ": " + firstReason(report))
			}
			if report != nil && report.Failed != "" {
				t.Errorf("failed: %s", report.Failed)
			}
		}
	}
	if err := p.FinishInputs(); err != nil {
		t.Fatal(err)
	}
	for {
		fact, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		take(fact.Batch)
	}
	if found != 1 {
		t.Error("the next input is not read")
	}
	return "went on"
}

func firstReason(r *reader.Report) string {
	if len(r.Skips) == 0 {
		return ""
	}
	return r.Skips[0].Reason
}
