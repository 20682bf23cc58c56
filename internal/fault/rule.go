package fault

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is what a refusal says was broken. Rules are made in the catalogue alone, so that none lacks a sentence: a fault
// cannot be raised with a rule that is not in it.
type Rule struct {
	code, english, portuguese string
	partners                  bool
}

// catalogue finds a rule by its code, for what was kept as JSON.
var catalogue = map[string]Rule{}

// addRule adds a rule to the catalogue. It panics where the code is taken or a sentence is missing, which any test finds.
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

// Sentence is a rule with its values.
type Sentence struct {
	Rule Rule
	Args []any
}

// spoken is a value of a sentence that is a sentence itself.
type spoken interface {
	English() string
	Portuguese() string
}

// English returns what partners and the command line read.
func (s Sentence) English() string {
	args := slices.Clone(s.Args)
	for i, a := range args {
		if inner, ok := a.(spoken); ok {
			args[i] = inner.English()
		}
	}
	return fmt.Sprintf(s.Rule.english, args...)
}

// Portuguese returns what operators read.
func (s Sentence) Portuguese() string {
	args := make([]any, min(len(s.Args), strings.Count(s.Rule.portuguese, "%s")))
	for i := range args {
		if inner, ok := s.Args[i].(spoken); ok {
			args[i] = inner.Portuguese()
			continue
		}
		args[i] = groupDigits(fmt.Sprint(s.Args[i]))
	}
	return fmt.Sprintf(s.Rule.portuguese, args...)
}

// groupDigits writes large numbers in groups of three: 1.000.000.
func groupDigits(text string) string {
	if len(text) <= 4 || strings.Trim(text, "0123456789") != "" {
		return text
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "." + text[i:]
	}
	return text
}
