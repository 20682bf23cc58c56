package identifier

import (
	"strings"
	"unicode/utf8"
)

// hidden stands for what a mask leaves out. Its length is fixed, so that it tells nothing of the length of the value.
const hidden = "***"

// MaskValue returns a value as it may be shown on a screen: enough for its owner to know it again, too little for
// anyone else. It takes normal forms and values as people write them; what it does not understand it hides whole.
func MaskValue(k Kind, value string) string {
	switch k {
	case Email:
		at := strings.LastIndexByte(value, '@')
		if at <= 0 {
			return hidden
		}
		return firstRune(value[:at]) + hidden + "@" + maskDomain(value[at+1:])
	case Domain:
		return maskDomain(value)
	case CPF:
		d := onlyDigits(value)
		if len(d) != cpfDigits {
			return hidden
		}
		return hidden + "." + hidden + "." + d[6:9] + "-**" // with three digits more a thousand people are left
	case Phone:
		return maskToLastFour(value, landlineBR-2)
	case Card:
		return maskToLastFour(value, cardShortest)
	case PixKey:
		if len(value) != pixKeyLength {
			return hidden
		}
		return hidden + "-" + value[pixKeyLength-4:]
	case CNPJ:
		// The company is in the register; which of its branches is not shown.
		normal, err := ParseWrittenCNPJ(value, Waived)
		if err != nil {
			return hidden
		}
		return "**." + normal[2:5] + "." + normal[5:8] + "/****-**"
	}
	return hidden
}

// maskDomain returns a domain of which only the first letter and the last label are shown.
func maskDomain(s string) string {
	dot := strings.LastIndexByte(s, '.')
	if dot <= 0 {
		return hidden
	}
	return firstRune(s) + hidden + s[dot:]
}

// maskToLastFour shows the end of a number that has at least shortest digits.
func maskToLastFour(s string, shortest int) string {
	d := onlyDigits(s)
	if len(d) < shortest {
		return hidden
	}
	return "****" + d[len(d)-4:]
}

// firstRune returns the first character of s; empty for an empty s.
func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

func onlyDigits(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if isASCIIDigit(s[i]) {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// MaskForOwner shows of a value enough for the person whose it is to know it, and not enough for one who looks over
// their shoulder to use it.
func MaskForOwner(k Kind, value string) string {
	const dots = "•••"
	switch k {
	case Email:
		at := strings.LastIndexByte(value, '@')
		if at <= 0 {
			return dots
		}
		name := []rune(value[:at])
		return string(name[:min(2, len(name)-1)]) + dots + value[at:]
	case CPF:
		if d := onlyDigits(value); len(d) == cpfDigits {
			return dots + "." + d[3:6] + "." + d[6:9] + "-••"
		}
	case Phone:
		d := strings.TrimPrefix(onlyDigits(value), "55")
		if len(d) == 10 || len(d) == 11 {
			return "(" + d[:2] + ") " + d[2:3] + "••••-" + d[len(d)-4:]
		}
	case Domain, CNPJ:
		return value
	case Card, PixKey:
	}
	return MaskValue(k, value)
}
