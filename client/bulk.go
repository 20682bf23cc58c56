package client

import (
	"context"
	"net/http"
	"strconv"
)

// NewAsset is a value to be watched.
type NewAsset struct {
	Value    string    `json:"value"`
	Type     AssetType `json:"type"`
	UserHash string    `json:"userHash"`
}

// AssetsAdded is what became of many values.
type AssetsAdded struct {
	Result   string          `json:"result"` // success, partial_success or failure
	Added    int             `json:"totalAdded"`
	NotAdded int             `json:"totalNotAdded"`
	Refused  []AssetNotAdded `json:"notAdded"`
}

// AssetNotAdded is a value that is not watched, by its place in the request.
type AssetNotAdded struct {
	Item   int    `json:"item"`
	Error  string `json:"error"`
	Detail string `json:"detail"`
}

// AddAssets watches up to 1,000 values, by the rules of AddAsset. A refused one is in the outcome and is no error. An extension of the contract.
func (c *Client) AddAssets(ctx context.Context, items []NewAsset, opts ...Option) (AssetsAdded, error) {
	body := struct {
		Items []NewAsset `json:"items"`
	}{items}
	var added AssetsAdded
	err := c.post(ctx, body, &added, "/cyber/assets", nil, opts)
	return added, err
}

// PersonScore is the score of one of many people, or, in Detail, what is wrong with their user hash.
type PersonScore struct {
	UserHash   string   `json:"userHash"`
	Breach     *float64 `json:"breachScore"`
	Assessment *float64 `json:"assessmentScore"`
	Detail     string   `json:"detail"`
}

// Scores reads the scores of up to 1,000 people, in the order asked for. An extension of the contract.
func (c *Client) Scores(ctx context.Context, userHashes []string, opts ...Option) ([]PersonScore, error) {
	body := struct {
		UserHashes []string `json:"userHashes"`
	}{userHashes}
	var list struct {
		Scores []PersonScore `json:"scores"`
	}
	err := c.post(ctx, body, &list, "/cyber/scores", nil, opts)
	return list.Scores, err
}

// Move is a step in a subscription's life.
type Move string

// The moves.
const (
	End     Move = "end"
	Suspend Move = "suspend"
	Resume  Move = "resume"
)

// SubscriptionState is a subscription as it is now.
type SubscriptionState struct {
	ID     string `json:"subscription_id"`
	PlanID string `json:"plan_id"`
	State  string `json:"state"` // active, suspended or ended
	// Dates are as the contract writes them: midnight UTC; an empty expiry is no end.
	StartDate  string `json:"start_date"`
	ExpiryDate string `json:"expiry_date"`
	InternalID string `json:"partner_internal_id"`
	Metadata   string `json:"partner_metadata"`
}

// MoveSubscription ends, suspends or resumes the subscription in force. An extension of the contract.
func (c *Client) MoveSubscription(ctx context.Context, planID, cpf string, move Move, opts ...Option) (SubscriptionState, error) {
	body := struct {
		Move Move `json:"move"`
	}{move}
	return c.changeSubscription(ctx, planID, cpf, body, opts)
}

// SubscriptionEdit is what changes of a subscription; nil leaves a member as it is, empty takes it away.
type SubscriptionEdit struct {
	ExpiryDate *string `json:"expiry_date,omitempty"` // YYYY-MM-DD
	InternalID *string `json:"partner_internal_id,omitempty"`
	Metadata   *string `json:"partner_metadata,omitempty"`
	// Beneficiary is the person's data that change; nil for none.
	Beneficiary *BeneficiaryEdit `json:"beneficiary,omitempty"`
}

// BeneficiaryEdit is what changes of a person's data; what is empty stays as it is. A CPF cannot be changed.
type BeneficiaryEdit struct {
	PrimaryCard string       `json:"primary_card,omitempty"`
	UserCard    string       `json:"user_card,omitempty"`
	Name        string       `json:"name,omitempty"`
	BirthDate   string       `json:"birth_date,omitempty"` // YYYY-MM-DD
	Gender      string       `json:"gender,omitempty"`     // M or F
	Email       string       `json:"email,omitempty"`
	PhoneNumber string       `json:"phone_number,omitempty"`
	Address     *AddressEdit `json:"address,omitempty"`
}

