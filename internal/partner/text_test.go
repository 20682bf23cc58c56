package partner_test

import (
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
)

func TestTextsHoldNoControlCharacters(t *testing.T) {
	for _, c := range []struct {
		text             string
		line, paragraphs bool
	}{
		{"Ana d'Ávila\u00a0Ñuñez", true, true},
		{"", false, false},
		{strings.Repeat("á", 20), true, true},
		{strings.Repeat("á", 21), false, false},
		{"a\nb", false, true},
		{"a\tb\r\n", false, true},
		{"a\x00b", false, false},
		{"a\x1bb", false, false},
		{"a\x7fb", false, false},
		{"a\u0085b", false, false},
		{"a\xff", false, false},
	} {
		if got := partner.IsPrintableLine(c.text, 1, 20); got != c.line {
			t.Errorf("Line(%q) = %v", c.text, got)
		}
		if got := partner.Paragraphs(c.text, 1, 20); got != c.paragraphs {
			t.Errorf("Paragraphs(%q) = %v", c.text, got)
		}
	}
}
