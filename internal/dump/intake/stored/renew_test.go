package stored_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// says writes what a person is told of a breach: the classes, or why the finding is closed, and the status.
func (v *env) says(user string) string {
	v.T.Helper()
	findings, err := v.Monitoring.ListFindings(v.T.Context(), v.Live.Partner, partner.UserHash(user))
	if err != nil {
		v.T.Fatal(err)
	}
	var words []string
	for _, f := range findings {
		state := fmt.Sprint(f.Breach.Exposes)
		if !f.Open() {
			state = string(f.Resolution)
		}
		words = append(words, f.Breach.Name+" "+state)
	}
	slices.Sort(words)
	return strings.Join(words, ", ") + " | " + v.Statuses(v.Live, user)
}

// TestRenew appends to a breach, replaces it and gives it other labels. Findings follow: what is new is told, what does
// not hold is withdrawn, what is told no more is dropped without an alert; whoever is watched only afterwards is told
// the same. Of former contents no file stays.
func TestRenew(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		people := []string{"ana", "bia", "caio", "davi"}
		for _, who := range people {
			v.Watch(v.Live, who, "email", who+"@exemplo.com")
		}
		const first = "email,senha\nana@exemplo.com,\nbia@exemplo.com,segredo1\ncaio@exemplo.com,\n"
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach), v.File("a.csv", first))
		v.RunJobs()
		told, round := len(v.EventsOf(v.Live)), 0
		check := func(what string, events []string, want ...string) {
			t.Helper()
			round++
			for i, who := range people {
				v.WantEqual(what+": "+who, v.says(who), want[i])
				later := fmt.Sprint(who, round)
				v.Watch(v.Live, later, "email", who+"@exemplo.com")
				if after := v.says(later); !strings.Contains(want[i], "retracted") && after != want[i] ||
					strings.Contains(after, "loja") != strings.Contains(want[i], "[") {
					t.Errorf("%s: %s watched afterwards: %s, want %s", what, who, after, want[i])
				}
				if err := v.forget(later); err != nil {
					t.Fatal(err)
				}
			}
			var heard []string
			for _, line := range v.EventsOf(v.Live)[told:] {
				if user := strings.Fields(line)[1]; slices.Contains(people, user) {
					heard = append(heard, line)
				}
			}
			slices.Sort(heard)
			v.WantEqual(what+": events", strings.Join(heard, "; "), strings.Join(events, "; "))
			told = len(v.EventsOf(v.Live))
			r, err := v.Rules.FindBreach(t.Context(), "loja")
			if err != nil {
				t.Fatal(err)
			}
			var current []string
			for _, f := range r.ListFiles() {
				current = append(current, f.Name)
			}
			slices.Sort(current)
			names, err := v.ListSegments()
			if err != nil || !slices.Equal(names, current) || len(r.Former) > 0 || r.Tally.Measured == nil {
				t.Errorf("%s: files %v, want %v; former %v: %v", what, names, current, r.Former, err)
			}
		}
		out, err := v.Append(
			"loja",
			"email,senha\nana@exemplo.com,segredo2\nbia@exemplo.com,segredo1\ndavi@exemplo.com,\n",
			false,
		)
		if err != nil {
			t.Fatal(err)
		}
		want := out
		want.Unchanged, want.Renewals, want.Tally.Distinct, want.Tally.Pairs = false, 1, 5, 2
		difftest.Must(t, "append", out, want)
		difftest.Must(t, "append: addresses", out.Tally.Found["email"], 6)
		check(
			"append",
			[]string{
				"leak ana email:loja",
				"leak davi email:loja",
				"status ana email alerta>comprometido",
				"status davi email monitorado>alerta",
			},
			"loja [email password] | email=comprometido",
			"loja [email password] | email=comprometido",
			"loja [email] | email=alerta",
			"loja [email] | email=alerta",
		)
		if out, err = v.Append(
			"loja",
			"bia@exemplo.com\n",
			false,
		); err != nil || !out.Unchanged ||
			out.Renewals != 1 {
			t.Errorf("append nothing new: %+v, %v", out, err)
		}
	})
}

