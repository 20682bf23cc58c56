package mcp

import (
	"strings"
	"unicode/utf8"
)

// hidden stands for what is not shown.
const hidden = "***"

// maskValue returns a watched value as an assistant may show it: enough for its owner to know it again, too little for
// anyone else. What it does not understand it hides whole.
func maskValue(kind, value string) string {
	switch kind {
	case "email":
		at := strings.LastIndexByte(value, '@')
		if at <= 0 {
			return hidden
		}
		return firstRune(value) + hidden + "@" + maskDomain(value[at+1:])
	case "domain":
		return maskDomain(value)
	case "cpf":
		if d := onlyDigits(value); len(d) == 11 {
			return hidden + "." + hidden + "." + d[6:9] + "-**"
		}
	case "phone", "credit_card":
		if d := onlyDigits(value); len(d) >= 8 {
			return "****" + d[len(d)-4:]
		}
	case "pix_key":
		if len(value) == 36 { // a random key, which is a UUID
			return hidden + "-" + value[32:]
		}
	}
	return hidden
}

// maskDomain returns a domain of which only the first letter and the last label are shown.
func maskDomain(domain string) string {
	dot := strings.LastIndexByte(domain, '.')
	if dot <= 0 {
		return hidden
	}
	return firstRune(domain) + hidden + domain[dot:]
}

// firstRune returns the first character of a text.
func firstRune(text string) string {
	_, n := utf8.DecodeRuneInString(text)
	return text[:n]
}

// onlyDigits returns the digits of a number as people write it.
func onlyDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text)
}
