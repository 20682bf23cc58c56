package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

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
