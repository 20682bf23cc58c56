package leak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ledger has a few breaches.
type ledger struct {
	Store
	list      []Record
	retracted string
}

func (l *ledger) ListBreaches(context.Context) ([]Record, error) { return l.list, nil }

func (l *ledger) UpdateBreach(_ context.Context, _ string, change func(*Record) error) (Record, error) {
	r := l.list[0]
	if err := change(&r); err != nil {
		return Record{}, err
	}
	l.list[0] = r
	return r, nil
}

func (l *ledger) RetractBreach(_ context.Context, name string) (Record, error) {
	l.retracted = name
	return Record{}, nil
}

func sound() cyber.Breach {
	return cyber.Breach{Name: "loja", Title: "Loja", Date: publication, Exposes: []cyber.Exposed{cyber.ExposedEmail}}
}

// TestCheckBreach: what may be told of a breach, to the last that is allowed.
func TestCheckBreach(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*cyber.Breach)
		ok     bool
	}{
		"sound":              {func(*cyber.Breach) {}, true},
		"the sandbox's name": {func(b *cyber.Breach) { b.Name = cyber.SandboxBreach }, false},
		"no name":            {func(b *cyber.Breach) { b.Name = "" }, false},
		"a name of 80":       {func(b *cyber.Breach) { b.Name = strings.Repeat("a", 80) }, true},
		"a name of 81":       {func(b *cyber.Breach) { b.Name = strings.Repeat("a", 81) }, false},
		"a way up":           {func(b *cyber.Breach) { b.Name = "a..b" }, false},
		"no title":           {func(b *cyber.Breach) { b.Title = " " }, false},
		"a long source":      {func(b *cyber.Breach) { b.Source = strings.Repeat("a", 501) }, false},
		"a long description": {func(b *cyber.Breach) { b.Description = strings.Repeat("a", 4001) }, false},
		"no day":             {func(b *cyber.Breach) { b.Date = time.Time{} }, false},
		"today":              {func(b *cyber.Breach) { b.Date = publication }, true},
		"tomorrow":           {func(b *cyber.Breach) { b.Date = publication.Add(1) }, false},
		"the first day":      {func(b *cyber.Breach) { b.Date = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC) }, true},
		"the day before":     {func(b *cyber.Breach) { b.Date = time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC) }, false},
		"an unknown kind":    {func(b *cyber.Breach) { b.Kind = "dream" }, false},
		"no class":           {func(b *cyber.Breach) { b.Exposes = nil }, false},
		"an unknown class":   {func(b *cyber.Breach) { b.Exposes = []cyber.Exposed{cyber.ExposedEmail, "soul"} }, false},
		"classes in any order": {func(b *cyber.Breach) {
			b.Exposes = []cyber.Exposed{cyber.ExposedCard, cyber.ExposedEmail, cyber.ExposedCard}
		}, true},
		"a kind that was given": {func(b *cyber.Breach) { b.Kind = cyber.SourcePaste }, true},
	} {
		b := sound()
		c.change(&b)
		given := b.Kind
		err := CheckBreach(&b, publication)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrBreachInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (given == "" && b.Kind != cyber.SourceBreach || given != "" && b.Kind != given) {
			t.Errorf("%s: kind %s", name, b.Kind)
		}
		if name == "classes in any order" &&
			fmt.Sprint(b.Exposes) != fmt.Sprint([]cyber.Exposed{cyber.ExposedEmail, cyber.ExposedCard}) {
			t.Errorf("classes %v", b.Exposes)
		}
	}
}

// TestOperatorOnBreaches: what an operator sees and changes; the sandbox's breach is left alone.
func TestOperatorOnBreaches(t *testing.T) {
	l := &ledger{list: []Record{{Breach: sound(), State: Published}, {Breach: cyber.Breach{Name: cyber.SandboxBreach}}}}
	rules := NewBreaches(l, func() time.Time { return publication })
	if list, err := rules.ListBreaches(t.Context()); err != nil || len(list) != 1 || list[0].Name != "loja" {
		t.Errorf("%v, %v", list, err)
	}
	if r, err := rules.EditBreach(
		t.Context(),
		"loja",
		func(b *cyber.Breach) { b.Name, b.Title = "outra", "Outra" },
	); err != nil || r.Name != "loja" ||
		r.Title != "Outra" {
		t.Errorf("%+v, %v", r.Breach, err)
	}
	if _, err := rules.EditBreach(t.Context(), "loja", func(b *cyber.Breach) { b.Title = "" }); !errors.Is(err, ErrBreachInvalid) {
		t.Errorf("an edit that breaks it: %v", err)
	}
	if _, err := rules.EditBreach(t.Context(), cyber.SandboxBreach, func(*cyber.Breach) {}); !errors.Is(err, ErrBreachInvalid) {
		t.Errorf("the sandbox's breach was edited: %v", err)
	}
	if _, err := rules.RetractBreach(
		t.Context(),
		cyber.SandboxBreach,
	); !errors.Is(err, ErrBreachInvalid) ||
		l.retracted != "" {
		t.Errorf("the sandbox's breach was retracted: %v", err)
	}
	if _, err := rules.RetractBreach(t.Context(), "loja"); err != nil || l.retracted != "loja" {
		t.Errorf("%q, %v", l.retracted, err)
	}
	l.list[0].State = Retracted
	if _, err := rules.EditBreach(t.Context(), "loja", func(*cyber.Breach) {}); !errors.Is(err, ErrRetracted) {
		t.Errorf("a retracted breach was edited: %v", err)
	}
}

