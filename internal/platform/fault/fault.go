// Package fault is the one error type that crosses floors.
//
// A rule returns a named fault, the storage wraps what an engine said, and only the edges (the partner API, the
// console, the command line) turn a fault into a status, a sentence or an exit code. The list of kinds is closed, its
// zero value is Internal, and the text of a cause never reaches a caller: it is for the log.
package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is the class of a fault: it decides how an edge answers.
type Kind uint8

// The kinds. Internal comes first so that a forgotten kind is never shown as anything milder.
const (
	Internal Kind = iota
	Invalid
	Unauthenticated
	Forbidden
	NotFound
	Conflict
	TooLarge
	UnsupportedType
	Unprocessable
	RateLimited
	Unavailable
)

var kindNames = [...]string{
	"internal", "invalid", "unauthenticated", "forbidden", "not_found", "conflict", "too_large", "unsupported_type",
	"unprocessable", "rate_limited", "unavailable",
}

// String returns the name that logs and metrics use.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Internal]
}

// Error is a fault. Sentinels stand beside the rule that returns them and are compared by Code.
type Error struct {
	Kind Kind
	// Code is stable and names the fault: "asset.not_found".
	Code string
	// Field is what was wrong in what the caller sent; empty where the rule is about all of it.
	Field string
	// Broken is the rule that was broken, with its values; nil where the code says it all. It may be shown to the
	// caller, so it never repeats a value that the caller sent.
	Broken *Sentence
	// Remark is for the terminal, the log and vendors of dumps, in English: which file is damaged, and what to do.
	Remark string
	// Err is the cause, for the log only.
	Err error
}

// New makes a sentinel.
func New(kind Kind, code string) *Error { return &Error{Kind: kind, Code: code} }

// Error describes the fault for logs.
func (e *Error) Error() string {
	s := e.Code
	if detail := e.Detail(); detail != "" {
		s += ": " + detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Detail says in English which field broke which rule, or what was remarked.
func (e *Error) Detail() string {
	if e.Broken == nil {
		return e.Remark
	}
	if e.Field == "" {
		return e.Broken.English()
	}
	return e.Field + ": " + e.Broken.English()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is compares by code, so a fault with a cause still equals its sentinel.
func (e *Error) Is(target error) bool {
	var other *Error
	return errors.As(target, &other) && other.Code == e.Code
}

// Because returns a copy that carries cause.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.Err = cause
	return &c
}

// With returns a copy that tells the caller what was wrong: the field and the rule, never the value. It stands at some
// 400 places that are rarely reached, so one copy of its machine code has to do.
//
//go:noinline
func (e *Error) With(field string, rule Rule, args ...any) *Error {
	c := *e
	c.Field, c.Broken = field, &Sentence{Rule: rule, Args: args}
	return &c
}

// Note returns a copy with a remark.
//
//go:noinline
func (e *Error) Note(format string, args ...any) *Error {
	c := *e
	c.Remark = fmt.Sprintf(format, args...)
	return &c
}

// In returns a copy whose field stands inside another one.
func (e *Error) In(outer string) *Error {
	c := *e
	c.Field = outer
	if e.Field != "" {
		c.Field += ": " + e.Field
	}
	return &c
}

// When returns the fault where a rule is broken, and nil otherwise. With errors.Join it tells a caller all that is
// wrong at once; the first fault decides how an edge answers.
func When(broken bool, e *Error) error {
	if broken {
		return e
	}
	return nil
}

// KindOf returns the kind of the first fault in err's chain, and Internal for everything else.
func KindOf(err error) Kind {
	var f *Error
	if errors.As(err, &f) {
		return f.Kind
	}
	return Internal
}

// CodeOf returns the code of the first fault in err's chain, and "internal" for everything else.
func CodeOf(err error) string {
	var f *Error
	if errors.As(err, &f) {
		return f.Code
	}
	return "internal"
}

// keptSentence is a sentence as it is kept: values are text, and sentences inside it are kept in the same way.
type keptSentence struct {
	Code string `json:"code,omitempty"`
	Rule string `json:"rule,omitempty"`
	Args []any  `json:"args,omitempty"`
}

// keptMark parts the text of a kept fault from its JSON, so that old lines without it stay readable.
const keptMark = "\n{"

// Keep returns an error as text that a row can hold: what it says in English, and below that the code and the rule of
// its fault, by which Recall says it in Portuguese.
func Keep(err error) string {
	var f *Error
	if !errors.As(err, &f) {
		return err.Error()
	}
	kept := keptSentence{Code: f.Code}
	if f.Broken != nil {
		kept = keep(*f.Broken)
		kept.Code = f.Code
	}
	raw, merr := json.Marshal(kept)
	if merr != nil {
		return err.Error()
	}
	return err.Error() + "\n" + string(raw)
}

// keep returns a sentence in the form in which it is stored: rules by their code, arguments as English text.
func keep(s Sentence) keptSentence {
	kept := keptSentence{Rule: s.Rule.code}
	for _, a := range s.Args {
		switch a := a.(type) {
		case Sentence:
			kept.Args = append(kept.Args, keep(a))
		case spoken:
			kept.Args = append(kept.Args, a.English())
		default:
			kept.Args = append(kept.Args, fmt.Sprint(a))
		}
	}
	return kept
}

// Recalled is what was kept of an error.
type Recalled struct {
	// Text is in English; Code and Said are empty where the error was no fault, or its fault had no rule.
	Text, Code string
	Said       *Sentence
}

// English returns what the error said.
func (r Recalled) English() string { return r.Text }

// Portuguese returns what its rule says, and otherwise where to look.
func (r Recalled) Portuguese() string {
	if r.Said == nil {
		return "o registro do servidor tem o motivo."
	}
	return r.Said.Portuguese()
}

// Recall reads what Keep returned.
func Recall(text string) Recalled {
	said, raw, found := strings.Cut(text, keptMark)
	var kept struct {
		Code string
		Rule string
		Args []json.RawMessage
	}
	if !found || json.Unmarshal([]byte("{"+raw), &kept) != nil { // or it was cut
		return Recalled{Text: said}
	}
	return Recalled{Text: said, Code: kept.Code, Said: recall(kept.Rule, kept.Args)}
}

// recall is the inverse of keep. It returns nil for a code that the catalogue does not have any more; the caller then
// has the English text only.
func recall(code string, raw []json.RawMessage) *Sentence {
	rule, known := catalogue[code]
	if !known {
		return nil
	}
	s := &Sentence{Rule: rule}
	for _, r := range raw {
		var text string
		var inner struct {
			Rule string
			Args []json.RawMessage
		}
		switch {
		case json.Unmarshal(r, &text) == nil:
			s.Args = append(s.Args, text)
		case json.Unmarshal(r, &inner) == nil:
			if said := recall(inner.Rule, inner.Args); said != nil {
				s.Args = append(s.Args, *said)
			}
		}
	}
	return s
}

// Rule is what a refusal says was broken. Rules are made in the catalogue alone, so that none lacks a sentence: a fault
// cannot be raised with a rule that is not in it.
type Rule struct {
	code, english, portuguese string
	partners                  bool
}

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