// forget ends the watch on all values of a person.
func (v *env) forget(user string) error {
	assets, err := v.Monitoring.ListAssets(
		v.T.Context(),
		cyber.AssetScope{Partner: v.Live.Partner, User: partner.UserHash(user)},
	)
	for _, a := range assets {
		err = errors.Join(
			err,
			v.Monitoring.DeleteAsset(
				v.T.Context(),
				cyber.AssetScope{Partner: v.Live.Partner, User: partner.UserHash(user), Group: cyber.ContractShows},
				a.ID,
			),
		)
	}
	return err
}

// brokenStore fails at the transaction of a renewal, before or after it.
type brokenStore struct {
	intake.Store
	before, after error
}

func (s *brokenStore) RenewBreach(ctx context.Context, name string, n leak.Renewal) error {
	if s.before != nil {
		return s.before
	}
	return errors.Join(s.Store.RenewBreach(ctx, name, n), s.after)
}

// TestRenewInterrupted: a renewal that ended at any place goes on, does not scan again what it scanned, and changes the
// breach once. Until then the breach is what it was.
func TestRenewInterrupted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		ctx := t.Context()
		v.Importer.PartBytes = 10_000
		v.Importer.SpanBytes = 10_000
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach), v.File("a.csv", "email,senha\nana@exemplo.com,\n"))
		v.RunJobs()
		v.LoadPublished()
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com")
		var dump strings.Builder
		dump.WriteString("email,senha\nana@exemplo.com,segredo9\n")
		for i := range 6_000 {
			fmt.Fprintf(&dump, "p%d@exemplo.com,segredo%d\n", i, i)
		}
		inputs, err := intake.ListInputs(ctx, nil, []string{v.File("b.csv", dump.String())})
		if err != nil {
			t.Fatal(err)
		}
		spec := intake.Spec{Breach: cyber.Breach{Name: "loja"}, Inputs: inputs}
		stopped, stop := context.WithCancel(ctx)
		seen := 0
		undo := dumptest.OnFingerprint(v.Importer, func() {
			if seen++; seen == 3_000 {
				stop()
			}
		})
		v.Importer.Workers = 1
		if _, err := v.Importer.AppendToBreach(stopped, spec); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		whole := seen
		store := &brokenStore{Store: v.Importer.Store, before: errors.New("away")}
		v.Importer.Store = store
		if _, err := v.Importer.AppendToBreach(
			ctx,
			spec,
		); !errors.Is(err, store.before) ||
			seen-whole > 10_000 {
			t.Fatalf("%d values scanned again: %v", seen-whole, err)
		}
		v.RunJobs()
		if r, err := v.Rules.FindBreach(ctx, "loja"); err != nil || r.Renewals != 0 || r.Tally.Distinct != 2 {
			t.Fatalf("%+v, %v", r, err)
		}
		v.WantEqual("before", v.says("ana"), "loja [email] | email=alerta")
		whole, store.before, store.after = seen, nil, errors.New("cut off")
		if _, err := v.Importer.AppendToBreach(ctx, spec); !errors.Is(err, store.after) || seen != whole {
			t.Fatalf("%d values scanned again: %v", seen-whole, err)
		}
		store.after = nil
		out, err := v.Importer.AppendToBreach(ctx, spec)
		undo()
		if err != nil || seen != whole {
			t.Fatalf("%d values scanned again: %v", seen-whole, err)
		}
		want := out
		want.Unchanged, want.Renewals, want.Tally.Distinct = true, 1, 6_002
		difftest.Must(t, "the renewal that went on", out, want)
		difftest.Must(t, "its addresses", out.Tally.Found["email"], 6_002)
		v.RunJobs()
		v.LoadPublished()
		v.WantEqual("after", v.says("ana"), "loja [email password] | email=comprometido")
		if n := dumptest.CountLines(v.EventsOf(v.Live), "leak ana"); n != 2 {
			t.Errorf("ana heard %d times", n)
		}
	})
}