// TestOperatorWrites: days and classes as people write them.
func TestOperatorWrites(t *testing.T) {
	if day, err := ParseBreachDay("2026-11-15"); err != nil ||
		!day.Equal(time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)) {
		t.Error(day, err)
	}
	for _, bad := range []string{"", "15/11/2026", "2026-13-01"} {
		if _, err := ParseBreachDay(bad); !errors.Is(err, ErrBreachInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if got := ParseExposes([]string{"email, cpf", "", "card,,"}); !slices.Equal(got, []cyber.Exposed{"email", "cpf", "card"}) {
		t.Errorf("%v", got)
	}
}

// TestTally: parts are summed up, reasons are told apart up to a bound, and what could not be read is doubted.
func TestTally(t *testing.T) {
	sum := Tally{Bytes: 1, Scanned: 2, Streams: 3, Problems: 4, Read: 5, Partly: 6, Unread: 7}
	sum.AddTally(Tally{
		Bytes: 10, Scanned: 20, Streams: 30, Problems: 40, Read: 50, Partly: 60, Unread: 70,
		Found: map[string]int64{"email": 2}, Reasons: map[string]int64{"broken": 3, "never": 0},
	})
	sum.AddTally(Tally{Found: map[string]int64{"email": 1, "cpf": 1}, Reasons: map[string]int64{"broken": 1}})
	want := Tally{
		Bytes: 11, Scanned: 22, Streams: 33, Problems: 44, Read: 55, Partly: 66, Unread: 77,
		Found: map[string]int64{"email": 3, "cpf": 1}, Reasons: map[string]int64{"broken": 4},
	}
	if fmt.Sprint(sum) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", sum, want)
	}
	var many Tally
	for i := range 40 {
		many.CountReason(fmt.Sprint("reason ", i), 2)
	}
	many.CountReason("reason 1", 1)
	reasons := maps.Clone(many.Reasons)
	reasons["other reasons"], reasons["reason 1"], reasons["reason 31"] = 16, 3, 2
	difftest.Check(t, "the reasons", many.Reasons, reasons)
	difftest.Check(t, "how many reasons", len(many.Reasons), 33)
	found := map[string]int64{"email": 1}
	for _, c := range []struct {
		t        Tally
		verdict  string
		doubtful *fault.Rule
	}{
		{Tally{Read: 1, Found: found}, "read", nil},
		{Tally{Found: found}, "read", nil},
		{Tally{Read: 1}, "read", &fault.NothingFound},
		{Tally{Read: 1, Unread: 2, Found: found}, "partly read", &fault.MostUnreadable},
		{Tally{Read: 1, Partly: 1, Unread: 2, Found: found}, "partly read", nil},
		{Tally{Read: 1, Partly: 1, Found: found}, "partly read", nil},
		{Tally{Partly: 1, Found: found}, "partly read", nil},
		{Tally{Unread: 1}, "not read", &fault.NothingFound},
	} {
		if c.t.ReadVerdict() != c.verdict || c.t.DoubtReason() != c.doubtful {
			t.Errorf("%+v: %q, %v", c.t, c.t.ReadVerdict(), c.t.DoubtReason())
		}
	}
}

