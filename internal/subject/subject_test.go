package subject

import (
	"errors"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// TestParse: a CPF, or a user hash with its partner; never both, never neither.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		cpf, user, id string
		want          Person
		wrong         error
	}{
		{"123.456.789-01", "", "", Person{CPF: "12345678901"}, nil}, // check digits are not asked for
		{"12345678901", "", "pt_1", Person{CPF: "12345678901", Partner: "pt_1"}, nil},
		{"", "abc", "pt_1", Person{User: "abc", Partner: "pt_1"}, nil},
		{"", "abc", "", Person{}, ErrInvalid},
		{"", "", "pt_1", Person{}, ErrInvalid},
		{"12345678901", "abc", "pt_1", Person{}, ErrInvalid},
		{"1234567890", "", "", Person{}, ErrInvalid},
		{"", "a\nb", "pt_1", Person{}, partner.ErrUserHash},
	} {
		got, err := ParsePerson(c.cpf, c.user, c.id)
		if !errors.Is(err, c.wrong) || c.wrong == nil && (err != nil || got != c.want) {
			t.Errorf("%q, %q, %q: %+v, %v", c.cpf, c.user, c.id, got, err)
		}
	}
}

// TestEmpty: anything at all that is held makes it not empty.
func TestEmpty(t *testing.T) {
	if !(Held{Partner: partner.Partner{ID: "pt_1"}}).Empty() {
		t.Error("nothing is held")
	}
	for name, h := range map[string]Held{
		"subscription": {Subscriptions: make([]subscription.Subscription, 1)}, "asset": {Assets: make([]Watched, 1)},
		"case": {Cases: make([]Case, 1)}, "device": {Devices: make([]cyber.Device, 1)}, "answer": {Answers: make([]Answer, 1)},
		"score": {Scores: make([]cyber.ScoreDay, 1)}, "event": {Events: make([]Event, 1)}, "kept answer": {StoredAnswers: 1},
	} {
		if h.Empty() {
			t.Errorf("a %s is held", name)
		}
		if h.Subscriptions = make([]subscription.Subscription, 1); h.Empty() {
			t.Errorf("a subscription and a %s are held", name)
		}
	}
}

func TestErasedTotal(t *testing.T) {
	if n := (Erased{Counts: map[string]int64{"a": 2, "b": 3}}).Total(); n != 5 {
		t.Error(n)
	}
}

func TestAddressLine(t *testing.T) {
	full := subscription.Address{
		Street:       "Rua A",
		Number:       "1",
		Complement:   "ap 2",
		Neighborhood: "Centro",
		City:         "Recife",
		State:        "PE",
		Zipcode:      "50000000",
	}
	for want, a := range map[string]subscription.Address{
		"Rua A 1, ap 2, Centro, Recife/PE, 50000000": full, "": {}, "PE": {State: "PE"}, "Recife": {City: "Recife"}, "Rua A": {Street: "Rua A"},
	} {
		if got := addressLine(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestEmptyStatement: lists are there and empty, so that a program need not ask.
func TestEmptyStatement(t *testing.T) {
	var b strings.Builder
	if err := WriteJSON(&b, []Held{{Partner: partner.Partner{ID: "pt_1", Name: "Banco <Ltda>"}}}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "null") || !strings.Contains(b.String(), "Banco <Ltda>") {
		t.Error(b.String())
	}
	b.Reset()
	if err := WriteText(&b, []Held{{Partner: partner.Partner{Name: "Banco"}}}); err != nil {
		t.Fatal(err)
	}
	want := "DADOS PESSOAIS TRATADOS PELO SERVIÇO VIGIA\n(Lei 13.709/2018, art. 18, II e art. 19)\n\n== Parceiro: Banco ==\n" +
		"\nA pessoa também pode pedir o registro de quem consultou estes dados.\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
}
