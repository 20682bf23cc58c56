package alert

import (
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

// SubscriptionChange is the data of SubscriptionEnded, SubscriptionSuspended and SubscriptionResumed. It says whose
// subscription it is by the user hash, never by a CPF.
type SubscriptionChange struct {
	// Subscription is the same in every event of one subscription: a person may subscribe to a plan again after an end.
	Subscription subscription.ID `json:"subscriptionId"`
	Plan         plan.ID         `json:"planId"`
	// Internal is the partner's own reference.
	Internal string `json:"partnerInternalId,omitempty"`
}

// SubscriptionMoved tells of a step in a subscription's life.
func SubscriptionMoved(
	id partner.ID, sub subscription.Subscription, move subscription.Move, user partner.UserHash, at time.Time,
) Event {
	types := map[subscription.Move]Type{
		subscription.End:     SubscriptionEnded,
		subscription.Suspend: SubscriptionSuspended,
		subscription.Resume:  SubscriptionResumed,
	}
	return NewEvent(
		id,
		types[move],
		user,
		at,
		SubscriptionChange{Subscription: sub.ID(), Plan: sub.Plan, Internal: sub.InternalID},
	)
}
