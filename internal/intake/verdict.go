package intake

import (
	"path/filepath"
	"strings"

	"github.com/vigiahq/vigia/internal/container"
)

// passwords are tried on an input: those that were given, and names that stand beside it, as archives are often passed on under
// the name of their password.
func (run *importRun) passwords(in Input) []string {
	if in.source.Path == "" {
		return run.spec.Passwords
	}
	if run.beside == nil {
		run.beside = map[string][]string{}
		for _, other := range run.spec.Inputs {
			if dir := filepath.Dir(other.source.Path); other.source.Path != "" && len(run.beside[dir]) < namesBeside {
				run.beside[dir] = append(run.beside[dir], fileStem(other.source.Path))
			}
		}
	}
	dir := filepath.Dir(in.source.Path)
	return append(append(append([]string{}, run.spec.Passwords...), fileStem(in.source.Path), filepath.Base(dir)), run.beside[dir]...)
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

// countVerdict counts an input that has been walked.
func (run *importRun) countVerdict(report *container.Report) {
	switch report.Verdict() {
	case container.Read:
		run.verdicts.Read++
	case container.Partly:
		run.verdicts.Partly++
	case container.Unread:
		run.verdicts.Unread++
	}
	for _, s := range report.Skips {
		run.countProblem(s)
	}
	run.verdicts.Problems += report.Skipped - int64(len(report.Skips))
	run.verdicts.CountReason("other reasons", report.Skipped-int64(len(report.Skips)))
}

const (
	skipsKept     = 100
	reasonLongest = 100
)

// countProblem notes something that was not read. Only the reason is kept: names belong to the dump.
func (run *importRun) countProblem(s container.Skip) {
	if len(run.skips) < skipsKept {
		run.skips = append(run.skips, s)
	}
	run.verdicts.Problems++
	run.verdicts.CountReason(s.Reason[:min(len(s.Reason), reasonLongest)], 1)
}
