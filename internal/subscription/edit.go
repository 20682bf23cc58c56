package subscription

import (
	"context"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrEdit means that a subscription cannot be changed so.
var ErrEdit = fault.New(fault.Invalid, "subscription.edit")

// Edit is what may be changed of a subscription, under the names of the API; nil leaves a member as it is.
type Edit struct {
	// Expiry is a date that is not over, or empty for no end.
	Expiry *string `json:"expiry_date"`
	// InternalID and Metadata are the partner's own; empty takes them away.
	InternalID  *string         `json:"partner_internal_id"`
	Metadata    *string         `json:"partner_metadata"`
	Beneficiary BeneficiaryEdit `json:"beneficiary"`
}

// BeneficiaryEdit is what may be changed of a person's data: all but the CPF, by which their subscription is found. A
// CPF may be sent along if it is theirs.
type BeneficiaryEdit struct {
	PrimaryCard *string     `json:"primary_card"`
	UserCard    *string     `json:"user_card"`
	Name        *string     `json:"name"`
	CPF         *string     `json:"cpf"`
	BirthDate   *string     `json:"birth_date"`
	Gender      *string     `json:"gender"`
	Email       *string     `json:"email"`
	Phone       *string     `json:"phone_number"`
	Address     AddressEdit `json:"address"`
}

// AddressEdit is what may be changed of an address.
type AddressEdit struct {
	Zipcode      *string `json:"zipcode"`
	Street       *string `json:"street"`
	Number       *string `json:"number"`
	Complement   *string `json:"complement"`
	Neighborhood *string `json:"neighborhood"`
	City         *string `json:"city"`
	State        *string `json:"state"`
}

// IsEmpty tells that nothing is to be changed.
func (e Edit) IsEmpty() bool { return e == Edit{} }

// EditSubscription changes a subscription in force.
func (r *Registry) EditSubscription(
	ctx context.Context, id partner.ID, p plan.ID, cpf string, e Edit,
) (Subscription, error) {
	sub, problems, err := r.editSelected(ctx, id, Selection{Plan: p, CPF: cpf}, e)
	if len(problems) > 0 {
		return sub, editRefusals[problems[0].Field]
	}
	return sub, err
}

// editSelected changes the one subscription that is selected.
func (r *Registry) editSelected(
	ctx context.Context, id partner.ID, which Selection, e Edit,
) (sub Subscription, problems []Problem, err error) {
	today := DayInBrazil(r.now())
	sub, err = r.store.EditSubscription(ctx, id, which, func(s *Subscription) error {
		if problems = e.applyToSubscription(s, today); len(problems) > 0 {
			return ErrEdit
		}
		return nil
	})
	return sub, problems, err
}

// applyToSubscription changes a subscription and returns what is wrong with the edit, held to the rules of an
// enrolment.
func (e Edit) applyToSubscription(s *Subscription, today Day) []Problem {
	c := checker{today: today}
	if e.Expiry != nil {
		s.Expiry = c.checkExpiry(NewTextField(*e.Expiry))
		switch {
		case s.Expiry == 0:
		case s.Expiry < s.Start:
			c.addProblem(FieldExpiryDate, RuleBeforeStart)
		case s.Expiry < today:
			c.addProblem(FieldExpiryDate, RuleOver)
		}
	}
	if e.InternalID != nil {
		s.InternalID = c.checkOptional(FieldInternalID, NewTextField(*e.InternalID), maxText, RuleLength255)
	}
	if e.Metadata != nil {
		s.Metadata = c.checkMetadata(NewTextField(*e.Metadata))
	}
	e.Beneficiary.applyToBeneficiary(&c, &s.Beneficiary)
	return c.problems
}

// applyToBeneficiary changes a beneficiary's members, checked by c.
func (e BeneficiaryEdit) applyToBeneficiary(c *checker, b *Beneficiary) {
	required := func(f Field, limit int, tooLong Rule) func(Text) string {
		return func(t Text) string { return c.checkRequired(f, t, limit, tooLong) }
	}
	line := func(f Field) func(Text) string { return required(f, maxText, RuleLength255) }
	a := &b.Address
	for _, member := range [...]struct {
		sent, kept *string
		check      func(Text) string
	}{
		{e.PrimaryCard, &b.PrimaryCard, required(FieldPrimaryCard, maxCard, RuleLength32)},
		{e.UserCard, &b.UserCard, required(FieldUserCard, maxCard, RuleLength32)},
		{e.Name, &b.Name, line(FieldName)},
		{e.CPF, &b.CPF, func(t Text) string { return c.checkUnchanged(FieldCPF, t, b.CPF) }},
		{e.BirthDate, &b.BirthDate, c.checkBirthDate},
		{e.Gender, &b.Gender, c.checkGender},
		{e.Email, &b.Email, c.checkEmail},
		{e.Phone, &b.Phone, c.checkPhone},
		{e.Address.Zipcode, &a.Zipcode, c.checkZipcode},
		{e.Address.Street, &a.Street, line(FieldStreet)},
		{e.Address.Number, &a.Number, line(FieldNumber)},
		{e.Address.Complement, &a.Complement, func(t Text) string {
			return c.checkOptional(FieldComplement, t, maxText, RuleLength255)
		}},
		{e.Address.Neighborhood, &a.Neighborhood, line(FieldNeighborhood)},
		{e.Address.City, &a.City, line(FieldCity)},
		{e.Address.State, &a.State, c.checkState},
	} {
		if member.sent != nil {
			*member.kept = member.check(NewTextField(*member.sent))
		}
	}
}

// checkUnchanged lets a member be sent that must stay as it is.
func (c *checker) checkUnchanged(f Field, t Text, is string) string {
	if strings.TrimSpace(t.Value) != is {
		c.addProblem(f, RuleFixed)
	}
	return is
}

// editRefusals is, for each field, the error that says what the field must be when an edit is refused.
var editRefusals = map[Field]*fault.Error{
	FieldExpiryDate:   ErrEdit.With("expiry_date", fault.ExpiryDate),
	FieldInternalID:   ErrEdit.With("partner_internal_id", fault.PlainAtMost, maxText),
	FieldMetadata:     ErrEdit.With("partner_metadata", fault.MetadataFormat),
	FieldPrimaryCard:  ErrEdit.With("beneficiary.primary_card", fault.PlainLength, maxCard),
	FieldUserCard:     ErrEdit.With("beneficiary.user_card", fault.PlainLength, maxCard),
	FieldName:         ErrEdit.With("beneficiary.name", fault.PlainLength, maxText),
	FieldCPF:          ErrEdit.With("beneficiary.cpf", fault.CannotChange),
	FieldBirthDate:    ErrEdit.With("beneficiary.birth_date", fault.PastDate),
	FieldGender:       ErrEdit.With("beneficiary.gender", fault.GenderFormat),
	FieldEmail:        ErrEdit.With("beneficiary.email", fault.EmailFormat),
	FieldPhone:        ErrEdit.With("beneficiary.phone_number", fault.PhoneFormat),
	FieldZipcode:      ErrEdit.With("beneficiary.address.zipcode", fault.EightDigits),
	FieldStreet:       ErrEdit.With("beneficiary.address.street", fault.PlainLength, maxText),
	FieldNumber:       ErrEdit.With("beneficiary.address.number", fault.PlainLength, maxText),
	FieldComplement:   ErrEdit.With("beneficiary.address.complement", fault.PlainAtMost, maxText),
	FieldNeighborhood: ErrEdit.With("beneficiary.address.neighborhood", fault.PlainLength, maxText),
	FieldCity:         ErrEdit.With("beneficiary.address.city", fault.PlainLength, maxText),
	FieldState:        ErrEdit.With("beneficiary.address.state", fault.StateFormat),
}
