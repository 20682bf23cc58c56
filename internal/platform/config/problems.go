package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problems is every fault of a configuration.
type Problems []string

// Error lists them, one a line.
func (p Problems) Error() string {
	return "the configuration has " + countNoun(len(p), "problem") + ":\n  - " + strings.Join(p, "\n  - ")
}

// And adds the problems that err lists, but for those of flags that p has a problem of already: a value that cannot be
// read is out of bounds too.
func (p Problems) And(err error) Problems {
	var more Problems
	errors.As(err, &more)
	for _, problem := range more {
		flag, _, _ := strings.Cut(problem, ":")
		p.addProblemIf(
			!slices.ContainsFunc(p, func(known string) bool { return strings.HasPrefix(known, flag+":") }),
			problem,
		)
	}
	return p
}

// addProblemIf adds a problem where something is wrong.
func (p *Problems) addProblemIf(wrong bool, text string) {
	if wrong {
		*p = append(*p, text)
	}
}

// problemsAsError returns nil when there are none.
func (p Problems) problemsAsError() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// countNoun writes a number with its noun.
func countNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// quoteValue writes a value as errors show it.
func quoteValue(s string) string { return fmt.Sprintf("%q", s) }
