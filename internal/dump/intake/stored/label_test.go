package stored_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// labelsOf reads what a breach tells of each fingerprint.
func (v *env) labelsOf(r leak.Record) map[uint64]leak.Label {
	v.T.Helper()
	reader, err := v.Files.Open(context.Background(), r.Segment, r.Digest)
	if err != nil {
		v.T.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	if err := reader.OpenLabels(v.Keys.OpenTable); err != nil {
		v.T.Fatal(err)
	}
	labels := map[uint64]leak.Label{}
	for key, err := range reader.KeysInRange(0, math.MaxUint64) {
		if err != nil {
			v.T.Fatal(err)
		}
		id, _, err := reader.LookUp(key)
		if err != nil {
			v.T.Fatal(err)
		}
		text, err := reader.LabelBytes(id)
		if err != nil {
			v.T.Fatal(err)
		}
		if labels[key], err = leak.ParseLabel(text); err != nil {
			v.T.Fatal(err)
		}
	}
	return labels
}

// TestImportTellsOfEachPerson: what stood in somebody's records, over all files, is what their fingerprint is labelled
// with, and nothing else; where no record can be told the label says so.
func TestImportTellsOfEachPerson(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	table := v.File("a.csv", "email,senha,cpf\nana@exemplo.com,,\nbia@exemplo.com,segredo1,\ncaio@exemplo.com,,\n")
	more := v.File("b.csv", "nome;e-mail\nBia Lima;bia@exemplo.com\n")
	prose := v.File("c.txt", "Escreva para davi@exemplo.com ou caio@exemplo.com.\n")
	log := v.File(
		"2024-03-12 log.txt",
		"URL: https://www.banco.test/login\nUSER: eva@exemplo.com\nPASS: x1\n\nURL: https://loja.test/\nUSER: "+
			"eva@exemplo.com\nPASS: x2\n\n",
	)
	labels := v.labelsOf(
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail), table, more, prose, log).Record,
	)
	for address, want := range map[string]string{
		"ana@exemplo.com":  "[email] ",
		"bia@exemplo.com":  "[email password name] ",
		"caio@exemplo.com": "[email] ",
		"davi@exemplo.com": "[] ",
		"eva@exemplo.com":  "[email password] banco.test loja.test",
	} {
		label, ok := labels[v.Keys.Fingerprint(byte(identifier.Email), []byte(address))]
		if got := fmt.Sprint(
			label.TraceOfLabel().Classes.List(),
			" ",
			strings.Join(label.Sites, " "),
		); !ok ||
			got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
		if label.IsOfRecord() == (address == "davi@exemplo.com") {
			t.Errorf("%s: told is %v", address, label.IsOfRecord())
		}
	}
	if eva := labels[v.Keys.Fingerprint(byte(identifier.Email),
		[]byte("eva@exemplo.com"))]; eva.Day != 19794 { // 2024-03-12
		t.Errorf("day %d", eva.Day)
	}
}

// TestLabelsDoNotDependOnTheWay: parts, spans, workers and archives give every fingerprint the same label.
func TestLabelsDoNotDependOnTheWay(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	files := v.madeUpFiles(2000)
	want := v.labelsOf(v.Import(dumptest.MakeBreach("inteiro", cyber.SourceBreach, cyber.ExposedEmail),
		files...).Record)
	v.Importer.PartBytes, v.Importer.Workers = 200_000, 3
	v.Importer.SpanBytes = 70_000
	got := v.labelsOf(v.Import(dumptest.MakeBreach("partes", cyber.SourceBreach, cyber.ExposedEmail), files...).Record)
	if len(got) != len(want) {
		t.Errorf("%d fingerprints, %d in one part", len(got), len(want))
	}
	for key, label := range want {
		if other := got[key]; other.Classes != label.Classes || other.Day != label.Day ||
			!slices.Equal(other.Sites, label.Sites) {
			t.Fatalf("%v, in one part %v", other, label)
		}
	}
}
