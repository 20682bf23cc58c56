package cyber

import (
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

// Affected is a person with findings, for the operator.
type Affected struct {
	// Asset is one of the values that were found.
	Asset Asset
	// Findings are how many fit, Open how many of them are open.
	Findings, Open int64
	// Newest is when the last of them was found.
	Newest time.Time
}

// Found is a finding together with the value it is about.
type Found struct {
	Finding Finding
	Asset   Asset
}

// OwnerOfValue is whose value it is.
func (f Found) OwnerOfValue() (partner.ID, partner.UserHash) { return f.Asset.Partner, f.Asset.User }
