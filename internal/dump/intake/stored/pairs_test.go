package stored_test

import (
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// known returns which of the passwords a published breach holds together with an address. The library is not loaded
// before: it has to follow what another process published by itself.
func (v *env) known(address string, passwords ...string) (list []string) {
	v.T.Helper()
	for _, p := range passwords {
		sum := sha1.Sum([]byte(p))
		held, err := v.Library.HoldsPair(
			v.T.Context(),
			[]uint64{v.Keys.Fingerprint(byte(identifier.Email), []byte(address))},
			binary.BigEndian.Uint64(sum[:])>>24,
		)
		if err != nil {
			v.T.Fatal(err)
		}
		if held {
			list = append(list, p)
		}
	}
	return list
}

// TestPairsOfRecords: a password is known together with the values of its own record, and with nobody else's; a breach
// imported without pairs knows none, and one that was retracted leaves none behind.
func TestPairsOfRecords(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		ctx := context.Background()
		file := v.File(
			"a.csv",
			"email,senha,nome\nana@exemplo.com,Praia;2020,Ana\nbia@exemplo.com,,Bia\nana@exemplo.com,outra1,Ana\n",
		)
		if held, err := v.Library.HoldsPair(t.Context(), []uint64{1}, 1); held || err != nil {
			t.Error("before anything is published:", held, err)
		}
		out := v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail), file)
		passwords := []string{"Praia;2020", "outra1", "Ana", ""}
		v.WantEqual("pairs of ana", strings.Join(v.known("ana@exemplo.com", passwords...), " "), "Praia;2020 outra1")
		v.WantEqual("pairs of bia", strings.Join(v.known("bia@exemplo.com", passwords...), " "), "")
		if out.Tally.Pairs != 2 || out.Pairs == "" {
			t.Errorf("%d pairs in %q", out.Tally.Pairs, out.Pairs)
		}
		inputs, err := intake.ListInputs(ctx, nil, []string{v.File("b.csv", "email,senha\nbia@exemplo.com,segredo\n")})
		if err != nil {
			t.Fatal(err)
		}
		without, err := v.Importer.ImportBreach(
			ctx,
			intake.Spec{
				Breach:  dumptest.MakeBreach("sem-pares", cyber.SourceBreach, cyber.ExposedEmail),
				Inputs:  inputs,
				NoPairs: true,
			},
		)
		if err != nil || without.Pairs != "" || without.Tally.Pairs != 0 {
			t.Errorf("without pairs: %q, %d, %v", without.Pairs, without.Tally.Pairs, err)
		}
		v.WantEqual("pairs of an import without", strings.Join(v.known("bia@exemplo.com", "segredo"), " "), "")
		if _, err := v.Rules.RetractBreach(ctx, "loja"); err != nil {
			t.Fatal(err)
		}
		v.RunJobs()
		v.WantEqual("pairs of a retracted breach", strings.Join(v.known("ana@exemplo.com", passwords...), " "), "")
		if _, err := os.Stat(filepath.Join(v.Folder, "corpora", out.Pairs)); !errors.Is(err, os.ErrNotExist) {
			t.Error("the file of the pairs is still there:", err)
		}
	})
}

// TestPairsDoNotDependOnTheWay: parts, and one that was damaged, change nothing; an import that goes on without pairs
// forgets those it had, and one that began without has none.
func TestPairsDoNotDependOnTheWay(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	files := v.madeUpFiles(1400)
	want := v.Import(dumptest.MakeBreach("inteiro", cyber.SourceBreach, cyber.ExposedEmail), files...)
	v.Importer.PartBytes, v.Importer.Workers = 50_000, 3
	v.Importer.SpanBytes = 30_000
	got := v.Import(dumptest.MakeBreach("partes", cyber.SourceBreach, cyber.ExposedEmail), files...)
	if want.Tally.Pairs < 2000 || got.Tally.Pairs != want.Tally.Pairs || got.PairsDigest != want.PairsDigest {
		t.Errorf(
			"%d pairs, %s; in one part %d, %s",
			got.Tally.Pairs,
			got.PairsDigest,
			want.Tally.Pairs,
			want.PairsDigest,
		)
	}
	inputs, err := intake.ListInputs(context.Background(), nil, files)
	if err != nil {
		t.Fatal(err)
	}
	// stopped begins an import, stops it when parts are kept, and goes on.
	stopped := func(name string, first, then bool, between func(dir string)) intake.Outcome {
		t.Helper()
		spec := intake.Spec{
			Breach:  dumptest.MakeBreach(name, cyber.SourceBreach, cyber.ExposedEmail),
			Inputs:  inputs,
			NoPairs: first,
		}
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		v.Importer.Workers = 1 // calls is not shared
		undo := dumptest.OnFingerprint(v.Importer, func() {
			if calls++; calls == 6000 {
				cancel()
			}
		})
		if _, err := v.Importer.ImportBreach(ctx, spec); !errors.Is(err, context.Canceled) {
			t.Fatal("not stopped:", err)
		}
		undo()
		between(filepath.Join(v.Folder, "import", name))
		spec.NoPairs = then
		out, err := v.Importer.ImportBreach(context.Background(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	leave := func(string) {}
	damage := func(dir string) {
		parts, err := filepath.Glob(filepath.Join(dir, "part-*-pairs.seg"))
		if err != nil || len(parts) == 0 {
			t.Fatal("no pairs of parts:", err)
		}
		if err := os.Truncate(parts[0], 100); err != nil {
			t.Fatal(err)
		}
	}
	if out := stopped("parado", false, false, damage); out.PairsDigest != want.PairsDigest {
		t.Error("a damaged part of pairs is missing from the whole")
	}
	if out := stopped("desistiu", false, true, leave); out.Pairs != "" || out.Tally.Pairs != 0 {
		t.Error("went on without pairs and has", out.Tally.Pairs)
	}
	if out := stopped("comecou-sem", true, false, leave); out.Pairs != "" {
		t.Error("began without pairs and has", out.Tally.Pairs)
	}
}
