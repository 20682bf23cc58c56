package alert

import (
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// DeliveryFilter picks deliveries in a state for the operator, latest first; those that are not over from the oldest.
// The zero value of any other field does not restrict.
type DeliveryFilter struct {
	State   DeliveryState
	Partner partner.ID
	// LiveOnly leaves out deliveries of sandboxes.
	LiveOnly bool
	// User is a person of the partner.
	User partner.UserHash
	Type Type
	// Endpoint is one destination of the partner's.
	Endpoint EndpointID
	// From and To are a period of the end, To exclusive.
	From, To time.Time
	// Before is where to go on.
	Before DeliveryMark
	Limit  int
}

// DeliveryMark is where a list of deliveries goes on; zero means at its beginning.
type DeliveryMark struct {
	At       time.Time
	Partner  partner.ID
	Endpoint EndpointID
	Seq      int64
}

// EventFilter picks events of a partner for the operator.
type EventFilter struct {
	User        partner.UserHash
	Type        Type
	From, To    time.Time
	OldestFirst bool
	// After is the number to go on from, exclusive; 0 means at the beginning.
	After int64
	Limit int
}

// Listed is a delivery in a list.
type Listed struct {
	DeliveryStatus
	Partner   partner.ID
	Type      Type
	CreatedAt time.Time
}
