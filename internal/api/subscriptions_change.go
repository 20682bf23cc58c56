package api

import (
	"errors"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

// subscriptionChange is the body of POST /subscriptions/{plan_id}/{beneficiary_cpf}/changes.
type subscriptionChange struct {
	Move *string `json:"move"`
	subscriptionEdit
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

// subscriptionInPath returns the plan and the CPF in the path.
func (r *request) subscriptionInPath() (plan.ID, string, error) {
	planID, err := r.idInPath("plan_id", subscription.ErrNotFound)
	if err != nil {
		return "", "", err
	}
	cpf, err := identifier.ParseCPFDigits(r.http.PathValue("beneficiary_cpf"), identifier.Waived)
	if err != nil {
		return "", "", subscription.ErrNotFound.With("beneficiary_cpf", fault.ElevenDigits)
	}
	return plan.ID(planID), cpf, nil
}

// changeSubscription moves a subscription (end, suspend, resume) or edits it. It refuses a body that asks for both or
// neither.
func (s *Server) changeSubscription(r *request) (any, error) {
	var in subscriptionChange
	if err := r.decodeBody(&in); err != nil {
		return nil, err
	}
	edit := in.parseEdit()
	if edit.IsEmpty() == (in.Move == nil) {
		return nil, errBodyInvalid.With("move, expiry_date, partner_internal_id, partner_metadata, beneficiary", fault.MoveOrEdit)
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
		if _, err := r.rules.Subscriptions.MoveSubscriptions(r.ctx, r.caller.Partner, subscription.Selection{Plan: planID, CPF: cpf}, move); err != nil {
			return nil, nameMissingMember(err)
		}
	} else {
		sub, err := r.rules.Subscriptions.EditSubscription(r.ctx, r.caller.Partner, planID, cpf, edit)
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
		ID: string(sub.ID()), PlanID: string(sub.Plan), State: "active", StartDate: formatWireDay(sub.Start), ExpiryDate: formatWireDay(sub.LastDay()),
		InternalID: sub.InternalID, Metadata: sub.Metadata,
	}
	switch {
	case !sub.EndedAt.IsZero():
		now.State = "ended"
	case !sub.SuspendedAt.IsZero():
		now.State = "suspended"
	}
	return now
}

// subscriptionMoves is the body of POST /subscription-moves.
type subscriptionMoves struct {
	PlanID string   `json:"plan_id"`
	Move   string   `json:"move"`
	CPFs   []string `json:"cpfs"`
}

// subscriptionsMoved is its answer.
type subscriptionsMoved struct {
	Result          string         `json:"result"`
	TotalChanged    int            `json:"total_changed_items"`
	TotalNotChanged int            `json:"total_not_changed_items"`
	NotChanged      []notMovedWire `json:"not_changed_items"`
}

// notMovedWire is a refused CPF of a bulk move, with its index in the request.
type notMovedWire struct {
	Item   int      `json:"item"`
	CPF    string   `json:"cpf"`
	Errors []string `json:"errors"`
}

// moveSubscriptions ends, suspends or resumes many subscriptions of one plan, by CPF.
func (s *Server) moveSubscriptions(r *request) (any, error) {
	var in subscriptionMoves
	if err := r.decodeBody(&in); err != nil {
		return nil, err
	}
	move, err := subscription.ParseMoveName(in.Move)
	if err != nil {
		return nil, err
	}
	if len(in.CPFs) == 0 || len(in.CPFs) > subscription.MaxMoves {
		return nil, errBodyInvalid.With("cpfs", fault.OneTo, subscription.MaxMoves)
	}
	if !partner.IsPrintable(in.PlanID, plan.MaxID) {
		return nil, errBodyInvalid.With("plan_id", fault.PrintableLength, plan.MaxID)
	}
	if err := s.chargeItems(r, len(in.CPFs)); err != nil {
		return nil, err
	}
	moved, failed, err := r.rules.Subscriptions.MoveEach(r.ctx, r.caller.Partner, plan.ID(in.PlanID), in.CPFs, move)
	if err != nil {
		return nil, err
	}
	answer := subscriptionsMoved{Result: resultWord(moved, len(failed)), TotalChanged: moved, TotalNotChanged: len(failed), NotChanged: make([]notMovedWire, len(failed))}
	for i, f := range failed {
		answer.NotChanged[i] = notMovedWire{f.Item, f.CPF, []string{ItemError(f.Problems[0])}}
	}
	return answer, nil
}

// resultWord returns one word for the outcome of many items.
func resultWord(good, bad int) string {
	switch {
	case bad == 0:
		return "success"
	case good == 0:
		return "failure"
	}
	return "partial_success"
}

// chargeItems makes a partner pay for the items of a request as bulk requests do, or wait until it has paid for others.
func (s *Server) chargeItems(r *request, items int) error {
	if wait := s.limits.waitForBulk(r.caller, s.Now()); wait > 0 {
		r.reply.Set("retry-after", wholeSeconds(wait))
		return errRateLimited.With("body", fault.ItemsOrBytes)
	}
	s.limits.chargeBulk(r.caller, items, len(r.body), s.Now())
	return nil
}
