package plan_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestParseWatch: kinds are written in one order, whatever the order in which they were asked for, and an empty text is
// none.
func TestParseWatch(t *testing.T) {
	for text, want := range map[string]struct {
		kinds []identifier.Kind
		text  string
	}{
		"":                     {nil, ""},
		" , ":                  {nil, ""},
		"phone":                {[]identifier.Kind{identifier.Phone}, "phone"},
		"cpf , email":          {[]identifier.Kind{identifier.Email, identifier.CPF}, "email,cpf"},
		"phone,cpf,email,cpf,": {plan.WatchedKinds, "email,cpf,phone"},
	} {
		w, err := plan.ParseWatch(text)
		if err != nil || !w.IsKnown() {
			t.Errorf("%q: %v, %v", text, w, err)
		}
		if kinds := w.ListKinds(); len(kinds) > 0 || len(want.kinds) > 0 {
			difftest.Check(t, text+", the kinds", kinds, want.kinds)
		}
		difftest.Check(t, text+" as text", w.String(), want.text)
		if w != plan.NewWatch(want.kinds...) {
			t.Errorf("%q is not what NewWatch makes of its kinds", text)
		}
		for _, k := range plan.WatchedKinds {
			if w.HasKind(k) != slices.Contains(want.kinds, k) {
				t.Errorf("%q has %v: %t", text, k, w.HasKind(k))
			}
		}
	}
	for _, text := range []string{"emails", "email cpf", "credit_card", "email,domain"} {
		if _, err := plan.ParseWatch(text); !errors.Is(err, plan.ErrInvalid) {
			t.Errorf("%q was accepted: %v", text, err)
		}
	}
}

// TestUnknownWatch: a kind that no plan can watch is not known, also beside those that are.
func TestUnknownWatch(t *testing.T) {
	for _, w := range []plan.Watch{
		plan.NewWatch(identifier.Card),
		plan.NewWatch(identifier.Email, identifier.Domain),
		1 << 7,
	} {
		if w.IsKnown() {
			t.Errorf("%08b is known", w)
		}
	}
}

// TestWatchAsText: flags and JSON read what they write, and keep what they have when the text is refused.
func TestWatchAsText(t *testing.T) {
	of := plan.NewWatch(identifier.CPF, identifier.Phone)
	text, err := json.Marshal(of)
	if err != nil || string(text) != `"cpf,phone"` {
		t.Fatal(string(text), err)
	}
	var back plan.Watch
	if err := json.Unmarshal(text, &back); err != nil || back != of {
		t.Error(back, err)
	}
	if err := json.Unmarshal([]byte(`"cnpj"`), &back); !errors.Is(err, plan.ErrInvalid) {
		t.Error(back, err)
	}
}
