package cyber

import (
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// FindingState parts findings by what became of them. Lists and figures use the same words, so that a number and the
// rows behind it cannot differ.
type FindingState string

// The states. A standing finding is open or resolved: one that was retracted was never true, so no figure counts it
// but its own.
const (
	FindingAny       FindingState = ""
	FindingOpen      FindingState = "open"
	FindingResolved  FindingState = "resolved"
	FindingStanding  FindingState = "standing"
	FindingRetracted FindingState = "retracted"
)

// State returns which of open, resolved and retracted a finding is.
func (f Finding) State() FindingState {
	switch f.Resolution {
	case "":
		return FindingOpen
	case ResolvedRetracted:
		return FindingRetracted
	default:
		return FindingResolved
	}
}

// FindingFilter picks findings for the operator; the zero value of a field does not restrict.
type FindingFilter struct {
	Partner partner.ID
	// LiveOnly leaves out what sandboxes made up.
	LiveOnly bool
	// User is a person of the partner.
	User   partner.UserHash
	Breach string
	State  FindingState
	// AlertedOnly leaves the findings that the partner was told of: those that were not known before.
	AlertedOnly bool
	// Kind is that of the value, in the words of identifier.Kind.
	Kind string
	// Severities are those that fit; none means all.
	Severities []Severity
	// Classes fit if the value's own records, or else the breach, expose one of them; none means all.
	Classes []Exposed
	// From and To are a period, To exclusive.
	From, To time.Time
	// OldestFirst turns the order round; the findings of one breach come newest first always.
	OldestFirst bool
	Before      Mark
	Limit       int
}

// FitsGravity reports whether a severity and what is exposed are among those that the filter names.
func (f FindingFilter) FitsGravity(severity Severity, exposes []Exposed) bool {
	isExposed := func(class Exposed) bool { return slices.Contains(exposes, class) }
	return (len(f.Severities) == 0 || slices.Contains(f.Severities, severity)) &&
		(len(f.Classes) == 0 || slices.ContainsFunc(f.Classes, isExposed))
}

// FindingGroup is how many findings are alike in all that figures tell apart.
type FindingGroup struct {
	Partner partner.ID
	Breach  string
	// Day is the calendar day on which they were found: see partner.DayNumber.
	Day      int64
	State    FindingState
	Alerted  bool
	Severity Severity
	Exposes  []Exposed
	Count    int64
}

// Fits reports whether the findings of a group are of a filter's severities and classes, which no column holds.
func (g FindingGroup) Fits(f FindingFilter) bool {
	return f.FitsGravity(g.Severity, g.Exposes)
}

// CountFindings adds up the groups that fits picks.
func CountFindings(groups []FindingGroup, fits func(FindingGroup) bool) (n int64) {
	for _, g := range groups {
		if fits(g) {
			n += g.Count
		}
	}
	return n
}
