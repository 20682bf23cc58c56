package cyber

import (
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// StepID names a step of the catalogue.
type StepID string

// Step is something that a person can do about a finding, as the catalogue holds it.
type Step struct {
	ID StepID `yaml:"id"`
	// Link is the official page where it is done; empty when there is no one page.
	Link string `yaml:"link"`
	// Minutes is how long it takes, Days how soon after the finding it should be done.
	Minutes int `yaml:"minutes"`
	Days    int `yaml:"days"`
	// Essential steps mend what leaked: without them the finding is not solved. The others make the next one less
	// likely.
	Essential bool `yaml:"essential"`
	// Mends is what the finding is resolved as once the step is done; empty for a step that says nothing of that.
	Mends Resolution                    `yaml:"mends"`
	Texts map[partner.Language]stepText `yaml:"texts"`
	When  stepCondition                 `yaml:",inline"`
}

// within is how soon after the finding the step should be done.
func (s *Step) within() time.Duration { return time.Duration(s.Days) * 24 * time.Hour }

// stepText is a step in one language: Title in a few words, What in full. Perhaps is why where it is not known that the
// person's own record held the class.
type stepText struct {
	Title   string `yaml:"title"`
	What    string `yaml:"what"`
	Why     string `yaml:"why"`
	Perhaps string `yaml:"perhaps"`
}

// stepCondition says which findings a step is for: any of what it lists is enough.
type stepCondition struct {
	Always  bool              `yaml:"always"`
	Exposes []Exposed         `yaml:"exposes"`
	Assets  []identifier.Kind `yaml:"assets"`
	Sources []SourceKind      `yaml:"sources"`
	// Unless are classes beside which the step is not needed.
	Unless []Exposed `yaml:"unless"`
	// Certain asks that the class stood in the person's own record.
	Certain bool `yaml:"certain"`
}

// StepState is what a person said of a step.
type StepState string

// The states. A step of which nothing was said is to be done.
const (
	StepTodo    StepState = "todo"
	StepDone    StepState = "done"
	StepSkipped StepState = "skipped"
)

// IsKnown reports whether it is one of the states: see sqldb.Enumerated.
func (s StepState) IsKnown() bool {
	switch s {
	case StepTodo, StepDone, StepSkipped:
		return true
	}
	return false
}

// StepMark is what was said of a step of a finding.
type StepMark struct {
	Finding FindingID
	Step    StepID
	State   StepState
	At      time.Time
}

// holdsFor reports whether a finding is one that the step is for, and whether that is known of the person's own record.
// Of made-up data and spam lists nothing but care follows.
func (c *stepCondition) holdsFor(f *Finding) (fits, certain bool) {
	switch {
	case c.Always:
		return true, true
	case f.Breach.isDoubtful(), f.Breach.Has(c.Unless...):
		return false, false
	case slices.Contains(c.Sources, f.Breach.Kind), slices.Contains(c.Assets, f.Kind):
		return true, true
	case f.Basis() == BasisRow && f.Breach.Has(c.Exposes...), slices.Contains(c.Exposes, exposedClass(f.Kind)):
		return true, true
	}
	return !c.Certain && f.Breach.Has(c.Exposes...), false
}

// exposedClass returns the class of data that a watched value is itself: where it was found, it stood. Empty for a kind
// without one.
func exposedClass(k identifier.Kind) Exposed {
	switch k {
	case identifier.Email:
		return ExposedEmail
	case identifier.CPF:
		return ExposedCPF
	case identifier.Phone:
		return ExposedPhone
	case identifier.Card:
		return ExposedCard
	default:
		return ""
	}
}
