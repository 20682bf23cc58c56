package stored_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestNothingPersonalOnDisk: watched and leaked values, through a whole life, leave no trace in any file: not as text,
// not as an unkeyed hash. Partner names are planted to show that the search finds what is there.
func TestNothingPersonalOnDisk(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	v.LoadPublished()
	ctx := context.Background()
	values := []string{
		"canario.ana@exemplo.com.br",
		"52998224725",
		"529.982.247-25",
		"+5511987654321",
		"11987654321",
		"4111111111111111",
		"canario-u1",
	}
	v.Watch(v.Live, "canario-u1", "email", values[0])
	v.Watch(v.Live, "canario-u1", "cpf", values[2])
	v.Watch(v.Live, "canario-u1", "phone", values[4])
	v.Watch(v.Live, "canario-u1", "credit_card", values[5])
	v.Importer.PartBytes = 100
	v.Importer.SpanBytes = 1 << 20
	dump := v.File(
		"vazado.txt",
		strings.Repeat(
			"canario.ana@exemplo.com.br;529.982.247-25;(11) 98765-4321;4111 1111 1111 1111;canario.bia@exemplo.com.br\n",
			50,
		),
	)
	inputs, err := intake.ListInputs(context.Background(), nil, []string{dump, dump})
	if err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(ctx)
	v.Importer.Workers = 1
	n := 0
	undo := dumptest.OnFingerprint(v.Importer, func() {
		if n++; n == 260 {
			cancel()
		}
	})
	b := dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail)
	if _, err := v.Importer.ImportBreach(stopped, intake.Spec{Breach: b, Inputs: inputs}); !errors.Is(err,
		context.Canceled) {
		t.Fatal(err)
	}
	v.search(values) // with an import half done
	undo()
	if _, err := v.Importer.ImportBreach(ctx, intake.Spec{Breach: b, Inputs: inputs}); err != nil {
		t.Fatal(err)
	}
	v.RunJobs()
	v.WantEqual(
		"the life was real",
		v.Statuses(v.Live, "canario-u1"),
		"email=comprometido cpf=comprometido phone=comprometido credit_card=comprometido",
	) // a card stands in the record
	assets, err := v.Monitoring.ListAssets(ctx, cyber.AssetScope{Partner: v.Live.Partner, User: "canario-u1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Monitoring.DeleteAsset(
		ctx,
		cyber.AssetScope{Partner: v.Live.Partner, User: "canario-u1", Group: cyber.ContractShows},
		assets[0].ID,
	); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Rules.RetractBreach(ctx, "loja"); err != nil {
		t.Fatal(err)
	}
	v.RunJobs()
	v.search(append(values, "canario.bia@exemplo.com.br"))
}

// forms are the ways in which a value could lie on a disk.
func forms(value string) map[string][]byte {
	b := []byte(value)
	md, s1, s2 := md5.Sum(b), sha1.Sum(b), sha256.Sum256(b)
	b256, b512 := blake2b.Sum256(b), blake2b.Sum512(b)
	out := map[string][]byte{
		"text":          b,
		"reversed case": bytes.ToUpper(b),
		"base64":        []byte(base64.StdEncoding.EncodeToString(b))[:len(b)],
		"hex":           []byte(hex.EncodeToString(b)),
	}
	for name, sum := range map[string][]byte{
		"md5": md[:], "sha1": s1[:], "sha256": s2[:], "blake2b-256": b256[:],
		"blake2b-512": b512[:],
	} {
		out[name], out[name+" hex"] = sum[:8], []byte(hex.EncodeToString(sum[:8]))
	}
	return out
}

// search looks through every file of the installation, the database's log included.
func (v *env) search(values []string) {
	v.T.Helper()
	planted := false
	err := filepath.WalkDir(v.Folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		planted = planted || bytes.Contains(content, []byte("Parceiro live"))
		for _, value := range values {
			for form, needle := range forms(value) {
				if bytes.Contains(content, needle) {
					v.T.Errorf("%s holds %s as %s", filepath.Base(path), value, form)
				}
			}
		}
		return nil
	})
	if err != nil {
		v.T.Fatal(err)
	}
	if !planted {
		v.T.Error("the search does not even find the partner's name")
	}
}

