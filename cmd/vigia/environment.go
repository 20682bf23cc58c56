package main

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/vigiahq/vigia/internal/platform/config"
)

// otherVariables are read by something else than a flag: the settings, and the programs of the demo and of the guides.
var otherVariables = []string{"VIGIA_SETTINGS_FILE", "VIGIA_URL", "VIGIA_KEY"}

// injectedVariable matches what Kubernetes and Docker put into the environment beside a service named vigia.
var injectedVariable = regexp.MustCompile(`^VIGIA_([A-Z0-9_]+_)?(SERVICE_(HOST|PORT)|PORT)(_|$)|^VIGIA_TEST_`)

// warnOfUnknownVariables names the variables that look like settings of ours and are none, since a misspelt one would
// otherwise be ignored in silence.
func warnOfUnknownVariables(app *kong.Application, environment []string, o *output) {
	known := knownVariables(app)
	for _, setting := range environment {
		name, _, _ := strings.Cut(setting, "=")
		if !strings.HasPrefix(name, "VIGIA_") || slices.Contains(known, name) || injectedVariable.MatchString(name) {
			continue
		}
		text := name + " is no setting of Vigia and is ignored"
		if near := nearestName(name, known); near != "" {
			text += "; did you mean " + near + "?"
		}
		o.warn(text)
	}
}

// knownVariables returns every variable that a flag reads, and its _FILE variant where there is one.
func knownVariables(app *kong.Application) []string {
	known := slices.Clone(otherVariables)
	_ = kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, isFlag := node.(*kong.Flag); isFlag {
			known = append(known, flag.Envs...)
		}
		return next(nil)
	})
	for _, name := range slices.Clone(known) {
		if slices.Contains(config.SecretVariables, name) {
			known = append(known, name+"_FILE")
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// nearestName returns the name that differs by the fewest letters, at most three; empty where none is that near.
func nearestName(name string, known []string) string {
	const most = 3
	nearest := slices.MinFunc(known, func(a, b string) int {
		return cmp.Compare(editDistance(name, a), editDistance(name, b))
	})
	if editDistance(name, nearest) > most {
		return ""
	}
	return nearest
}

// editDistance counts the letters that have to be inserted, deleted or replaced to turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
