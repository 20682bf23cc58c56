package intake

import (
	"path/filepath"
	"strings"
)

// passwords are tried on an input: those that were given, and names that stand beside it, as archives are often passed
// on under the name of their password.
func (run *importRun) passwords(in Input) []string {
	if in.path == "" {
		return run.spec.Passwords
	}
	if run.beside == nil {
		run.beside = map[string][]string{}
		for _, other := range run.spec.Inputs {
			if dir := filepath.Dir(other.path); other.path != "" && len(run.beside[dir]) < namesBeside {
				run.beside[dir] = append(run.beside[dir], fileStem(other.path))
			}
		}
	}
	dir := filepath.Dir(in.path)
	return append(
		append(append([]string{}, run.spec.Passwords...), fileStem(in.path), filepath.Base(dir)),
		run.beside[dir]...,
	)
}

// namesBeside is how many names of a folder are tried as passwords.
const namesBeside = 20

// fileStem returns a file's name without what tells its kind.
func fileStem(path string) string {
	name := filepath.Base(path)
	if dot := strings.IndexByte(name, '.'); dot > 0 {
		return name[:dot]
	}
	return name
}
