package cyber

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

var errGone = errors.New("the database is away")

// people is a store with one person and three breaches.
type people struct {
	p       Posture
	asked   []string
	kept    []ScoreDay
	answers []string
	fails   error
	slow    error // reading breaches
}

func (s *people) ReadPosture(_ context.Context, _ partner.ID, _ partner.UserHash, scored bool) (*Posture, error) {
	p := s.p
	p.Assets = append([]PostureAsset(nil), s.p.Assets...)
	if !scored {
		p.Last = ScoreDay{}
	}
	return &p, s.fails
}

func (s *people) BreachesByName(_ context.Context, names []string) (list []Breach, err error) {
	s.asked = append(s.asked, fmt.Sprint(names))
	for _, b := range []Breach{bank, shop, paste} {
		for _, n := range names {
			if n == b.Name {
				list = append(list, b)
			}
		}
	}
	return list, s.slow
}

func (s *people) KeepAnswer(_ context.Context, _ partner.ID, _ partner.UserHash, item ContentID, value string) error {
	s.answers = append(s.answers, fmt.Sprint(item, "=", value))
	return nil
}

func (s *people) KeepScore(_ context.Context, _ partner.ID, _ partner.UserHash, d ScoreDay) error {
	s.kept = append(s.kept, d)
	return s.fails
}

func (s *people) ScoreDays(context.Context, partner.ID, partner.UserHash) ([]ScoreDay, error) {
	return s.kept, nil
}

// changes is what the operator changed in the catalogue.
type changes struct {
	items []Item
	reads int
	fails error
}

func (c *changes) ContentChanges(context.Context) ([]Item, error) { c.reads++; return c.items, c.fails }

func (c *changes) KeepContent(_ context.Context, items []Item) error {
	c.items = append(c.items, items...)
	return nil
}

func (c *changes) DropContent(context.Context, ContentID) error { c.items = nil; return nil }

func newPersons(breaches string) (*Persons, *people, *changes, *time.Time) {
	now := modelNow.Add(13 * time.Hour)
	s := &people{
		p: Posture{Assets: []PostureAsset{{Kind: identifier.Email, Value: "ana@exemplo.com.br", Breaches: breaches}}},
	}
	c := &changes{}
	clock := func() time.Time { return now }
	return NewPersons(s, NewCatalogue(c, clock), clock, nil), s, c, &now
}

// TestBreachesAreRemembered: a breach is read once for everybody, again when it may have changed, and at once when it
// is new.
func TestBreachesAreRemembered(t *testing.T) {
	rules, s, _, now := newPersons("loja")
	advise := func(breaches string, want ...string) {
		t.Helper()
		s.p.Assets[0].Breaches, s.asked = breaches, nil
		if _, _, err := rules.ListAdvice(t.Context(), "p", "u"); err != nil || fmt.Sprint(s.asked) != fmt.Sprint(want) {
			t.Errorf("%q: read %v, want %v: %v", breaches, s.asked, want, err)
		}
	}
	advise("")
	advise("loja", "[loja]")
	advise("loja")
	advise("loja papel", "[papel]")
	advise("gone", "[gone]")
	advise("banco banco:1 banco:2", "[banco]")
	*now = now.Add(2*time.Second - 1)
	advise("loja")
	*now = now.Add(1)
	advise("loja papel banco", "[banco loja papel]")
	advise("loja papel banco")
}

// TestWholeAndOwnRecords: a breach is judged by what stood in the person's own records where that is known.
func TestWholeAndOwnRecords(t *testing.T) {
	rules, s, _, _ := newPersons("loja")
	score := func(breaches string) float64 {
		t.Helper()
		s.p.Assets[0].Breaches = breaches
		got, err := rules.ComputeScore(t.Context(), "p", "u")
		if err != nil {
			t.Fatal(err)
		}
		return got.Breach
	}
	own := fmt.Sprintf("loja:%x", NewClasses([]Exposed{ExposedEmail}))
	whole, little := score("loja"), score(own)
	if whole <= little || little <= 0 {
		t.Errorf("with a password %.1f, with an address alone %.1f", whole, little)
	}
	if empty := score("gone"); empty != 0 {
		t.Errorf("a breach that there is not any more counts %.1f", empty)
	}
}

// TestCopiesInTheBook: two breaches with one content are one, and such without are not.
func TestCopiesInTheBook(t *testing.T) {
	number := func(name, content string) string { return Breach{Name: name, Content: content}.contentKey() }
	one, two, none := number("a", "x"), number("b", "y"), number("c", "")
	if one == two || one == none || number("d", "x") != one || number("b", "y") != two || number("e", "") == none ||
		number("c", "") != none {
		t.Errorf("%s %s %s", one, two, none)
	}
}

