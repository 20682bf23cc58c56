package stored_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestExposesOfWhatWasFound: without classes, or with auto among them, a breach exposes what its records hold; classes
// that are named are held against that. What stands beside fewer than one in a hundred is noise.
func TestExposesOfWhatWasFound(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		var dump strings.Builder
		dump.WriteString("email,senha,nome,salario\n")
		for n := range 500 {
			salary := ""
			if n == 7 {
				salary = "5000"
			}
			_, _ = fmt.Fprintf(&dump, "p%d@exemplo.com.br,segredo%d,Pessoa Souza,%s\n", n, n, salary)
		}
		file := v.File("loja.csv", dump.String())
		for name, c := range map[string]struct {
			named            []cyber.Exposed
			want             string
			nowhere, unnamed string
		}{
			"nada":  {nil, "[email password name]", "[]", "[]"},
			"auto":  {[]cyber.Exposed{"auto", "health"}, "[email password name health]", "[health]", "[]"},
			"certo": {[]cyber.Exposed{"email", "password", "name"}, "[email password name]", "[]", "[]"},
			"outro": {[]cyber.Exposed{"email", "card"}, "[email card]", "[card]", "[password name]"},
		} {
			out := v.Import(makeBreach(name, cyber.SourceBreach, c.named...), file)
			if got := fmt.Sprint(out.Exposes); got != c.want {
				t.Errorf("%s exposes %s, want %s", name, got, c.want)
			}
			nowhere, unnamed := out.Tally.CompareClasses(out.Exposes)
			if fmt.Sprint(nowhere) != c.nowhere || fmt.Sprint(unnamed) != c.unnamed {
				t.Errorf("%s: named and not found %v, found and not named %v", name, nowhere, unnamed)
			}
			if out.Tally.Told != 500 || out.Tally.Classes["password"] != 500 || out.Tally.Classes["financial"] != 1 {
				t.Errorf("%s: %d told, %v", name, out.Tally.Told, out.Tally.Classes)
			}
		}
		v.RunJobs()
	})
}

// TestExposesOfASpreadImport: the workers' counts together say what was found.
func TestExposesOfASpreadImport(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		bucket := sharedBucket(e)
		a := newReplica(t, e, "a", bucket)
		inputs, err := intake.ListInputs(
			context.Background(),
			nil,
			[]string{
				a.File("a.csv", "email,senha\nana@exemplo.com.br,segredo1\n"),
				a.File("b.csv", "cpf,nome\n52998224725,Ana Souza\n"),
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Importer.SpreadImport(
			context.Background(),
			intake.Spec{Breach: makeBreach("partes", cyber.SourceBreach), Inputs: inputs},
			spreadPart,
		); err != nil {
			t.Fatal(err)
		}
		for a.part() {
		}
		if r := a.finish("partes"); fmt.Sprint(r.Exposes) != "[email password cpf name]" || r.Tally.Told != 2 {
			t.Error(r.Exposes, r.Tally)
		}
	})
}

// TestSpreadKeepsHowToOpen: passwords of a spread import are kept sealed, and its limits hold for the workers.
func TestSpreadKeepsHowToOpen(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		bucket := sharedBucket(e)
		a, b := newReplica(t, e, "a", bucket), newReplica(t, e, "b", bucket)
		packed := gzipText(t, []byte("ana@exemplo.com.br\n"+strings.Repeat("linha que se repete\n", 200_000)))
		inputs, err := intake.ListInputs(ctx, nil, []string{a.File("a.txt.gz", string(packed))})
		if err != nil {
			t.Fatal(err)
		}
		const password = "segredo-do-arquivo"
		a.Importer.Limits.Bytes = 1 << 20
		spec := intake.Spec{
			Breach:    makeBreach("partes", cyber.SourceBreach),
			Inputs:    inputs,
			Passwords: []string{password},
		}
		if err := a.Importer.SpreadImport(ctx, spec, spreadPart); err != nil {
			t.Fatal(err)
		}
		if kept, err := e.Breaches.SpreadAddresses(ctx, "partes"); err != nil || fmt.Sprint(kept) != "["+password+"]" {
			t.Error(kept, err)
		}
		jobs, err := e.Breaches.ListParts(ctx, "partes")
		if err != nil || len(jobs) != 1 || strings.Contains(string(jobs[0].Args), password) {
			t.Error(jobs, err)
		}
		for b.part() {
		}
		if r := b.finish("partes"); r.Tally.Partly != 1 || r.Tally.Found["email"] != 1 {
			t.Errorf("%+v", r.Tally)
		}
	})
}
