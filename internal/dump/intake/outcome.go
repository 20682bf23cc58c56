package intake

import (
	"strings"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/leak"
)

// Outcome is what an import did.
type Outcome struct {
	leak.Record
	// Unchanged says that a renewal brought nothing that the breach did not have.
	Unchanged bool
	// Skips are inputs, or members of archives, that could not be read to their end; the first hundred of them.
	Skips []container.Skip
}

// Quarantined returns how many of the inputs ended two readers, or took too much processor time.
func (o Outcome) Quarantined() (n int64) {
	for _, s := range o.Skips {
		if strings.HasPrefix(s.Reason, quarantined) {
			n++
		}
	}
	return n
}

// countVerdict counts an input that has been walked.
func (run *importRun) countVerdict(report *container.Report) {
	counts := [...]*int64{
		container.Read:   &run.verdicts.Read,
		container.Partly: &run.verdicts.Partly,
		container.Unread: &run.verdicts.Unread,
	}
	*counts[report.Verdict()]++
	for _, s := range report.Skips {
		run.countProblem(s)
	}
	run.verdicts.Problems += report.Skipped - int64(len(report.Skips))
	run.verdicts.CountReason("other reasons", report.Skipped-int64(len(report.Skips)))
}

// Bounds of what an outcome says of skipped members; the others are counted.
const (
	skipsKept     = 100
	reasonLongest = 100
)

// countProblem notes something that was not read. Only the reason is kept: names belong to the dump. Both come from the
// reader, which may have been taken over.
func (run *importRun) countProblem(s container.Skip) {
	own := ""
	if run.input < len(run.spec.Inputs) {
		own = run.spec.Inputs[run.input].Name
	}
	if member, ok := strings.CutPrefix(s.Name, own); ok { // how the operator calls the input stays as it is
		s.Name = own + reader.CleanText(member)
	} else {
		s.Name = reader.CleanText(s.Name)
	}
	s.Reason = reader.CleanText(s.Reason)
	if len(run.skips) < skipsKept {
		run.skips = append(run.skips, s)
	}
	run.verdicts.Problems++
	run.verdicts.CountReason(s.Reason[:min(len(s.Reason), reasonLongest)], 1)
}
