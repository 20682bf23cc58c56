package cyber

import (
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// found makes a finding of a value whose records held classes and passwords.
func found(b Breach, classes Classes, passwords ...uint32) Finding {
	t := Trace{Told: true, Classes: classes, Passwords: passwords}
	return Finding{Breach: b.ForTrace(t), Trace: t}
}

// TestKnown: a finding is old news when earlier ones of the same value said all of it, whatever kind it is called.
func TestKnown(t *testing.T) {
	shop, list, stealer := Breach{Name: "loja", Kind: SourceBreach, Content: "c1"}, Breach{Name: "lista", Kind: SourceCombolist, Content: "c2"}, Breach{Name: "log", Kind: SourceStealer, Content: "c3"}
	whole := Finding{Breach: Breach{Name: "velha", Kind: SourceBreach, Exposes: []Exposed{ExposedEmail, ExposedPassword}, Content: "c4"}}
	copied := whole
	copied.Breach.Name = "copia"
	more := copied
	more.Breach.Exposes = AllExposed()
	other := whole
	other.Breach.Content = "c5"
	nowhere := whole
	nowhere.Breach.Content = ""
	with := func(f Finding, change func(*Finding)) Finding { change(&f); return f }
	at := func(sites ...string) func(*Finding) { return func(f *Finding) { f.Trace.Sites = sites } }
	const email, pass = 1, 3 // classes: the address alone, and with a password
	for name, c := range map[string]struct {
		f       Finding
		earlier []Finding
		want    bool
	}{
		"found nowhere":                      {found(list, pass, 1), nil, false},
		"the same again":                     {found(list, pass, 1), []Finding{found(shop, pass, 1)}, true},
		"another password":                   {found(list, pass, 2), []Finding{found(shop, pass, 1)}, false},
		"one known and one new":              {found(list, pass, 1, 2), []Finding{found(shop, pass, 1)}, false},
		"both known, from two":               {found(list, pass, 1, 2), []Finding{found(shop, pass, 1), found(stealer, pass, 2)}, true},
		"less than known":                    {found(shop, email), []Finding{found(list, pass, 1)}, true},
		"a class more":                       {found(shop, 7, 1), []Finding{found(list, pass, 1)}, false},
		"classes of two":                     {found(shop, 7, 1), []Finding{found(list, pass, 1), found(stealer, 5)}, true},
		"settled":                            {found(list, pass, 1), []Finding{with(found(shop, pass, 1), func(f *Finding) { f.Resolution = ResolvedPasswordChanged })}, true},
		"withdrawn":                          {found(list, pass, 1), []Finding{with(found(shop, pass, 1), func(f *Finding) { f.Resolution = ResolvedRetracted })}, false},
		"told of something made up":          {found(list, pass, 1), []Finding{with(found(shop, pass, 1), func(f *Finding) { f.Breach.Fabricated = true })}, false},
		"a password that cannot be compared": {found(list, pass), []Finding{found(shop, pass, 1)}, true},
		"and the first one":                  {found(list, pass), []Finding{found(shop, email)}, false},
		"known where it was not compared":    {found(list, pass, 1), []Finding{found(shop, pass)}, false},
		"of the same dump":                   {found(shop, pass, 1), []Finding{found(shop, pass)}, true},
		"of the same dump, later with pairs": {found(Breach{Name: "de-novo", Content: "c1p1"}, pass, 1), []Finding{found(shop, pass)}, true},
		"of the same people, other passwords": {
			found(Breach{Name: "outra", Content: "c1p2"}, pass, 2),
			[]Finding{found(Breach{Name: "uma", Content: "c1p1"}, pass, 1)},
			false,
		},
		"another site":                        {with(found(stealer, pass, 1), at("banco.test")), []Finding{found(shop, pass, 1)}, false},
		"the same site":                       {with(found(stealer, pass, 1), at("banco.test")), []Finding{with(found(shop, pass, 1), at("loja.test", "banco.test"))}, true},
		"what a stealer took, known":          {found(stealer, pass, 1), []Finding{found(list, pass, 1)}, true},
		"a breach as a whole":                 {other, []Finding{whole}, false},
		"a copy as a whole":                   {copied, []Finding{whole}, true},
		"a copy that claims more":             {more, []Finding{whole}, false},
		"nothing of its own":                  {nowhere, []Finding{nowhere}, false},
		"a combolist as a whole":              {with(other, func(f *Finding) { f.Breach.Kind = SourceCombolist }), []Finding{found(shop, email)}, true},
		"a combolist as a whole, found first": {with(other, func(f *Finding) { f.Breach.Kind = SourceCombolist }), nil, false},
	} {
		if got := IsKnownFinding(c.f, c.earlier); got != c.want {
			t.Errorf("%s: known %t, want %t", name, got, c.want)
		}
	}
}

// TestNamesOfRepeats: what told nothing new is counted with what it repeats, unless that was withdrawn: resolving a
// finding must not leave several where one was counted. However many repeat each other, it is told at once.
func TestNamesOfRepeats(t *testing.T) {
	named := func(name string, classes Classes, quiet bool) Finding {
		f := found(Breach{Name: name}, classes)
		f.Quiet = quiet
		return f
	}
	a, b, c, d := named("a", 3, false), named("b", 5, false), named("c", 4, true), named("d", 4, true)
	closed := func(f Finding) Finding { f.Resolution = ResolvedOther; return f }
	withdrawn := func(f Finding) Finding { f.Resolution = ResolvedRetracted; return f }
	for want, list := range map[string][]Finding{
		"a:3 b:5 c:4~b d:4~b": {a, b, c, d},
		"a:3 c:4~b d:4~b":     {a, closed(b), c, d},
		"d:4~b":               {closed(a), closed(b), closed(c), d},
		"a:3 c:4 d:4~c":       {a, withdrawn(b), c, d},
		"d:4":                 {withdrawn(b), withdrawn(c), d},
		"c:4":                 {c},
		"":                    {closed(a)},
	} {
		if got := JoinBreachNames(list); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	many := []Finding{a}
	for range 300 {
		many = append(many, named("c", 2, true))
	}
	if got := strings.Count(JoinBreachNames(many), "~a"); got != 300 {
		t.Error(got, "of 300 repeat the first")
	}
	name, repeated, trace := parseBreachName("c:4~b")
	difftest.Check(t, "the names", []string{name, repeated}, []string{"c", "b"})
	want := trace
	want.Told, want.Classes = true, 4
	difftest.Check(t, "the trace", trace, want)
}