// AddressEdit is what changes of an address; what is empty stays, and an empty Complement takes it away.
type AddressEdit struct {
	Zipcode      string  `json:"zipcode,omitempty"`
	Street       string  `json:"street,omitempty"`
	Number       string  `json:"number,omitempty"`
	Complement   *string `json:"complement,omitempty"`
	Neighborhood string  `json:"neighborhood,omitempty"`
	City         string  `json:"city,omitempty"`
	State        string  `json:"state,omitempty"`
}

// EditSubscription changes the subscription in force. An extension of the contract.
func (c *Client) EditSubscription(ctx context.Context, planID, cpf string, edit SubscriptionEdit, opts ...Option) (SubscriptionState, error) {
	return c.changeSubscription(ctx, planID, cpf, edit, opts)
}

// changeSubscription posts a change of one subscription and returns its new state.
func (c *Client) changeSubscription(ctx context.Context, planID, cpf string, body any, opts []Option) (SubscriptionState, error) {
	var now SubscriptionState
	err := c.post(ctx, body, &now, "/subscriptions/{plan_id}/{beneficiary_cpf}/changes", []string{planID, cpf}, opts)
	return now, err
}

// SubscriptionsMoved is what became of many subscriptions.
type SubscriptionsMoved struct {
	Result     string     `json:"result"` // success, partial_success or failure
	Changed    int        `json:"total_changed_items"`
	NotChanged int        `json:"total_not_changed_items"`
	Refused    []NotMoved `json:"not_changed_items"`
}

// NotMoved is a subscription that was not moved, by its place in the request.
type NotMoved struct {
	Item   int      `json:"item"`
	CPF    string   `json:"cpf"`
	Errors []string `json:"errors"`
}

// MoveSubscriptions moves the subscriptions of up to 1,000 people to one plan. An extension of the contract.
func (c *Client) MoveSubscriptions(ctx context.Context, planID string, move Move, cpfs []string, opts ...Option) (SubscriptionsMoved, error) {
	body := struct {
		PlanID string   `json:"plan_id"`
		Move   Move     `json:"move"`
		CPFs   []string `json:"cpfs"`
	}{planID, move, cpfs}
	var moved SubscriptionsMoved
	err := c.post(ctx, body, &moved, "/subscription-moves", nil, opts)
	return moved, err
}

// EditOf is an edit of one person's subscription.
type EditOf struct {
	CPF string `json:"cpf"`
	SubscriptionEdit
}

// SubscriptionsEdited is what became of many edits.
type SubscriptionsEdited struct {
	Result     string      `json:"result"` // success, partial_success or failure
	Changed    int         `json:"total_changed_items"`
	NotChanged int         `json:"total_not_changed_items"`
	Refused    []NotEdited `json:"not_changed_items"`
}

// NotEdited is a subscription that stayed as it was, by its place in the request.
type NotEdited struct {
	Item   int      `json:"item"`
	Errors []string `json:"errors"`
}

// EditSubscriptions changes the subscriptions of up to 1,000 people to one plan, each by an edit of its own. An extension of
// the contract.
func (c *Client) EditSubscriptions(ctx context.Context, planID string, edits []EditOf, opts ...Option) (SubscriptionsEdited, error) {
	body := struct {
		PlanID string   `json:"plan_id"`
		Items  []EditOf `json:"items"`
	}{planID, edits}
	var edited SubscriptionsEdited
	err := c.post(ctx, body, &edited, "/subscription-changes", nil, opts)
	return edited, err
}

// DayStatistics are the numbers of one day.
type DayStatistics struct {
	Day        string `json:"day"` // YYYY-MM-DD
	Findings   int64  `json:"findings"`
	Alerts     int64  `json:"alerts"`
	Enrolments int64  `json:"enrolments"`
	Cases      int64  `json:"cases"`
}

// Statistics reads the numbers of the last days, oldest first. An extension of the contract.
func (c *Client) Statistics(ctx context.Context, days int, opts ...Option) ([]DayStatistics, error) {
	k := newCall(http.MethodGet, "/statistics", nil, opts)
	k.query.Set("days", strconv.Itoa(days))
	var list struct {
		Days []DayStatistics `json:"days"`
	}
	err := c.do(ctx, k, &list)
	return list.Days, err
}
