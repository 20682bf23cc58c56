package cyber

import (
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// What an operator picks of findings, watched values and devices. A list, its total, its export and the figure that
// leads to it share one filter, so that they cannot differ.

// Mark is where a list that is read newest first goes on; zero means at its beginning.
type Mark struct {
	At time.Time
	ID string
}

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

// Affected is a person with findings, for the operator.
type Affected struct {
	// Asset is one of the values that were found.
	Asset Asset
	// Findings are how many fit, Open how many of them are open.
	Findings, Open int64
	// Newest is when the last of them was found.
	Newest time.Time
}

// AssetFilter picks watched values for the operator, of any status unless one is named. StatusMonitored are those that
// were looked for, and not found.
type AssetFilter struct {
	Status  Status
	Partner partner.ID
	// LiveOnly leaves out those of sandboxes.
	LiveOnly bool
	// WaitsOnly leaves those that were not looked for in past breaches yet.
	WaitsOnly   bool
	User        partner.UserHash
	Kind        string
	From, To    time.Time
	OldestFirst bool
	Before      Mark
	Limit       int
}

// DeviceFilter picks a partner's live devices for the operator.
type DeviceFilter struct {
	User   partner.UserHash
	System System
	// ProtectedOnly leaves those on which the program was installed.
	ProtectedOnly bool
	From, To      time.Time
	OldestFirst   bool
	Before        Mark
	Limit         int
}

// Found is a finding together with the value it is about.
type Found struct {
	Finding Finding
	Asset   Asset
}

// OwnerOfValue is whose value it is.
func (f Found) OwnerOfValue() (partner.ID, partner.UserHash) { return f.Asset.Partner, f.Asset.User }
