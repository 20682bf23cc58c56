package leak

import (
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

func TestExplain(t *testing.T) {
	day := func(n int) time.Time { return time.Unix(1_790_000_000, 0).AddDate(0, 0, n) }
	record := func(name string, published time.Time, state State) Record {
		return Record{
			Breach: cyber.Breach{
				Name:    name,
				Kind:    cyber.SourceBreach,
				Exposes: []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword},
			},
			State:       state,
			PublishedAt: published,
		}
	}
	row := func(passwords ...uint32) cyber.Trace {
		return cyber.Trace{
			Told:      true,
			Classes:   cyber.NewClasses([]cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword}),
			Passwords: passwords,
		}
	}
	all := []Record{
		record("nova", day(3), Published), record("velha", day(1), Published), record("outra", day(2), Published),
		record("futura", day(4), Published), record("retirada", day(0), Retracted),
	}
	seen := func(of map[string]cyber.Trace) (s cyber.Sighting) {
		for name, trace := range of {
			s.Breaches = append(s.Breaches, cyber.Seen{Breach: name, Trace: trace})
		}
		return s
	}
	if e := ExplainSighting(all[0], all, seen(map[string]cyber.Trace{"velha": row(7)})); e.Found || e.Earlier != nil {
		t.Errorf("a value that the breach does not hold: %+v", e)
	}
	e := ExplainSighting(
		all[0],
		all,
		seen(
			map[string]cyber.Trace{
				"nova":     row(7),
				"outra":    row(7),
				"velha":    row(8),
				"futura":   row(7),
				"retirada": row(7),
			},
		),
	)
	names := []string{}
	for _, b := range e.Earlier {
		names = append(names, b.Breach.Name)
	}
	want := e
	want.Found, want.News, want.Breach.Basis = true, false, cyber.BasisRow
	difftest.Check(t, "the same password as before", e, want)
	difftest.Must(t, "earlier breaches", names, []string{"velha", "outra"})
	same := []bool{e.Earlier[0].SamePassword, e.Earlier[1].SamePassword}
	difftest.Check(t, "earlier breaches with the same password", same, []bool{false, true})
	if e := ExplainSighting(
		all[0],
		all,
		seen(map[string]cyber.Trace{"nova": row(9), "velha": row(8)}),
	); !e.News ||
		e.Earlier[0].SamePassword {
		t.Errorf("another password than before: %+v", e)
	}
	if e := ExplainSighting(
		all[1],
		all,
		seen(map[string]cyber.Trace{"nova": row(7), "velha": row(7)}),
	); !e.News ||
		len(e.Earlier) != 0 {
		t.Errorf("the first breach: %+v", e)
	}
}