// TestRenewRefused: what has no content to change is not renewed, each with its reason.
func TestRenewRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		ctx := t.Context()
		add := func(name string, state leak.State) {
			t.Helper()
			b := dumptest.MakeBreach(name, cyber.SourceBreach, cyber.ExposedEmail)
			if err := v.Breaches.InsertBreach(ctx, leak.Record{Breach: b, State: state}); err != nil {
				t.Fatal(err)
			}
		}
		add("importando", leak.Importing)
		add("nomeado", leak.Published)
		add("retirado", leak.Published)
		if _, err := v.Rules.RetractBreach(ctx, "retirado"); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]error{
			"importando": leak.ErrBreachNotFound,
			"nomeado":    leak.ErrBreachNotFound,
			"retirado":   leak.ErrRetracted,
			"nenhum":     leak.ErrBreachNotFound,
		} {
			if _, err := v.Append(name, "ana@exemplo.com\n", true); !errors.Is(err, want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach), v.File("a.csv", "email\nana@exemplo.com\n"))
		if _, err := v.Append("loja", "nada\n", false); !errors.Is(err, intake.ErrDoubtful) {
			t.Errorf("nothing in it: %v", err)
		}
		if _, err := v.Importer.AppendToBreach(ctx,
			intake.Spec{Breach: cyber.Breach{Name: "loja"}}); !errors.Is(err, intake.ErrInput) {
			t.Errorf("without inputs: %v", err)
		}
		r, err := v.Rules.FindBreach(ctx, "loja")
		if err != nil {
			t.Fatal(err)
		}
		n := leak.Renewal{
			Publication: leak.Publication{File: "x.seg", Digest: "x"},
			Base:        "another",
			Exposes:     r.Exposes,
		}
		if err := v.Breaches.RenewBreach(ctx, "loja", n); !errors.Is(err, leak.ErrRenewed) {
			t.Errorf("renewed by somebody else meanwhile: %v", err)
		}
		for name, want := range map[string]error{
			"importando": leak.ErrBreachNotFound, "retirado": leak.ErrRetracted,
			"nenhum": leak.ErrBreachNotFound,
		} {
			if err := v.Breaches.RenewBreach(ctx, name, n); !errors.Is(err, want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestTwoMachinesShareADump: one machine imports a file, another one, which has only the database and the bucket in
// common with it, appends the next. The breach holds both, and each machine reads it.
func TestTwoMachinesShareADump(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		bucket := "file://" + t.TempDir()
		newMachine := func() *env {
			v := newEnv(t, e)
			files, err := library.OpenFiles(t.TempDir(), bucket)
			if err != nil {
				t.Fatal(err)
			}
			files.OpenTable = e.Keys.OpenTable
			v.Files, v.Importer.Files, v.Importer.Dir = files, files, t.TempDir()
			v.Matcher = leak.NewMatcher(e.Breaches, files, e.Keys, e.Clock.Now)
			v.Matcher.Settle = 0
			return v
		}
		first, second := newMachine(), newMachine()
		first.Import(dumptest.MakeBreach("colecao", cyber.SourceBreach),
			first.File("a.csv", "email\nana@exemplo.com\n"))
		inputs, err := intake.ListInputs(t.Context(), nil, []string{second.File("b.csv", "email\nbia@exemplo.com\n")})
		if err != nil {
			t.Fatal(err)
		}
		spec := intake.Spec{Breach: cyber.Breach{Name: "colecao"}, Inputs: inputs}
		out, err := second.Importer.AppendToBreach(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		both := first.Import(
			dumptest.MakeBreach("ambos", cyber.SourceBreach),
			first.File("ambos.csv", "email\nana@exemplo.com\nbia@exemplo.com\n"),
		)
		for name, machine := range map[string]*env{"first": first, "second": second} {
			if got, want := machine.keysOf(out.Record), first.keysOf(both.Record); !slices.Equal(got, want) {
				t.Errorf("%s machine: %d keys, want %d", name, len(got), len(want))
			}
		}
	})
}
