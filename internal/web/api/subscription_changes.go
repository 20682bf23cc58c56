package api

import (
	"errors"
	"strconv"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subscription"
)

// subscriptionChange is the body of POST /subscriptions/{plan_id}/{beneficiary_cpf}/changes.
type subscriptionChange struct {
	Move *string `json:"move"`
	subscription.Edit
}

// subscriptionNow is its answer.
type subscriptionNow struct {
	ID         string `json:"subscription_id"`
	PlanID     string `json:"plan_id"`
	State      string `json:"state"`
	StartDate  string `json:"start_date"`
	ExpiryDate string `json:"expiry_date"`
	InternalID string `json:"partner_internal_id"`
	Metadata   string `json:"partner_metadata"`
}

// changeSubscription moves a subscription (end, suspend, resume) or edits it. It refuses a body that asks for both or
// neither.
func (s *Server) changeSubscription(r *request, in subscriptionChange) (any, error) {
	if in.Edit.IsEmpty() == (in.Move == nil) {
		return nil, errBodyInvalid.With(
			"move, expiry_date, partner_internal_id, partner_metadata, beneficiary",
			fault.MoveOrEdit,
		)
	}
	planID, cpf, err := r.subscriptionInPath()
	if err != nil {
		return nil, err
	}
	if in.Move != nil {
		move, err := subscription.ParseMoveName(*in.Move)
		if err != nil {
			return nil, err
		}
		one := subscription.Selection{Plan: planID, CPF: cpf}
		if _, err := r.rules.Subscriptions.MoveSubscriptions(r.ctx, r.caller.Partner, one, move); err != nil {
			return nil, nameMissingMember(err)
		}
	} else {
		sub, err := r.rules.Subscriptions.EditSubscription(r.ctx, r.caller.Partner, planID, cpf, in.Edit)
		if err != nil {
			return nil, err
		}
		if err := r.recordAudit("subscription.edit", string(sub.ID()), string(r.caller.Partner)); err != nil {
			return nil, err
		}
	}
	sub, err := r.rules.Subscriptions.FindSubscription(r.ctx, r.caller.Partner, planID, cpf)
	if err != nil {
		return nil, err
	}
	return subscriptionState(sub), nil
}

// nameMissingMember lets the detail name the path's members.
func nameMissingMember(err error) error {
	if errors.Is(err, subscription.ErrNotFound) {
		return subscription.ErrNotFound.With("plan_id, beneficiary_cpf", fault.NoSubscriptionInForce)
	}
	return err
}

// subscriptionState returns a subscription as it is after a change.
func subscriptionState(sub subscription.Subscription) subscriptionNow {
	now := subscriptionNow{
		ID:         string(sub.ID()),
		PlanID:     string(sub.Plan),
		State:      "active",
		StartDate:  formatWireDay(sub.Start),
		ExpiryDate: formatWireDay(sub.LastDay()),
		InternalID: sub.InternalID,
		Metadata:   sub.Metadata,
	}
	switch {
	case !sub.EndedAt.IsZero():
		now.State = "ended"
	case !sub.SuspendedAt.IsZero():
		now.State = "suspended"
	}
	return now
}

// subscriptionEdits is the body of POST /subscription-changes.
type subscriptionEdits struct {
	PlanID string                `json:"plan_id"`
	Items  []subscription.EditOf `json:"items"`
}

// subscriptionsEdited is its answer. It names items by their index alone, so that the answer kept under an idempotency
// key holds no personal data.
type subscriptionsEdited struct {
	Result          string          `json:"result"`
	TotalChanged    int             `json:"total_changed_items"`
	TotalNotChanged int             `json:"total_not_changed_items"`
	NotChanged      []notEditedWire `json:"not_changed_items"`
}

// notEditedWire is a refused item of a bulk edit, by its index in the request.
type notEditedWire struct {
	Item   int      `json:"item"`
	Errors []string `json:"errors"`
}

// editSubscriptions edits many subscriptions of one plan. Items that cannot be edited are reported one by one.
func (s *Server) editSubscriptions(r *request, in subscriptionEdits) (any, error) {
	if len(in.Items) == 0 || len(in.Items) > subscription.MaxMoves {
		return nil, errBodyInvalid.With("items", fault.OneTo, subscription.MaxMoves)
	}
	if !partner.IsPrintable(in.PlanID, plan.MaxID) {
		return nil, errBodyInvalid.With("plan_id", fault.PrintableLength, plan.MaxID)
	}
	if err := s.beginList(r, len(in.Items)); err != nil {
		return nil, err
	}
	return r.runIdempotently(func(rules *Rules) (any, error) { return r.withRules(rules).editSubscriptions(in) })
}

// editSubscriptions changes subscriptions one by one.
func (r *request) editSubscriptions(in subscriptionEdits) (any, error) {
	changed, failed, err := r.rules.Subscriptions.EditEach(r.ctx, r.caller.Partner, plan.ID(in.PlanID), in.Items)
	if err != nil {
		return nil, err
	}
	answer := subscriptionsEdited{
		resultWord(changed, len(failed)),
		changed,
		len(failed),
		showAll(failed, func(f subscription.Failure) notEditedWire {
			return notEditedWire{f.Item, showAll(f.Problems, ItemError)}
		}),
	}
	if changed == 0 {
		return answer, nil
	}
	return answer, r.recordAudit("subscription.edit", string(r.caller.Partner), strconv.Itoa(changed))
}