// TestScoreIsKept: a score is kept on the day on which it changed, in tenths, and on no other. The day is that of
// Brasília, where half past one UTC is in the evening before.
func TestScoreIsKept(t *testing.T) {
	rules, s, _, now := newPersons("loja")
	*now = modelNow.Add(90 * time.Minute)
	score, err := rules.ComputeScore(t.Context(), "p", "u")
	if err != nil || len(s.kept) != 1 {
		t.Fatalf("%d kept: %v", len(s.kept), err)
	}
	day := s.kept[0]
	if !day.Date().Equal(modelNow.AddDate(0, 0, -1)) || float64(day.Breach) != 10*score.Breach ||
		float64(day.Assessment) != 10*score.Assessment {
		t.Errorf("%+v of %s for %+v", day, day.Date(), score)
	}
	again := func(last ScoreDay, want int) {
		t.Helper()
		s.kept, s.p.Last = nil, last
		if _, err := rules.ComputeScore(t.Context(), "p", "u"); err != nil || len(s.kept) != want {
			t.Errorf("after %+v: %d kept, want %d: %v", last, len(s.kept), want, err)
		}
	}
	*now = now.AddDate(0, 0, 1)
	again(day, 0)
	again(ScoreDay{Day: day.Day, Breach: day.Breach - 1, Assessment: day.Assessment}, 1)
	again(ScoreDay{Day: day.Day, Breach: day.Breach, Assessment: day.Assessment - 1}, 1)
	again(ScoreDay{Breach: day.Breach, Assessment: day.Assessment}, 1)
	if days, err := rules.ScoreHistory(t.Context(), "p", "u"); err != nil || len(days) != 1 {
		t.Errorf("%v: %v", days, err)
	}
	var missed error
	told := NewPersons(
		keepFails{s},
		rules.catalogue,
		func() time.Time { return *now },
		func(_ context.Context, err error) { missed = err },
	)
	if got, err := told.ComputeScore(
		t.Context(),
		"p",
		"u",
	); err != nil || got.Breach != score.Breach ||
		!errors.Is(missed, errGone) {
		t.Errorf("%v, told %v: a score that cannot be kept is answered, and told", err, missed)
	}
	if _, err := rules.WithStore(keepFails{s}).ComputeScore(t.Context(), "p", "u"); err != nil {
		t.Errorf("nobody is told: %v", err)
	}
}

// keepFails cannot keep scores.
type keepFails struct{ *people }

func (keepFails) KeepScore(context.Context, partner.ID, partner.UserHash, ScoreDay) error {
	return errGone
}

// TestAnswer: what is asked and offered is kept; all else is refused.
func TestAnswer(t *testing.T) {
	rules, s, c, _ := newPersons("")
	question := &ValidationQuestion{Options: []Option{{Value: "sim"}, {Value: "nao", Risk: 5}}}
	c.items = []Item{
		{ID: "asks", Question: question},
		{ID: "asks-nothing"},
		{ID: "retired", Question: question, Retired: true},
	}
	for _, q := range []struct {
		item, value string
		want        error
	}{
		{"asks", "sim", nil},
		{"asks", "talvez", ErrAnswerInvalid},
		{"asks", "", ErrAnswerInvalid},
		{"asks-nothing", "sim", ErrContentNotFound},
		{"retired", "sim", ErrContentNotFound},
		{"no-such", "sim", ErrContentNotFound},
	} {
		if err := rules.SaveAnswer(t.Context(), "p", "u", ContentID(q.item), q.value); !errors.Is(err, q.want) {
			t.Errorf("%s=%s: %v", q.item, q.value, err)
		}
	}
	if fmt.Sprint(s.answers) != "[asks=sim]" {
		t.Error(s.answers)
	}
}

// TestPersonsWithoutDatabase: whichever part cannot be read, nobody gets an answer made of the rest.
func TestPersonsWithoutDatabase(t *testing.T) {
	for name, damage := range map[string]func(*people, *changes){
		"catalogue": func(_ *people, c *changes) { c.fails = errGone },
		"posture":   func(s *people, _ *changes) { s.fails = errGone },
		"breaches":  func(s *people, _ *changes) { s.slow = errGone },
	} {
		rules, s, c, _ := newPersons("loja")
		damage(s, c)
		if _, _, err := rules.ListAdvice(t.Context(), "p", "u"); !errors.Is(err, errGone) {
			t.Errorf("%s: advice: %v", name, err)
		}
		if _, err := rules.ComputeScore(t.Context(), "p", "u"); !errors.Is(err, errGone) {
			t.Errorf("%s: score: %v", name, err)
		}
		if err := rules.SaveAnswer(t.Context(), "p", "u", "x", "y"); err == nil {
			t.Errorf("%s: an answer to nothing was kept", name)
		}
	}
}
