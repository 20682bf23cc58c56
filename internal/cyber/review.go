package cyber

import (
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// Mark is where a list that is read newest first goes on; zero means at its beginning.
type Mark struct {
	At time.Time
	ID string
}

// FindingFilter picks findings for the operator; the zero value of a field does not restrict.
type FindingFilter struct {
	Partner partner.ID
	// User is a person of the partner.
	User         partner.UserHash
	Breach       string
	OpenOnly     bool
	ResolvedOnly bool
	// Kind is that of the value, in the words of identifier.Kind.
	Kind     string
	Severity Severity
	// From and To are a period, To exclusive.
	From, To time.Time
	// OldestFirst turns the order round; the findings of one breach come newest first always.
	OldestFirst bool
	Before      Mark
	Limit       int
}

// AssetFilter picks watched values in a status for the operator.
type AssetFilter struct {
	Status      Status
	Partner     partner.ID
	User        partner.UserHash
	Kind        string
	From, To    time.Time
	OldestFirst bool
	Before      Mark
	Limit       int
}

// DeviceFilter picks a partner's live devices for the operator.
type DeviceFilter struct {
	User        partner.UserHash
	System      System
	From, To    time.Time
	OldestFirst bool
	Before      Mark
	Limit       int
}

// Found is a finding together with the value it is about.
type Found struct {
	Finding Finding
	Asset   Asset
}

// OwnerOfValue is whose value it is.
func (f Found) OwnerOfValue() (partner.ID, partner.UserHash) { return f.Asset.Partner, f.Asset.User }
