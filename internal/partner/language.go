package partner

import (
	"slices"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Language is one that a person is told things in, as HTML names it.
type Language string

// The languages.
const (
	Portuguese Language = "pt-BR"
	Spanish    Language = "es"
	English    Language = "en"
)

// ListLanguages returns the supported languages; the first is the default.
func ListLanguages() []Language { return []Language{Portuguese, Spanish, English} }

// ErrLanguage is for a language that nothing is written in.
var ErrLanguage = fault.New(fault.Invalid, "language.invalid")

// ParseLanguage reads a language by its exact name; the empty text is Portuguese.
func ParseLanguage(text string) (Language, error) {
	if text == "" {
		return Portuguese, nil
	}
	if !slices.Contains(ListLanguages(), Language(text)) {
		return "", ErrLanguage.With("lang", fault.OneOf, "pt-BR, es, en")
	}
	return Language(text), nil
}
