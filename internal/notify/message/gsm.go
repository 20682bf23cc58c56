package message

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The alphabet of GSM 03.38: characters of one septet, and those of two. A text that leaves it is sent in 16 bits and
// has 70 characters, so messages are brought back into it.
const (
	basicGSM = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ " +
		"!\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	twoGSM = "^{}\\[~]|€"
)

// alike are characters that have a plain look-alike and no decomposition that leads to it.
var alike = strings.NewReplacer(
	"“",
	`"`,
	"”",
	`"`,
	"‘",
	"'",
	"’",
	"'",
	"–",
	"-",
	"—",
	"-",
	"…",
	"...",
	"º",
	"o",
	"ª",
	"a",
	"\u00a0",
	" ",
	"•",
	"-",
)

// countSeptets returns how long a folded text is.
func countSeptets(text string) (n int) {
	for _, r := range text {
		n++
		if strings.ContainsRune(twoGSM, r) {
			n++
		}
	}
	return n
}

// foldToGSM writes a text in the alphabet: what has no letter there loses its accent, or becomes a question mark.
func foldToGSM(text string) string {
	var b strings.Builder
	for _, r := range alike.Replace(norm.NFC.String(text)) {
		if strings.ContainsRune(basicGSM, r) || strings.ContainsRune(twoGSM, r) {
			b.WriteRune(r)
			continue
		}
		first := []rune(norm.NFD.String(string(r)))[0]
		switch {
		case first < unicode.MaxASCII && strings.ContainsRune(basicGSM, first):
			b.WriteRune(first)
		case unicode.Is(unicode.Mn, r):
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// foldValue folds a value and leaves out what would take two septets, so that its length is that of its characters.
func foldValue(value string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(twoGSM, r) {
			return -1
		}
		return r
	}, foldToGSM(value))
}
