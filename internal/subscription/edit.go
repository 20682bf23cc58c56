package subscription

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrEdit means that a subscription cannot be changed so.
var ErrEdit = fault.New(fault.Invalid, "subscription.edit")

// MaxMoves is the most that one request moves or edits.
const MaxMoves = 1000

func ParseMoveName(name string) (Move, error) {
	switch name {
	case "end":
		return End, nil
	case "suspend":
		return Suspend, nil
	case "resume":
		return Resume, nil
	}
	return 0, ErrEdit.With("move", fault.OneOf, "end, suspend, resume")
}

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
	ctx context.Context,
	id partner.ID,
	p plan.ID,
	cpf string,
	e Edit,
) (Subscription, error) {
	sub, problems, err := r.editSelected(ctx, id, Selection{Plan: p, CPF: cpf}, e)
	if len(problems) > 0 {
		return sub, editRefusals[problems[0].Field]
	}
	return sub, err
}

// editSelected changes the one subscription that is selected.
func (r *Registry) editSelected(
	ctx context.Context,
	id partner.ID,
	which Selection,
	e Edit,
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

// EditOf is an edit of one person's subscription.
type EditOf struct {
	CPF string `json:"cpf"`
	Edit
}

// EditEach changes the subscriptions of some people to one plan, each by an edit of its own, and tells what is wrong
// with those that were refused; one of them stops nothing.
func (r *Registry) EditEach(
	ctx context.Context,
	id partner.ID,
	p plan.ID,
	items []EditOf,
) (changed int, failed []Failure, err error) {
	for i, item := range items {
		problems, err := r.editPerson(ctx, id, p, item)
		switch {
		case err != nil:
			return changed, failed, err
		case len(problems) > 0:
			failed = append(failed, Failure{Item: i, Plan: string(p), Problems: problems})
		default:
			changed++
		}
	}
	return changed, failed, nil
}

// editPerson changes the subscription of one person.
func (r *Registry) editPerson(ctx context.Context, id partner.ID, p plan.ID, item EditOf) ([]Problem, error) {
	cpf, err := identifier.ParseCPFDigits(strings.TrimSpace(item.CPF), identifier.Waived)
	if err != nil {
		return []Problem{{FieldCPF, Rule(fault.CodeOf(err))}}, nil
	}
	if item.IsEmpty() {
		return []Problem{{FieldItem, RuleNothing}}, nil
	}
	_, problems, err := r.editSelected(ctx, id, Selection{Plan: p, CPF: cpf}, item.Edit)
	switch {
	case len(problems) > 0:
		return problems, nil
	case fault.KindOf(err) == fault.NotFound:
		return []Problem{{FieldCPF, RuleUnknown}}, nil
	}
	return nil, err
}

// MoveEach moves the subscriptions of some people to one plan, one by one, and tells what became of each; one that is
// not there stops nothing. Moved counts those that are where the move leads, changed or not.
func (r *Registry) MoveEach(
	ctx context.Context,
	id partner.ID,
	p plan.ID,
	cpfs []string,
	move Move,
) (moved int, failed []Failure, err error) {
	for i, cpf := range cpfs {
		cpf = strings.TrimSpace(cpf)
		problem := Problem{}
		if _, err := identifier.ParseCPFDigits(cpf, identifier.Waived); err != nil {
			problem = Problem{FieldCPF, Rule(fault.CodeOf(err))}
		} else {
			_, err := r.MoveSubscriptions(ctx, id, Selection{Plan: p, CPF: cpf}, move)
			switch {
			case fault.KindOf(err) == fault.NotFound:
				problem = Problem{FieldCPF, RuleUnknown}
			case err != nil:
				return moved, failed, err
			}
		}
		if problem == (Problem{}) {
			moved++
			continue
		}
		failed = append(
			failed,
			Failure{Item: i, CPF: truncateText(NewTextField(cpf)), Plan: string(p), Problems: []Problem{problem}},
		)
	}
	return moved, failed, nil
}

// Move is a step in a subscription's life.
type Move uint8

// The moves. An ended subscription stays ended. A suspended one still counts as active and keeps its place against a
// second enrolment; only its cover is paused until it is resumed. It ends by date like any other.
const (
	End Move = iota + 1
	Suspend
	Resume
)

// ChangesSubscription reports whether a subscription is not already where the move leads.
func (m Move) ChangesSubscription(s Subscription) bool {
	switch m {
	case Suspend:
		return s.SuspendedAt.IsZero()
	case Resume:
		return !s.SuspendedAt.IsZero()
	case End:
	}
	return true
}

// Selection says which subscriptions, of those that have not ended, a move is about: exactly one of its three forms.
type Selection struct {
	// Plan and CPF name one.
	Plan plan.ID
	CPF  string
	// Holder is the CNPJ of a company: all subscriptions it pays for.
	Holder string
	// Over selects those whose expiry date lies before this day.
	Over Day
}

// Moved is what a step of MoveSubscriptions did.
type Moved struct {
	// Found counts the subscriptions selected, Changed those that were not already where the move leads.
	Found, Changed int
	// Last is the highest seq looked at; another step goes on from it. More tells whether there may be any.
	Last int64
	More bool
}

// ErrSelection means that a move was not told which subscriptions it is about.
var ErrSelection = fault.New(fault.Invalid, "subscription.selection")

// A move of many subscriptions is made in transactions of moveBatch.
const (
	moveBatch = 500
	movePause = 5 * time.Millisecond // lets waiting writers in between two batches
)

// MoveSubscriptions takes the selected subscriptions a step on and returns how many were found and changed. Nothing
// found is ErrNotFound.
func (r *Registry) MoveSubscriptions(ctx context.Context, id partner.ID, which Selection, move Move) (Moved, error) {
	one, company := which.CPF != "" || which.Plan != "", which.Holder != ""
	switch {
	case which.Over != 0 || one == company || (one && (which.CPF == "" || which.Plan == "")):
		return Moved{}, ErrSelection.With("", fault.SubscriptionChoice)
	case company:
		if _, err := identifier.ParseCNPJ(which.Holder, identifier.Waived); err != nil {
			return Moved{}, ErrSelection.With("benefit holder", fault.CNPJFormat)
		}
	default:
		if _, err := identifier.ParseCPFDigits(which.CPF, identifier.Waived); err != nil {
			return Moved{}, ErrSelection.With("cpf", fault.ElevenDigits)
		}
	}
	total, err := r.moveInBatches(ctx, id, which, move)
	if err == nil && total.Found == 0 {
		err = ErrNotFound.With("", fault.NoSubscriptionMatches)
	}
	return total, err
}

// MovedTable is what moving the subscriptions of a table came to.
type MovedTable struct {
	Found, Changed, NotFound int
	// Lines are the lines whose subscription was not found.
	Lines []int
}

// MoveTable moves the subscriptions of a table (columns plan_id and cpf) one by one; one that is not there is reported
// and stops nothing. progress is told the lines read so far.
func (r *Registry) MoveTable(
	ctx context.Context,
	id partner.ID,
	table Source,
	move Move,
	progress func(lines int64, t MovedTable),
) (MovedTable, error) {
	var total MovedTable
	var draft Draft
	for n := int64(1); ; n++ {
		line, _, err := table.Next(&draft)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		moved, err := r.MoveSubscriptions(
			ctx,
			id,
			Selection{Plan: plan.ID(draft.PlanID.Value), CPF: draft.CPF.Value},
			move,
		)
		switch kind := fault.KindOf(err); {
		case err != nil && kind != fault.NotFound && kind != fault.Invalid:
			return total, err
		case err != nil:
			total.NotFound++
			total.Lines = append(total.Lines, line)
		}
		total.Found, total.Changed = total.Found+moved.Found, total.Changed+moved.Changed
		progress(n, total)
	}
}

// moveInBatches works in batches, each a transaction: a company may have a hundred thousand.
func (r *Registry) moveInBatches(ctx context.Context, id partner.ID, which Selection, move Move) (Moved, error) {
	var total Moved
	for {
		step, err := r.store.MoveSubscriptions(ctx, id, which, move, total.Last, moveBatch)
		if err != nil {
			return total, err
		}
		total.Found, total.Changed, total.Last = total.Found+step.Found, total.Changed+step.Changed, step.Last
		if !step.More {
			return total, nil
		}
		select {
		case <-ctx.Done():
			return total, ctx.Err()
		case <-time.After(movePause):
		}
	}
}

// SweepExpired ends the subscriptions of every partner whose expiry date is over in São Paulo, and returns how many. It
// is for a chore that runs at least once a minute; many replicas may run it, and it catches up after a stop of any
// length.
func (r *Registry) SweepExpired(ctx context.Context) (int, error) {
	partners, err := r.tenants.ListPartners(ctx)
	if err != nil {
		return 0, fmt.Errorf("sweep subscriptions: %w", err)
	}
	ended := 0
	for _, p := range partners {
		moved, err := r.moveInBatches(ctx, p.ID, Selection{Over: DayInBrazil(r.now())}, End)
		ended += moved.Changed
		if err != nil {
			return ended, fmt.Errorf("sweep subscriptions: %w", err)
		}
	}
	return ended, nil
}
