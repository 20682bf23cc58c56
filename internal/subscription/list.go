package subscription

import (
	_ "time/tzdata" // the binary knows São Paulo's clock wherever it runs

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// ListState is which subscriptions an operator's list holds.
type ListState string

// The states of a list: those that have not ended, suspended ones of them, and those that have.
const (
	ListRunning   ListState = ""
	ListSuspended ListState = "suspended"
	ListEnded     ListState = "ended"
)

// ListFilter picks subscriptions of a partner for the operator; the zero value of a field does not restrict.
type ListFilter struct {
	State ListState
	Plan  plan.ID
	// User is the person, by the partner's user hash.
	User partner.UserHash
	// From and To are a period of first days, To inclusive.
	From, To    Day
	NewestFirst bool
	// After is the number to go on from, exclusive; 0 means at the beginning.
	After int64
	Limit int
}

// FitsFilter reports whether a list that is looked at today holds a subscription.
func (f ListFilter) FitsFilter(s Subscription, today Day) bool {
	return s.Over(today) == (f.State == ListEnded) && (f.State != ListSuspended || !s.SuspendedAt.IsZero()) &&
		(f.Plan == "" || s.Plan == f.Plan) && s.Start >= f.From && (f.To == 0 || s.Start <= f.To)
}
