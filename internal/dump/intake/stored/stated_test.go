package stored_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

const nimbo = "vigia_mapping: 1\nformat: csv\nfields:\n  contato: email\n  chave: password\n"

// TestImportOfRecords: what records say of themselves is what is told, in a file as it is and in an archive; what is no
// record is counted and named, and the rest stands. Nothing is searched for.
func TestImportOfRecords(t *testing.T) {
	t.Parallel()
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	text := `{"vigia_records": 1}
{"email": "ana@exemplo.com", "password": "s1", "other": "escreva a mae@exemplo.com", "site": "loja.test", "infected": "2026-03-01"}
{"email": "bia@exemplo.com", "name": true}
{"email": "ninguem"}
{"email": "ninguem tambem"}
`
	var large strings.Builder
	large.WriteString("{\"vigia_records\": 1}\n")
	for i := range 8000 { // more than is handed to a worker as a whole
		_, _ = fmt.Fprintf(
			&large,
			"{\"email\": \"p%d@exemplo.com\", \"password\": \"senha%d\", \"health\": true}\n",
			i,
			i,
		)
	}
	out := v.Import(
		dumptest.MakeBreach("loja", cyber.SourceBreach),
		v.File("a.jsonl", text),
		v.File("b.jsonl.gz", string(dumptest.GzipText(t, []byte(large.String())))),
	)
	labels := v.labelsOf(out.Record)
	for address, want := range map[string]string{
		"ana@exemplo.com": "[email password other] [loja.test] 20513 true", "bia@exemplo.com": "[email name] [] 0 true",
		"p7999@exemplo.com": "[email password health] [] 0 true", "mae@exemplo.com": "[] [] 0 false",
	} {
		l, ok := labels[v.Keys.Fingerprint(byte(identifier.Email), []byte(address))]
		if got := fmt.Sprint(l.TraceOfLabel().Classes.List(), l.Sites, l.Day, ok); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	tally := out.Tally
	tally.Pairs, tally.Read, tally.Partly = 8001, 1, 1
	difftest.Check(t, "the tally", out.Tally, tally)
	difftest.Check(t, "addresses", out.Tally.Found["email"], 8002)
	difftest.Check(t, "records without one", out.Tally.Reasons["records: email: not one e-mail address"], 2)
	if len(out.Skips) != 2 || !strings.HasSuffix(out.Skips[0].Name, "a.jsonl:4") {
		t.Errorf("%+v", out.Skips)
	}
}

// TestImportByMapping: a vendor's table by its mapping, also by the workers of all replicas; with another mapping it is
// another import, and a file that the mapping does not fit is not read.
func TestImportByMapping(t *testing.T) {
	t.Parallel()
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	m, err := stated.ParseMapping([]byte(nimbo))
	if err != nil {
		t.Fatal(err)
	}
	// A guess would take the first column for the address and "nome" for a name.
	file := v.File(
		"nimbo.csv",
		"de,nome,contato,chave\nx@outro.com,Ana,ana@exemplo.com,s1\ny@outro.com,Bia,bia@exemplo.com,\n",
	)
	wrong := v.File("outro.csv", "de,para\nx@outro.com,y@outro.com\n")
	inputs, err := intake.ListInputs(context.Background(), nil, []string{file, wrong})
	if err != nil {
		t.Fatal(err)
	}
	spec := intake.Spec{Breach: dumptest.MakeBreach("nimbo", cyber.SourceBreach), Inputs: inputs, Mapping: m}
	out, err := v.Importer.ImportBreach(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(out.Exposes) != "[email password]" || out.Tally.Found["email"] != 2 || out.Tally.Pairs != 1 ||
		out.Tally.Partly+out.Tally.Unread != 1 {
		t.Errorf("%v, %+v", out.Exposes, out.Tally)
	}
	if out.Tally.Reasons["records: line 1: contato: the table has no such column"] != 1 {
		t.Errorf("%v", out.Tally.Reasons)
	}

	stopped, stop := context.WithCancel(context.Background())
	spec.Breach.Name = "parado"
	spec.Inputs = []intake.Input{
		intake.ReaderInput("nimbo.csv", "nimbo.csv 1", -1, func(context.Context) (io.ReadCloser, error) {
			stop()
			return os.Open(file)
		}),
	}
	if _, err := v.Importer.ImportBreach(stopped, spec); !errors.Is(err, context.Canceled) {
		t.Fatalf("a stopped import: %v", err)
	}
	if spec.Mapping, err = stated.ParseMapping([]byte(nimbo + "  nome: name\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Importer.ImportBreach(context.Background(), spec); !errors.Is(err, intake.ErrInput) {
		t.Errorf("taken up with another mapping: %v", err)
	}
}
