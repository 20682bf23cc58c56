package identifier

import "slices"

// cepDigits is the length of a Brazilian postal code.
const cepDigits = 8

// states are the 26 states of Brazil and the federal district.
var states = []string{
	"AC",
	"AL",
	"AM",
	"AP",
	"BA",
	"CE",
	"DF",
	"ES",
	"GO",
	"MA",
	"MG",
	"MS",
	"MT",
	"PA",
	"PB",
	"PE",
	"PI",
	"PR",
	"RJ",
	"RN",
	"RO",
	"RR",
	"RS",
	"SC",
	"SE",
	"SP",
	"TO",
}

// ParseState reads the two capital letters of a Brazilian state.
func ParseState(s string) (string, error) {
	if s == "" {
		return "", ErrEmpty
	}
	if !slices.Contains(states, s) {
		return "", ErrState
	}
	return s, nil
}

// ParseCEP reads a postal code of eight digits and nothing else.
func ParseCEP(s string) (string, error) {
	if s == "" {
		return "", ErrEmpty
	}
	if !allDigits(s) {
		return "", ErrCharacter
	}
	if len(s) != cepDigits {
		return "", ErrLength
	}
	return s, nil
}
