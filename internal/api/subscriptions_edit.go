package api

import (
	"strconv"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

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
func (s *Server) editSubscriptions(r *request) (any, error) {
	var in subscriptionEdits
	if err := r.decodeBody(&in); err != nil {
		return nil, err
	}
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
