package api

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subscription"
)

// subscriptionWire is a subscription in full.
type subscriptionWire struct {
	StartDate   string                   `json:"start_date"`
	ExpiryDate  string                   `json:"expiry_date"`
	PlanID      string                   `json:"plan_id"`
	Beneficiary subscription.Beneficiary `json:"beneficiary"`
}

// listedWire is a subscription in a list. Of the beneficiary it carries what the contract asks for and no more: a page
// of a hundred people is the last place to spread cards and addresses.
type listedWire struct {
	PartnerID   string                `json:"partner_id"`
	StartDate   string                `json:"start_date"`
	ExpiryDate  string                `json:"expiry_date"`
	PlanID      string                `json:"plan_id"`
	Beneficiary listedBeneficiaryWire `json:"beneficiary"`
}

// listedBeneficiaryWire is a beneficiary in the list of subscriptions, which shows less than a single one.
type listedBeneficiaryWire struct {
	Name  string `json:"name"`
	CPF   string `json:"cpf"`
	Email string `json:"email"`
}

// subscriptionPageWire is a page of the list of subscriptions.
type subscriptionPageWire struct {
	Data       []listedWire   `json:"data"`
	Pagination paginationWire `json:"pagination"`
}

// paginationWire is the position of a page, as the contract writes it.
type paginationWire struct {
	Page        int64 `json:"page"`
	PageSize    int   `json:"page_size"`
	TotalItems  int64 `json:"total_items"`
	TotalPages  int64 `json:"total_pages"`
	HasNext     bool  `json:"has_next"`
	HasPrevious bool  `json:"has_previous"`
}

// formatWireDay writes a date the way the contract answers: a date-time at midnight UTC, or nothing.
func formatWireDay(d subscription.Day) string {
	if d == 0 {
		return ""
	}
	return d.String() + "T00:00:00.000Z"
}

// defaultPageSize is the page_size that the contract gives to a list without one.
const defaultPageSize = 10

// listSubscriptions answers with a page of the partner's active subscriptions. A page size above the maximum is cut,
// not refused.
func (s *Server) listSubscriptions(r *request) (any, error) {
	page, size, err := r.beginPage(defaultPageSize, subscription.MaxPageSize)
	if err != nil {
		return nil, err
	}
	found, err := r.rules.Subscriptions.ListActive(r.ctx, r.caller.Partner, page, size)
	r.items = len(found.Items)
	pages := (found.Total + int64(size) - 1) / int64(size)
	return subscriptionPageWire{
		Data: showAll(found.Items, func(sub subscription.Subscription) listedWire {
			return listedWire{
				PartnerID:  string(r.caller.Partner),
				StartDate:  formatWireDay(sub.Start),
				ExpiryDate: formatWireDay(sub.Expiry),
				PlanID:     string(sub.Plan),
				Beneficiary: listedBeneficiaryWire{
					Name:  sub.Beneficiary.Name,
					CPF:   sub.Beneficiary.CPF,
					Email: sub.Beneficiary.Email,
				},
			}
		}),
		Pagination: paginationWire{
			Page: page, PageSize: size, TotalItems: found.Total, TotalPages: pages,
			HasNext: page < pages, HasPrevious: page > 1 && pages > 0,
		},
	}, err
}

// beginPage lets a page of a list in: its number and its size, which is cut to the most that a page may have.
func (r *request) beginPage(usual, most int64) (page int64, size int, err error) {
	page, err = r.countInQuery("page", 1)
	if err == nil && page > math.MaxInt32 {
		err = errQueryInvalid.With("page", fault.AtMost, math.MaxInt32)
	}
	if err != nil {
		return 0, 0, err
	}
	asked, err := r.countInQuery("page_size", usual)
	if err != nil {
		return 0, 0, err
	}
	size = int(min(asked, most))
	return page, size, r.beginRead(size)
}

// countInQuery reads a whole number of at least 1 from the query. One too large for the machine is as good as the
// largest.
func (r *request) countInQuery(name string, absent int64) (int64, error) {
	values, given := r.query[name]
	if !given {
		return absent, nil
	}
	if len(values) == 1 && values[0] != "" && strings.Trim(values[0], "0123456789") == "" {
		// Digits only, so what ParseInt refuses is out of range, and it has returned the largest.
		if n, _ := strconv.ParseInt(values[0], 10, 64); n > 0 {
			return n, nil
		}
	}
	return 0, errQueryInvalid.With(name, fault.OneWholeNumber)
}

// getSubscription answers with the subscription of a plan and a CPF.
func (s *Server) getSubscription(r *request) (any, error) {
	planID, cpf, err := r.subscriptionInPath()
	if err != nil {
		return nil, err
	}
	sub, err := r.rules.Subscriptions.FindSubscription(r.ctx, r.caller.Partner, planID, cpf)
	if b := &sub.Beneficiary; r.caller.Settings.MaskCards {
		b.PrimaryCard = identifier.MaskValue(identifier.Card, b.PrimaryCard)
		b.UserCard = identifier.MaskValue(identifier.Card, b.UserCard)
	}
	return subscriptionWire{
		formatWireDay(sub.Start),
		formatWireDay(sub.LastDay()),
		string(sub.Plan),
		sub.Beneficiary,
	}, err
}

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
		if _, err := r.rules.Subscriptions.MoveSubscriptions(
			r.ctx,
			r.caller.Partner,
			subscription.Selection{Plan: planID, CPF: cpf},
			move,
		); err != nil {
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
