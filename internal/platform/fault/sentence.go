package fault

import (
	"fmt"
	"slices"
	"strings"
)

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
