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

// FindingFilter picks findings of all partners for the operator; the zero value of a field does not restrict.
type FindingFilter struct {
	Breach   string
	OpenOnly bool
	Before   Mark
	Limit    int
}

// AssetFilter picks watched values of all partners for the operator.
type AssetFilter struct {
	Status Status
	Before Mark
	Limit  int
}

// Found is a finding together with the value it is about.
type Found struct {
	Finding Finding
	Asset   Asset
}

// Owner is whose value it is.
func (f Found) Owner() (partner.ID, partner.UserHash) { return f.Asset.Partner, f.Asset.User }
