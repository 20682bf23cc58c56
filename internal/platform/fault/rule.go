package fault

import (
	"slices"
	"strings"
)

// Rule is what a refusal says was broken. Rules are made in the catalogue alone, so that none lacks a sentence: a fault
// cannot be raised with a rule that is not in it.
type Rule struct {
	code, english, portuguese string
	partners                  bool
}

// The catalogue is every rule that a refusal can name, with its sentences side by side, in the files catalogue_*.go.
// Numbers and names of a refusal go where a sentence has %s or %d; a Portuguese sentence may leave the last ones out. A
// rule that partners can meet in x-error-detail is a partnerRule: the reference explains it.

// catalogue finds a rule by its code, for what was kept as JSON.
var catalogue = map[string]Rule{}

// addRule adds a rule to the catalogue. It panics where the code is taken or a sentence is missing, which any test
// finds.
func addRule(code, english, portuguese string) Rule {
	if _, taken := catalogue[code]; taken || english == "" || portuguese == "" {
		panic("fault: rule " + code + " is there twice, or lacks a sentence")
	}
	r := Rule{code: code, english: english, portuguese: portuguese}
	catalogue[code] = r
	return r
}

// partnerRule adds a rule that partners can meet.
func partnerRule(code, english, portuguese string) Rule {
	r := addRule(code, english, portuguese)
	r.partners = true
	catalogue[code] = r
	return r
}

// Rules returns the catalogue, by code.
func Rules() []Rule {
	list := make([]Rule, 0, len(catalogue))
	for _, r := range catalogue {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Rule) int { return strings.Compare(a.code, b.code) })
	return list
}

// Code names the rule.
func (r Rule) Code() string { return r.code }

// ForPartners reports whether partners can meet the rule in x-error-detail.
func (r Rule) ForPartners() bool { return r.partners }

// Pattern returns the English sentence with its verbs.
func (r Rule) Pattern() string { return r.english }

// Said returns the rule with its values, to be said inside another one.
func (r Rule) Said(args ...any) Sentence { return Sentence{Rule: r, Args: args} }
