package api

import (
	"github.com/vigiahq/vigia/internal/identifier"
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
	if err != nil {
		return nil, err
	}
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
	}, nil
}

// getSubscription answers with the subscription of a plan and a CPF.
func (s *Server) getSubscription(r *request) (any, error) {
	planID, cpf, err := r.subscriptionInPath()
	if err != nil {
		return nil, err
	}
	sub, err := r.rules.Subscriptions.FindSubscription(r.ctx, r.caller.Partner, planID, cpf)
	if err != nil {
		return nil, err
	}
	if b := &sub.Beneficiary; r.caller.Settings.MaskCards {
		b.PrimaryCard = identifier.MaskValue(identifier.Card, b.PrimaryCard)
		b.UserCard = identifier.MaskValue(identifier.Card, b.UserCard)
	}
	return subscriptionWire{
		formatWireDay(sub.Start),
		formatWireDay(sub.LastDay()),
		string(sub.Plan),
		sub.Beneficiary,
	}, nil
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
