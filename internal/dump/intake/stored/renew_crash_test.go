package stored_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// renewalDump has one record a person: those from first to last, with a password where every third is.
func renewalDump(first, last int, password string) string {
	var b strings.Builder
	b.WriteString("email,senha\n")
	for i := first; i < last; i++ {
		word := ""
		if i%3 == 0 {
			word = password
		}
		fmt.Fprintf(&b, "pessoa%d@exemplo.com.br,%s\n", i, word)
	}
	return b.String()
}

// TestKilledRenewals kills appends at any moment: after each kill the breach is what it was or what it is
// to be, whole; the same command run again gets through, and says of each person what an undisturbed one says.
func TestKilledRenewals(t *testing.T) {
	kills, people := 1, 3000
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		kills, people = 20, 150_000
	}
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		crashSettings(v)
		v.LoadPublished()
		for i := range 12 {
			v.Watch(v.Live, fmt.Sprint("u", i), "email", fmt.Sprintf("pessoa%d@exemplo.com.br", i*people/8))
		}
		first := v.File("a.csv", renewalDump(0, people, "segredo1"))
		v.killAppends(first, v.File("b.csv", renewalDump(people/2, people*3/2, "segredo2")), kills)
	})
}

// killAppends appends to a breach undisturbed, and to others under kills.
func (v *env) killAppends(first, second string, kills int) {
	v.T.Helper()
	const calm = "calmo"
	before := v.keysOf(v.Import(dumptest.MakeBreach(calm, cyber.SourceBreach), first).Record)
	v.RunJobs()
	inputs, err := intake.ListInputs(v.T.Context(), nil, []string{second})
	if err != nil {
		v.T.Fatal(err)
	}
	start := time.Now()
	out, err := v.Importer.AppendToBreach(
		v.T.Context(),
		intake.Spec{Breach: cyber.Breach{Name: calm}, Inputs: inputs},
	)
	if err != nil || out.Unchanged {
		v.T.Fatal(err, out.Unchanged)
	}
	v.RunJobs()
	undisturbed := time.Since(start)
	renewed := v.keysOf(out.Record)
	for killed, round := 0, 0; killed < kills; round++ {
		name := fmt.Sprint("morto-", round)
		v.Import(dumptest.MakeBreach(name, cyber.SourceBreach), first)
		v.RunJobs()
		killed += v.killChild([]string{second, name, "append"}, undisturbed, func() {
			r, err := v.Breaches.BreachByName(context.Background(), name)
			if err != nil {
				v.T.Fatal(err)
			}
			if got, want := v.keysOf(r), [][]uint64{before, renewed}[min(r.Renewals, 1)]; !slices.Equal(got, want) {
				v.T.Fatalf("%s, renewed %d times: %d keys, wanted %d", name, r.Renewals, len(got), len(want))
			}
		})
		v.Clock.Advance(2 * time.Hour)
		v.RunJobs()
		r, err := v.Breaches.BreachByName(context.Background(), name)
		if err != nil || r.Renewals != 1 || r.PairsDigest != out.PairsDigest ||
			fmt.Sprint(r.Tally.Classes, r.Exposes) != fmt.Sprint(out.Tally.Classes, out.Exposes) ||
			!slices.Equal(v.keysOf(r), renewed) {
			v.T.Fatalf("%s: %v, %+v, undisturbed %+v", name, err, r, out.Record)
		}
		v.sameFindings(calm, name)
		if left, err := os.ReadDir(v.Importer.Dir); err != nil || len(left) > 0 {
			v.T.Errorf("work is left: %v, %v", left, err)
		}
	}
}

// sameFindings: two breaches say the same of each person.
func (v *env) sameFindings(one, other string) {
	v.T.Helper()
	for i := range 12 {
		all, err := v.Monitoring.ListFindings(
			context.Background(),
			v.Live.Partner,
			partner.UserHash(fmt.Sprint("u", i)),
		)
		if err != nil {
			v.T.Fatal(err)
		}
		says := map[string]string{}
		for _, f := range all {
			says[f.Breach.Name] += fmt.Sprint(f.Breach.Exposes, f.Resolution, f.Open())
		}
		if says[one] != says[other] {
			v.T.Errorf("person %d: %s says %q, %s %q", i, one, says[one], other, says[other])
		}
	}
}
