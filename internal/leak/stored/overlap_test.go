package stored_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// A compilation of two older dumps and something new: what was known is counted once, by breach and in all, and what
// came later does not count.
func TestMeasuredAgainstEarlierBreaches(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		people := func(from, to int) (text string) {
			for i := from; i < to; i++ {
				text += fmt.Sprintf("pessoa%d@exemplo.com.br\n", i)
			}
			return text
		}
		for _, d := range []struct{ name, text string }{
			{"loja-a", people(0, 90)}, {"loja-b", people(80, 130)}, {"compilado", people(0, 100) + people(500, 600)}, {"depois", people(500, 600)},
		} {
			v.Import(dumptest.MakeBreach(d.name, cyber.SourceBreach, cyber.ExposedEmail), v.File(d.name+".txt", d.text))
			v.RunJobs()
			e.Clock.Advance(time.Minute)
		}
		for name, want := range map[string]string{
			"loja-a": "0 map[]", "loja-b": "12 map[loja-a:12]",
			// Their domain and the one above it, com.br, are values too.
			"compilado": "102 map[loja-a:92 loja-b:22]",
		} {
			r, err := v.Rules.FindBreach(context.Background(), name)
			if err != nil || r.Tally.Measured == nil {
				t.Fatal(name, err, r.Tally.Measured)
			}
			v.WantEqual(name, fmt.Sprint(r.Tally.Measured.Known, " ", r.Tally.Measured.From), want)
			if most, n := r.Tally.Measured.LargestOverlap(); name == "compilado" && (most != "loja-a" || n != 92) {
				t.Error(most, n)
			}
		}
	})
}