// TestOutboxIsAtomic: when the alert cannot be kept there is no finding and no status either; once it can, all three
// come.
func TestOutboxIsAtomic(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		ctx := context.Background()
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail),
			v.File("a.txt", "ana@exemplo.com.br"))
		rename := func(from, to string) {
			t.Helper()
			if err := e.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
				_, err := tx.ExecContext(ctx, `ALTER TABLE `+from+` RENAME TO `+to)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		probes, _, err := v.Breaches.ListProbes(ctx, leak.Place{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"event", "asset_history"} {
			rename(table, table+"_away")
			if _, err := v.TellMatched(ctx, "loja", 10, probes...); err == nil {
				t.Error("told without", table)
			}
			rename(table+"_away", table)
			v.WantEqual("nothing half done", v.FindingsOf(v.Live, "ana")+v.Statuses(v.Live, "ana"), "email=monitorado")
		}
		v.RunJobs()
		v.WantEqual(
			"all of it",
			v.FindingsOf(v.Live, "ana")+" "+v.Statuses(v.Live, "ana"),
			"email:loja:open email=alerta",
		)
		if told := v.EventsOf(v.Live); len(told) != 2 {
			t.Errorf("told %v", told)
		}
	})
}

// TestOnePersonOneAlert: wherever a batch of hits ends, a person's findings of one breach are told together.
func TestOnePersonOneAlert(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		ctx := context.Background()
		var text strings.Builder
		for i := range 30 {
			address := fmt.Sprintf("p%d@exemplo.com.br", i)
			v.Watch(v.Live, fmt.Sprint("u", i%10), "email", address)
			text.WriteString(address + "\n")
		}
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail), v.File("a.txt", text.String()))
		probes, _, err := v.Breaches.ListProbes(ctx, leak.Place{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		told, err := v.TellMatched(ctx, "loja", 4, probes...)
		if err != nil || len(told) < 2 {
			t.Fatal(told, err)
		}
		for _, n := range told {
			if n%3 != 0 {
				t.Fatalf("%d hits were told: not whole persons", told)
			}
		}
		if told := v.EventsOf(v.Live); dumptest.CountLines(told, "leak ") != 10 ||
			dumptest.CountLines(told, "status ") != 30 {
			t.Errorf("told %d alerts, %d changes", dumptest.CountLines(told, "leak "),
				dumptest.CountLines(told, "status "))
		}
	})
}

// TestRetractedWhileImporting: an import that is taken back before its end publishes nothing and leaves nothing.
func TestRetractedWhileImporting(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	ctx := context.Background()
	inputs, err := intake.ListInputs(context.Background(), nil, []string{v.File("a.txt", "ana@exemplo.com.br")})
	if err != nil {
		t.Fatal(err)
	}
	dumptest.OnFingerprint(v.Importer, func() {
		if _, err := v.Rules.RetractBreach(ctx, "loja"); err != nil {
			t.Error(err)
		}
	})
	_, err = v.Importer.ImportBreach(
		ctx,
		intake.Spec{Breach: dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail), Inputs: inputs},
	)
	if !errors.Is(err, leak.ErrRetracted) {
		t.Errorf("the import ended with %v", err)
	}
	v.WantEqual("state", v.Names(), "loja:retracted:0")
	for _, dir := range []string{v.Importer.Dir, filepath.Join(v.Folder, "corpora")} {
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s keeps %v, %v", filepath.Base(dir), left, err)
		}
	}
}

// TestPageDamagedWhileOpen: a segment that goes bad under a running server is no answer either.
func TestPageDamagedWhileOpen(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	out := v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail),
		v.File("a.txt", "ana@exemplo.com.br"))
	v.LoadPublished()
	f, err := os.OpenFile(filepath.Join(v.Folder, "corpora", out.Segment), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xff, 0xff, 0xff}, 4096+5); err != nil { // the first page of keys
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
	if pending, err := v.Breaches.ListDueLooks(context.Background(), leak.DuePlace{}, 10); err != nil || len(pending) != 1 {
		t.Errorf("%d values wait to be probed, %v: the damaged segment was taken for an answer", len(pending), err)
	}
}
