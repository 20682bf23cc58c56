package partner_test

import (
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
)

func TestLanguages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]partner.Language{"": partner.Portuguese, "pt-BR": partner.Portuguese, "es": partner.Spanish, "en": partner.English} {
		if got, err := partner.ParseLanguage(text); err != nil || got != want {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
	for _, text := range []string{"pt", "PT-BR", "fr", "en ", "es-419"} {
		if _, err := partner.ParseLanguage(text); err == nil {
			t.Errorf("%q is a language", text)
		}
	}
}
