package stored_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// zipInOrder is an archive of members in an order.
func zipInOrder(t *testing.T, members ...[]byte) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i, content := range members {
		f, err := w.Create(fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// hostilePDF is a document whose font copies a text of so many characters to every code.
func hostilePDF(characters int) []byte {
	text := strings.Repeat("0041", characters)
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = fmt.Fprintf(
		w,
		"1 begincodespacerange <0000> <FFFF> endcodespacerange 2 beginbfrange <0000> <FFFF> <%s> <0000> <FFFF> "+
			"<%s> endbfrange",
		text,
		text,
	)
	_ = w.Close()
	shown := "BT /F1 9 Tf <" + strings.Repeat("0041", 4000) + "> Tj ET"
	return fmt.Appendf(nil, `%%PDF-1.5
1 0 obj << /Type /Font /Subtype /Type0 /ToUnicode 2 0 R >> endobj
4 0 obj << /Type /Page /Contents 3 0 R /Font << /F1 1 0 R >> >> endobj
2 0 obj << /Length %d /Filter /FlateDecode >> stream
%s
endstream endobj
3 0 obj << /Length %d >> stream
%s
endstream endobj
trailer << /Root 1 0 R >>
%%%%EOF`, packed.Len(), packed.Bytes(), len(shown), shown)
}

// TestImportGoesOnBehindHostileMembers: what ends its reader is not read and told of, all else is, and counted once; a
// file that ends two readers is quarantined.
func TestImportGoesOnBehindHostileMembers(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	bomb := hostilePDF(9000)
	text := func(n int) []byte { return fmt.Appendf(nil, "pessoa%d@exemplo.com.br\n", n) }
	out := v.Import(
		dumptest.MakeBreach("hostil", cyber.SourceBreach, cyber.ExposedEmail),
		v.File(
			"a.txt",
			string(text(1)),
		),
		v.File("b.pdf", string(bomb)),
		v.File("c.zip", zipInOrder(t, text(2), bomb, text(3))),
		v.File("d.zip", zipInOrder(t, text(4), bomb, text(5), bomb, text(6))),
		v.File("e.txt", string(text(7))),
	)
	keys := v.keysOf(out.Record)
	for n := 1; n <= 7; n++ {
		if n == 6 {
			continue // lies behind what was quarantined
		}
		if _, ok := slices.BinarySearch(
			keys,
			v.Keys.Fingerprint(byte(identifier.Email), bytes.TrimSpace(text(n))),
		); !ok {
			t.Errorf("pessoa%d is missing", n)
		}
	}
	var told []string
	for _, s := range out.Skips {
		told = append(told, s.Name[strings.LastIndexByte(s.Name, '/')+1:]+": "+s.Reason)
	}
	want := "b.pdf: reader ended (memory), c.zip!1: reader ended (memory), d.zip: quarantined: its reader ended " +
		"twice (memory)"
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("told %s\nwant %s", got, want)
	}
	tally := out.Tally
	tally.Read, tally.Partly, tally.Unread, tally.Problems = 2, 2, 1, 3
	difftest.Check(t, "the tally", out.Tally, tally)
	difftest.Check(t, "addresses", out.Tally.Found["email"], 6)
}

// TestSkipsBeforeAHostileInputAreToldOnce: an input that is damaged stands before one that ends its reader, so that the
// next reader reads it again.
func TestSkipsBeforeAHostileInputAreToldOnce(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	whole := zipInOrder(t, []byte("ana@exemplo.com.br\n"), bytes.Repeat([]byte("nada\n"), 1000))
	out := v.Import(
		dumptest.MakeBreach("hostil", cyber.SourceBreach, cyber.ExposedEmail),
		v.File("a.zip", whole[:len(whole)/2]),
		v.File("b.pdf", string(hostilePDF(9000))),
		v.File("c.txt", "bia@exemplo.com.br\n"),
	)
	told := map[string]int{}
	for _, s := range out.Skips {
		told[s.Name[strings.LastIndexByte(s.Name, '/')+1:]+": "+s.Reason]++
	}
	if len(told) != len(out.Skips) || told["b.pdf: reader ended (memory)"] != 1 || len(told) < 2 {
		t.Errorf("told %v", told)
	}
	if y := out.Tally; y.Problems != int64(len(told)) || y.Read != 1 || y.Read+y.Partly+y.Unread != 3 {
		t.Errorf("%d reasons told, counted %+v", len(told), y)
	}
}

// TestCancelEndsHostileImport: an import whose reader is at a file without end stops at once.
func TestCancelEndsHostileImport(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	inputs, err := intake.ListInputs(context.Background(), nil, []string{v.File("a.pdf", string(hostilePDF(400_000)))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, cancel)
	_, err = v.Importer.ImportBreach(ctx,
		intake.Spec{Breach: dumptest.MakeBreach("hostil", cyber.SourceBreach), Inputs: inputs})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
