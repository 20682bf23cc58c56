package identifier_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
)

type outcomes struct{ Valid, Invalid []string }

type vectors struct {
	CPF, CNPJ, Card outcomes
	Phone           struct {
		SamePerson []struct {
			Written []string
			Old     []string `json:"old_form_in_leaks"`
		} `json:"same_person"`
		Invalid []string
	}
}

func readVectors(t *testing.T) (v vectors) {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPublishedVectors(t *testing.T) {
	v := readVectors(t)
	for name, set := range map[string]struct {
		outcomes
		parse func(string) (string, error)
		valid func(string) bool
	}{
		"cpf":  {v.CPF, func(s string) (string, error) { return identifier.ParseCPF(s, identifier.Required) }, identifier.IsValidCPF[string]},
		"cnpj": {v.CNPJ, func(s string) (string, error) { return identifier.ParseCNPJ(s, identifier.Required) }, identifier.ValidCNPJ[string]},
		"card": {v.Card, func(s string) (string, error) { return identifier.ParseCard(s, identifier.Required) }, nil},
	} {
		if len(set.Valid) == 0 || len(set.Invalid) == 0 {
			t.Fatalf("%s: no vectors", name)
		}
		for _, s := range set.Valid {
			if got, err := set.parse(s); err != nil || got != s {
				t.Errorf("%s %s: got %q, %v", name, s, got, err)
			}
			if set.valid != nil && !set.valid(s) {
				t.Errorf("%s %s: the check on bytes refuses it", name, s)
			}
		}
		for _, s := range set.Invalid {
			if got, err := set.parse(s); err == nil {
				t.Errorf("%s %s: accepted as %q", name, s, got)
			}
			if set.valid != nil && set.valid(s) {
				t.Errorf("%s %s: the check on bytes accepts it", name, s)
			}
		}
	}
}

func TestPublishedPhones(t *testing.T) {
	v := readVectors(t)
	if len(v.Phone.SamePerson) == 0 || len(v.Phone.Invalid) == 0 {
		t.Fatal("no vectors")
	}
	for _, person := range v.Phone.SamePerson {
		want, err := identifier.ParsePhone(person.Written[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range person.Written {
			if got, err := identifier.ParsePhone(s); err != nil || got != want {
				t.Errorf("%s: got %q, %v, want %q", s, got, err, want)
			}
			if got, err := identifier.ParseLeakedPhone(s); err != nil || got != want {
				t.Errorf("%s, leaked: got %q, %v, want %q", s, got, err, want)
			}
		}
		for _, s := range person.Old {
			if got, err := identifier.ParseLeakedPhone(s); err != nil || got != want {
				t.Errorf("%s, leaked: got %q, %v, want %q", s, got, err, want)
			}
			if got, err := identifier.ParsePhone(s); err == nil {
				t.Errorf("%s: an eight-digit mobile is accepted as %q", s, got)
			}
		}
	}
	for _, s := range v.Phone.Invalid {
		for name, parse := range map[string]func(string) (string, error){
			"plain": identifier.ParsePhone, "leaked": identifier.ParseLeakedPhone, "with country code": identifier.ParsePhoneWithCountryCode,
		} {
			if got, err := parse(s); err == nil {
				t.Errorf("%s, %s: accepted as %q", s, name, got)
			}
		}
	}
}
