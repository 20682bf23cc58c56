package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"
)

// MaxBulk is how many subscriptions one request may hold.
const MaxBulk = 10_000

// NewSubscription is a subscription to create. Dates are YYYY-MM-DD.
type NewSubscription struct {
	StartDate string `json:"start_date"`
	// ExpiryDate is empty where there is no end.
	ExpiryDate string `json:"expiry_date"`
	PlanID     string `json:"plan_id"`
	// IsGroupPlan asks for GroupSize, a whole number of 50 or more, and BenefitHolder, a CNPJ.
	IsGroupPlan   bool        `json:"is_group_plan"`
	GroupSize     string      `json:"group_size,omitempty"`
	BenefitHolder string      `json:"benefit_holder,omitempty"`
	Beneficiary   Beneficiary `json:"beneficiary"`
	// PartnerMetadata is a string that holds valid JSON, at most 8 KiB.
	PartnerMetadata   string `json:"partner_metadata,omitempty"`
	PartnerInternalID string `json:"partner_internal_id,omitempty"`
}

// Beneficiary is the person of a subscription.
type Beneficiary struct {
	PrimaryCard string  `json:"primary_card"`
	UserCard    string  `json:"user_card"`
	Name        string  `json:"name"`
	CPF         string  `json:"cpf"`
	BirthDate   string  `json:"birth_date"` // YYYY-MM-DD
	Gender      string  `json:"gender"`     // M or F
	Email       string  `json:"email"`
	PhoneNumber string  `json:"phone_number"`
	Address     Address `json:"address"`
}

// Address is where a beneficiary lives.
type Address struct {
	Zipcode      string `json:"zipcode"` // 8 digits
	Street       string `json:"street"`
	Number       string `json:"number"`
	Complement   string `json:"complement,omitempty"`
	Neighborhood string `json:"neighborhood"`
	City         string `json:"city"`
	State        string `json:"state"` // two letters
}

// BulkOutcome is what became of the items of a bulk request.
type BulkOutcome struct {
	Result     string       `json:"result"` // success, partial_success or failure
	Created    int          `json:"total_created_items"`
	NotCreated int          `json:"total_not_created_items"`
	Refused    []NotCreated `json:"not_created_items"`
}

// NotCreated is an item that was refused, with all of its errors as "campo: regra".
type NotCreated struct {
	// Index is the item's place in what was sent; -1 if the service did not say.
	Index         int      `json:"-"`
	CPF           string   `json:"cpf"`
	BenefitHolder string   `json:"benefit_holder"`
	PlanID        string   `json:"plan_id"`
	Errors        []string `json:"errors"`
}

// CreateSubscriptions creates up to MaxBulk subscriptions. Each item stands alone: a refused one is in the outcome, in
// the order of the request, and is no error. With an error nothing was created. Give an IdempotencyKey of your own
// where the list may be sent again by another run of your program.
func (c *Client) CreateSubscriptions(ctx context.Context, items []NewSubscription, opts ...Option) (BulkOutcome, error) {
	return c.bulk(ctx, items, opts)
}

// CheckSubscriptions validates like CreateSubscriptions and creates nothing; the outcome says what would have happened.
// An extension of the contract.
func (c *Client) CheckSubscriptions(ctx context.Context, items []NewSubscription, opts ...Option) (BulkOutcome, error) {
	return c.bulk(ctx, items, append(opts, func(k *call) { k.query.Set("dry_run", "true") }))
}

// bulk posts new subscriptions. The index of each refused item comes from a header; it is -1 where the header is
// missing.
func (c *Client) bulk(ctx context.Context, items []NewSubscription, opts []Option) (BulkOutcome, error) {
	if items == nil {
		items = []NewSubscription{} // an empty list, not null
	}
	var out BulkOutcome
	var sent *call
	err := c.post(ctx, items, &out, "/subscriptions", nil, append(opts, func(k *call) { sent = k }))
	if err != nil || len(out.Refused) == 0 {
		return out, err
	}
	places := notCreatedIndexes(sent.notCreated, len(out.Refused))
	for i := range out.Refused {
		if out.Refused[i].Index = -1; places != nil {
			out.Refused[i].Index = places[i]
		}
	}
	return out, nil
}

// Subscription is a stored subscription.
type Subscription struct {
	// PartnerID is there in listings alone.
	PartnerID string    `json:"partner_id"`
	StartDate time.Time `json:"start_date"`
	// ExpiryDate is zero where there is no end.
	ExpiryDate  EndDate     `json:"expiry_date"`
	PlanID      string      `json:"plan_id"`
	Beneficiary Beneficiary `json:"beneficiary"`
}

// EndDate is a time, or zero for no end, which the contract writes as an empty string.
type EndDate struct{ time.Time }

// UnmarshalJSON reads a date-time or the empty string.
func (d *EndDate) UnmarshalJSON(raw []byte) error {
	if string(raw) == `""` || string(raw) == "null" {
		*d = EndDate{}
		return nil
	}
	return json.Unmarshal(raw, &d.Time)
}

// SubscriptionPage is one page of the active subscriptions.
type SubscriptionPage struct {
	Items       []Subscription
	Page        int
	PageSize    int
	TotalItems  int
	TotalPages  int
	HasNext     bool
	HasPrevious bool
}

// SubscriptionPage returns a page, counted from 1, of at most 100 subscriptions that have not ended, oldest first.
func (c *Client) SubscriptionPage(ctx context.Context, page, size int, opts ...Option) (SubscriptionPage, error) {
	k := newCall(http.MethodGet, "/subscriptions", nil, opts)
	k.query.Set("page", strconv.Itoa(page))
	k.query.Set("page_size", strconv.Itoa(size))
	var wire struct {
		Data       []Subscription `json:"data"`
		Pagination struct {
			Page        int  `json:"page"`
			PageSize    int  `json:"page_size"`
			TotalItems  int  `json:"total_items"`
			TotalPages  int  `json:"total_pages"`
			HasNext     bool `json:"has_next"`
			HasPrevious bool `json:"has_previous"`
		} `json:"pagination"`
	}
	if err := c.do(ctx, k, &wire); err != nil {
		return SubscriptionPage{}, err
	}
	p := wire.Pagination
	return SubscriptionPage{wire.Data, p.Page, p.PageSize, p.TotalItems, p.TotalPages, p.HasNext, p.HasPrevious}, nil
}

const largestPage = 100

// Subscriptions walks through all active subscriptions, page by page, oldest first. The walk ends after the first
// error. It is no snapshot: a subscription that ends meanwhile moves the later ones, so one of them may be missed.
func (c *Client) Subscriptions(ctx context.Context, opts ...Option) iter.Seq2[Subscription, error] {
	return func(yield func(Subscription, error) bool) {
		for page := 1; ; page++ {
			p, err := c.SubscriptionPage(ctx, page, largestPage, opts...)
			if err != nil {
				yield(Subscription{}, fmt.Errorf("page %d: %w", page, err))
				return
			}
			for _, s := range p.Items {
				if !yield(s, nil) {
					return
				}
			}
			if !p.HasNext {
				return
			}
		}
	}
}

// Subscription returns the subscription of a plan and a CPF (digits only) that has not ended, else the latest that
// ended, else ErrNotFound.
func (c *Client) Subscription(ctx context.Context, planID, cpf string, opts ...Option) (Subscription, error) {
	var s Subscription
	err := c.get(ctx, &s, "/subscriptions/{plan_id}/{beneficiary_cpf}", []string{planID, cpf}, opts)
	return s, err
}