// TestLabelBounds: a label that was cut or made up is none, and a coarser one drops the sites, then the day.
func TestLabelBounds(t *testing.T) {
	full := Label{Classes: 1, Day: 1 << 30, Sites: []string{"a", "", "b", "c"}}
	text := full.AppendEncoded(nil)
	if l, err := ParseLabel(text); err != nil || l.Day != full.Day || !slices.Equal(l.Sites, full.Sites) {
		t.Errorf("%+v, %v", l, err)
	}
	day := len(Label{Classes: 1, Day: 1 << 30}.AppendEncoded(nil))
	for _, bad := range [][]byte{
		text[:1], text[:3], append(slices.Clone(text), 0), append(slices.Clone(text[:day]), 2, 'a'), append(slices.Clone(text[:day]), 0x80),
		Label{Classes: 1, Day: 1<<30 + 1}.AppendEncoded(nil),
	} {
		if l, err := ParseLabel(bad); !errors.Is(err, ErrLabel) {
			t.Errorf("%x is %+v", bad, l)
		}
	}
	noSites := coarsenLabel(text)
	if want := (Label{Classes: 1, Day: 1 << 30}).AppendEncoded(nil); !slices.Equal(noSites, want) {
		t.Errorf("%x, want %x", noSites, want)
	}
	if got, want := coarsenLabel(noSites), (Label{Classes: 1}).AppendEncoded(nil); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if got := coarsenLabel([]byte{1}); got != nil {
		t.Errorf("%x of what is no label", got)
	}
	if uniteLabels([]byte{1}, text) != nil || uniteLabels(text, []byte{1}) != nil {
		t.Error("what is no label was united")
	}
}

// TestStatesOfABreach: what may still be done with a breach, and what was done already.
func TestStatesOfABreach(t *testing.T) {
	t.Parallel()
	of := func(s State) Record {
		return Record{State: s, Digest: "here", Breach: cyber.Breach{Content: "here+pairs"}}
	}
	renewal := func(digest, base string) Renewal {
		return Renewal{Publication: Publication{Digest: digest, PairsDigest: "+pairs"}, Base: base}
	}
	publish := func(s State, digest string) func() (bool, error) {
		return func() (bool, error) { return of(s).Publishes(digest) }
	}
	renew := func(s State, digest, base string) func() (bool, error) {
		return func() (bool, error) { return of(s).ApplyRenewal(renewal(digest, base)) }
	}
	goOn := func(s State) func() (bool, error) {
		return func() (bool, error) { err := of(s).CheckCanContinue(); return err == nil, err }
	}
	for name, c := range map[string]struct {
		ask     func() (bool, error)
		changes bool
		want    error
	}{
		"go on":                            {goOn(Importing), true, nil},
		"go on with a published one":       {goOn(Published), false, ErrBreachExists},
		"go on with a retracted one":       {goOn(Retracted), false, ErrRetracted},
		"publish":                          {publish(Importing, "new"), true, nil},
		"publish again":                    {publish(Published, "here"), false, nil},
		"publish over another":             {publish(Published, "new"), false, ErrBreachExists},
		"publish a retracted one":          {publish(Retracted, "here"), false, ErrRetracted},
		"renew":                            {renew(Published, "new", "here+pairs"), true, nil},
		"renew again":                      {renew(Published, "here", "before"), false, nil},
		"renew what somebody else renewed": {renew(Published, "new", "before"), false, ErrRenewed},
		"renew what is not there yet":      {renew(Importing, "new", "here+pairs"), false, ErrBreachNotFound},
		"renew a retracted one":            {renew(Retracted, "new", "here+pairs"), false, ErrRetracted},
	} {
		if changes, err := c.ask(); changes != c.changes || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", name, changes, err)
		}
	}
}

// TestNewHits: findings are added up by partner, in the order of partners. What was retracted is counted as that and as
// nothing else.
func TestNewHits(t *testing.T) {
	groups := []cyber.FindingGroup{
		{Partner: "pt_2", State: cyber.FindingOpen, Severity: cyber.SeverityHigh, Alerted: true, Count: 3},
		{Partner: "pt_1", State: cyber.FindingResolved, Severity: cyber.SeverityLow, Alerted: true, Count: 4},
		{Partner: "pt_2", State: cyber.FindingRetracted, Severity: cyber.SeverityHigh, Alerted: true, Count: 5},
		{Partner: "pt_2", State: cyber.FindingOpen, Severity: cyber.SeverityHigh, Count: 6},
		{Partner: "pt_2", State: cyber.FindingResolved, Severity: cyber.SeverityLow, Count: 7},
	}
	list := NewHits(groups, map[partner.ID]int64{"pt_1": 1, "pt_2": 2})
	want := []string{
		"{pt_1 1 0 4 0 4 map[low:4]} standing 4, low 4",
		"{pt_2 2 9 7 5 3 map[high:9 low:7]} standing 16, low 7",
	}
	for i, h := range list {
		got := fmt.Sprintf("%v standing %d, low %d", h, h.Standing(), h.Graded("low"))
		if i >= len(want) || got != want[i] {
			t.Errorf("partner %d: %s", i, got)
		}
	}
	if len(list) != len(want) {
		t.Error(list)
	}
}
