package api

import (
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subscription"
)

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
func (s *Server) moveSubscriptions(r *request, in subscriptionMoves) (any, error) {
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
	notMoved := showAll(failed, func(f subscription.Failure) notMovedWire {
		return notMovedWire{f.Item, f.CPF, []string{ItemError(f.Problems[0])}}
	})
	return subscriptionsMoved{resultWord(moved, len(failed)), moved, len(failed), notMoved}, err
}
