package cyber

import (
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

func TestClassesAreThoseOfTheList(t *testing.T) {
	for i, e := range AllExposed() {
		if c := NewClasses([]Exposed{e}); c != 1<<i || !slices.Equal(c.List(), []Exposed{e}) {
			t.Error(e, c, c.List())
		}
	}
	if got := NewClasses(AllExposed()).List(); !slices.Equal(got, AllExposed()) {
		t.Error(got)
	}
}

// TestOfOnePerson: a person is judged by what stood in their own record, not by what the breach exposed of others.
func TestOfOnePerson(t *testing.T) {
	shop := Breach{
		Name:    "loja",
		Kind:    SourceBreach,
		Exposes: []Exposed{ExposedEmail, ExposedPassword, ExposedCPF, ExposedName},
		Date:    time.Unix(0, 0),
	}
	stealer := shop
	stealer.Kind = SourceStealer
	spam := shop
	spam.SpamList = true
	for name, c := range map[string]struct {
		breach   Breach
		trace    Trace
		ownSite  bool
		status   Status
		severity Severity
		basis    Basis
		words    string
	}{
		"nothing is told":          {shop, Trace{}, false, StatusCompromised, SeverityHigh, BasisBreach, "loja"},
		"only the address":         {shop, Trace{Told: true, Classes: 1}, false, StatusAlert, SeverityLow, BasisRow, "loja:1"},
		"with a password":          {shop, Trace{Told: true, Classes: 3}, false, StatusCompromised, SeverityHigh, BasisRow, "loja:3"},
		"a stealer's log":          {stealer, Trace{}, false, StatusCompromised, SeverityCritical, BasisBreach, "loja"},
		"of it only the address":   {stealer, Trace{Told: true, Classes: 1}, false, StatusAlert, SeverityLow, BasisRow, "loja:1"},
		"of it a password":         {stealer, Trace{Told: true, Classes: 3}, false, StatusCompromised, SeverityCritical, BasisRow, "loja:3"},
		"of the partner's site":    {shop, Trace{Told: true, Classes: 3}, true, StatusCompromised, SeverityCritical, BasisRow, "loja:3"},
		"in a list of spammers":    {spam, Trace{Told: true, Classes: 3}, false, StatusAlert, SeverityLow, BasisRow, "loja:3"},
		"and of the partner there": {spam, Trace{Told: true, Classes: 3}, true, StatusAlert, SeverityLow, BasisRow, "loja:3"},
	} {
		f := Finding{Breach: c.breach.ForTrace(c.trace), Trace: c.trace, OwnSite: c.ownSite}
		type judged struct {
			status   Status
			severity Severity
			basis    Basis
			words    string
		}
		got := judged{ComputeStatus([]Finding{f}), SeverityOf(f), f.Basis(), JoinBreachNames([]Finding{f})}
		difftest.Check(t, name, got, judged{c.status, c.severity, c.basis, c.words})
		if len(shop.Exposes) != 4 {
			t.Fatal("the breach itself was changed")
		}
		word, _, trace := parseBreachName(c.words)
		if word != "loja" || trace.Told != c.trace.Told || trace.Classes != c.trace.Classes {
			t.Error(name, word, trace)
		}
	}
}
