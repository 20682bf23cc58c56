package api

import (
	"errors"
	"strconv"

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
func (s *Server) changeSubscription(r *request, in subscriptionChange) (any, error) {
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

// subscriptionEdit is what may be changed of a subscription; what is not sent, or null, stays.
type subscriptionEdit struct {
	ExpiryDate  *string            `json:"expiry_date"`
	InternalID  *string            `json:"partner_internal_id"`
	Metadata    *string            `json:"partner_metadata"`
	Beneficiary *beneficiaryChange `json:"beneficiary"`
}

// beneficiaryChange holds the fields of a beneficiary to be changed; a nil field stays as it is.
type beneficiaryChange struct {
	PrimaryCard *string        `json:"primary_card"`
	UserCard    *string        `json:"user_card"`
	Name        *string        `json:"name"`
	CPF         *string        `json:"cpf"`
	BirthDate   *string        `json:"birth_date"`
	Gender      *string        `json:"gender"`
	Email       *string        `json:"email"`
	PhoneNumber *string        `json:"phone_number"`
	Address     *addressChange `json:"address"`
}

// addressChange holds the fields of an address to be changed; a nil field stays as it is.
type addressChange struct {
	Zipcode      *string `json:"zipcode"`
	Street       *string `json:"street"`
	Number       *string `json:"number"`
	Complement   *string `json:"complement"`
	Neighborhood *string `json:"neighborhood"`
	City         *string `json:"city"`
	State        *string `json:"state"`
}

// parseEdit returns the edit that the body describes.
func (in subscriptionEdit) parseEdit() subscription.Edit {
	e := subscription.Edit{Expiry: in.ExpiryDate, InternalID: in.InternalID, Metadata: in.Metadata}
	b := in.Beneficiary
	if b == nil {
		return e
	}
	e.Beneficiary = subscription.BeneficiaryEdit{
		PrimaryCard: b.PrimaryCard, UserCard: b.UserCard, Name: b.Name, CPF: b.CPF, BirthDate: b.BirthDate, Gender: b.Gender, Email: b.Email, Phone: b.PhoneNumber,
	}
	if a := b.Address; a != nil {
		to := &e.Beneficiary
		to.Zipcode, to.Street, to.Number, to.Complement = a.Zipcode, a.Street, a.Number, a.Complement
		to.Neighborhood, to.City, to.State = a.Neighborhood, a.City, a.State
	}
	return e
}

// subscriptionEdits is the body of POST /subscription-changes.
type subscriptionEdits struct {
	PlanID string                 `json:"plan_id"`
	Items  []subscriptionEditItem `json:"items"`
}

// subscriptionEditItem is the change of one subscription of the plan, found by its beneficiary's CPF.
type subscriptionEditItem struct {
	CPF string `json:"cpf"`
	subscriptionEdit
}

// subscriptionsEdited is its answer. It names items by their index alone, so that the answer kept under an idempotency key
// holds no personal data.
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
	end, err := s.beginList(r, len(in.Items))
	if err != nil {
		return nil, err
	}
	defer end()
	return r.runIdempotently(func(rules *Rules) (any, error) { return r.withRules(rules).editSubscriptions(in) })
}

// editSubscriptions changes subscriptions one by one.
func (r *request) editSubscriptions(in subscriptionEdits) (any, error) {
	items := make([]subscription.EditOf, len(in.Items))
	for i, item := range in.Items {
		items[i] = subscription.EditOf{CPF: item.CPF, Edit: item.parseEdit()}
	}
	changed, failed, err := r.rules.Subscriptions.EditEach(r.ctx, r.caller.Partner, plan.ID(in.PlanID), items)
	if err != nil {
		return nil, err
	}
	answer := subscriptionsEdited{Result: resultWord(changed, len(failed)), TotalChanged: changed, TotalNotChanged: len(failed), NotChanged: make([]notEditedWire, len(failed))}
	for i, f := range failed {
		errs := make([]string, len(f.Problems))
		for j, p := range f.Problems {
			errs[j] = ItemError(p)
		}
		answer.NotChanged[i] = notEditedWire{f.Item, errs}
	}
	if changed == 0 {
		return answer, nil
	}
	return answer, r.recordAudit("subscription.edit", string(r.caller.Partner), strconv.Itoa(changed))
}
