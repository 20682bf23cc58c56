package alert

import (
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// DeliveryFilter picks deliveries of all partners for the operator, latest first.
type DeliveryFilter struct {
	State DeliveryState
	// Before is the end time to go on from, exclusive; zero means from the latest. Deliveries that are not over are
	// listed from the oldest.
	Before time.Time
	Limit  int
}

// Listed is a delivery in a list.
type Listed struct {
	DeliveryStatus
	Partner   partner.ID
	Type      Type
	CreatedAt time.Time
}
