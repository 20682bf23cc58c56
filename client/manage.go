package client

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// What a partner sees to itself: webhooks, keys, usage. All of it is an extension of the contract and needs the scope
// manage, or manage:read where it only reads.

// Webhook is an address that events are pushed to.
type Webhook struct {
	ID string `json:"id"`
	// URL is without its query.
	URL   string   `json:"url"`
	Types []string `json:"types"` // empty for all
	State string   `json:"state"` // enabled or paused
	// Reason is why it is paused: asked, gone or failing.
	Reason       string    `json:"reason,omitempty"`
	FailingSince time.Time `json:"failingSince,omitzero"`
	CreatedAt    time.Time `json:"createdAt"`
}

// WebhookSecret is a webhook with the secret that is shown once.
type WebhookSecret struct {
	Webhook
	Secret     string   `json:"secret"`
	PublicKeys []string `json:"publicKeys"`
}

// WebhookDetail is a webhook and how it fares.
type WebhookDetail struct {
	Webhook
	PublicKeys []string      `json:"publicKeys"`
	Health     WebhookHealth `json:"health"`
}

// WebhookHealth counts the newest deliveries of a webhook.
type WebhookHealth struct {
	Delivered int64 `json:"delivered"`
	Failed    int64 `json:"failed"`
	// SuccessRate is in percent; nil before the first delivery is over.
	SuccessRate *int64 `json:"successRate"`
	// MeanMs is how long one was under way.
	MeanMs  int64       `json:"meanMs"`
	Backlog int64       `json:"backlog"`
	LastTry *WebhookTry `json:"lastTry"`
}

// WebhookTry is one attempt to deliver.
type WebhookTry struct {
	Delivered bool      `json:"delivered"`
	Status    int       `json:"status"`
	Failure   string    `json:"failure,omitempty"`
	TookMs    int64     `json:"tookMs"`
	At        time.Time `json:"at,omitzero"`
	EventID   string    `json:"eventId,omitempty"`
}

// Webhooks lists the partner's webhooks, oldest first.
func (c *Client) Webhooks(ctx context.Context, opts ...Option) ([]Webhook, error) {
	var list []Webhook
	err := c.get(ctx, &list, "/webhooks", nil, opts)
	return list, err
}

// CreateWebhook registers an address for events of some types; none means all that the key may read.
func (c *Client) CreateWebhook(ctx context.Context, url string, types []string, opts ...Option) (WebhookSecret, error) {
	body := struct {
		URL   string   `json:"url"`
		Types []string `json:"types,omitempty"`
	}{url, types}
	var made WebhookSecret
	err := c.post(ctx, body, &made, "/webhooks", nil, opts)
	return made, err
}

// Webhook reads one webhook and how it fares.
func (c *Client) Webhook(ctx context.Context, id string, opts ...Option) (WebhookDetail, error) {
	var one WebhookDetail
	err := c.get(ctx, &one, "/webhooks/{id}", []string{id}, opts)
	return one, err
}

// RemoveWebhook ends the pushing to an address.
func (c *Client) RemoveWebhook(ctx context.Context, id string, opts ...Option) error {
	return c.do(ctx, newCall(http.MethodDelete, "/webhooks/{id}", []string{id}, opts), &done{})
}

// PauseWebhook holds events back until ResumeWebhook.
func (c *Client) PauseWebhook(ctx context.Context, id string, opts ...Option) (Webhook, error) {
	return c.setWebhook(ctx, id, "paused", opts)
}

// ResumeWebhook pushes again, what was held first.
func (c *Client) ResumeWebhook(ctx context.Context, id string, opts ...Option) (Webhook, error) {
	return c.setWebhook(ctx, id, "enabled", opts)
}

// setWebhook posts a new state of a webhook.
func (c *Client) setWebhook(ctx context.Context, id, state string, opts []Option) (Webhook, error) {
	body := struct {
		State string `json:"state"`
	}{state}
	var now Webhook
	err := c.post(ctx, body, &now, "/webhooks/{id}/state", []string{id}, opts)
	return now, err
}

// RotateWebhook replaces the secret; the old one signs beside it for some hours more, 0 to 168.
func (c *Client) RotateWebhook(ctx context.Context, id string, overlapHours int, opts ...Option) (WebhookSecret, error) {
	body := struct {
		Overlap int `json:"overlapHours"`
	}{overlapHours}
	var made WebhookSecret
	err := c.post(ctx, body, &made, "/webhooks/{id}/rotate", []string{id}, opts)
	return made, err
}

// TestWebhook sends one made-up event of a type now and reports what came of it.
func (c *Client) TestWebhook(ctx context.Context, id, eventType string, opts ...Option) (WebhookTry, error) {
	body := struct {
		Type string `json:"type"`
	}{eventType}
	var try WebhookTry
	err := c.post(ctx, body, &try, "/webhooks/{id}/test", []string{id}, opts)
	return try, err
}

// Replay selects what is pushed again: exactly one of Event, the window and Failed.
type Replay struct {
	Event  string    `json:"event,omitempty"`
	From   time.Time `json:"from,omitzero"`
	To     time.Time `json:"to,omitzero"`
	Failed bool      `json:"failed,omitempty"`
}

// ReplayWebhook pushes events again and returns how many deliveries were queued.
func (c *Client) ReplayWebhook(ctx context.Context, id string, which Replay, opts ...Option) (int64, error) {
	var queued struct {
		Deliveries int64 `json:"deliveries"`
	}
	err := c.post(ctx, which, &queued, "/webhooks/{id}/replay", []string{id}, opts)
	return queued.Deliveries, err
}

// Key is an API key without its secret part.
type Key struct {
	ID     string   `json:"id"`
	Label  string   `json:"label"`
	Starts string   `json:"starts"`
	Scopes []string `json:"scopes"`
	State  string   `json:"state"` // live, expired or revoked
	// ExpiresAt and RevokedAt are zero where it does not end and was not revoked.
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	RevokedAt time.Time `json:"revokedAt,omitzero"`
	// MadeBy is the key that made it, with which it ends; empty where a person did.
	MadeBy string `json:"madeBy,omitempty"`
	// Calling marks the key of the request itself.
	Calling bool `json:"calling"`
}

// MadeKey is a key that is shown whole, once.
type MadeKey struct {
	Key
	APIKey string `json:"apiKey"`
}

// NewKey is a key to be made. The zero ExpiresAt means: as long as the calling key.
type NewKey struct {
	Label     string    `json:"label,omitempty"`
	Scopes    []string  `json:"scopes"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

// Keys lists the partner's keys, oldest first.
func (c *Client) Keys(ctx context.Context, opts ...Option) ([]Key, error) {
	var list []Key
	err := c.get(ctx, &list, "/keys", nil, opts)
	return list, err
}

// CreateKey makes a key with some of the scopes of the calling one.
func (c *Client) CreateKey(ctx context.Context, k NewKey, opts ...Option) (MadeKey, error) {
	var made MadeKey
	err := c.post(ctx, k, &made, "/keys", nil, opts)
	return made, err
}

// RollKey replaces a key; the old one works on for some hours, 0 to 168.
func (c *Client) RollKey(ctx context.Context, id string, graceHours int, opts ...Option) (MadeKey, error) {
	body := struct {
		Grace int `json:"graceHours"`
	}{graceHours}
	var made MadeKey
	err := c.post(ctx, body, &made, "/keys/{id}/roll", []string{id}, opts)
	return made, err
}

// RevokeKey ends a key that is not the client's own.
func (c *Client) RevokeKey(ctx context.Context, id string, opts ...Option) error {
	return c.do(ctx, newCall(http.MethodDelete, "/keys/{id}", []string{id}, opts), &done{})
}

// RevokeOwnKey ends the very key that the client shows.
func (c *Client) RevokeOwnKey(ctx context.Context, id string, opts ...Option) error {
	k := newCall(http.MethodDelete, "/keys/{id}", []string{id}, opts)
	k.query.Set("self", "true")
	return c.do(ctx, k, &done{})
}

// Usage is what the partner uses and what is left.
type Usage struct {
	Rate struct {
		PerSecond     int `json:"perSecond"`
		Burst         int `json:"burst"`
		BulkPerSecond int `json:"bulkItemsPerSecond"`
	} `json:"rate"`
	Budgets             []Budget      `json:"budgets"`
	ActiveSubscriptions int64         `json:"activeSubscriptions"`
	Requests            []DayRequests `json:"requests"`
}

// Budget is something of which there is only so much.
type Budget struct {
	Name  string `json:"name"`
	Limit int64  `json:"limit"`
	Used  int64  `json:"used"`
	Left  int64  `json:"left"`
}

// DayRequests are the requests of a day for one operation.
type DayRequests struct {
	Day       string `json:"day"`
	Operation string `json:"operation"`
	Requests  int64  `json:"requests"`
	Refused   int64  `json:"refused"`
}

// Usage reads rates, budgets and the requests of the last days.
func (c *Client) Usage(ctx context.Context, days int, opts ...Option) (Usage, error) {
	k := newCall(http.MethodGet, "/usage", nil, opts)
	k.query.Set("days", strconv.Itoa(days))
	var u Usage
	err := c.do(ctx, k, &u)
	return u, err
}

// BreachFacts is what is publicly told of a breach.
type BreachFacts struct {
	Name        string    `json:"name"`
	Title       string    `json:"title"`
	Date        string    `json:"date"` // YYYY-MM-DD
	Kind        string    `json:"kind"`
	Description string    `json:"description"`
	Exposes     []string  `json:"exposes"`
	Verified    bool      `json:"verified"`
	Fabricated  bool      `json:"fabricated"`
	SpamList    bool      `json:"spamList"`
	AddedAt     time.Time `json:"addedAt"`
}

// BreachPage is a page of the published breaches.
type BreachPage struct {
	Breaches   []BreachFacts `json:"breaches"`
	Page       int64         `json:"page"`
	PageSize   int           `json:"pageSize"`
	TotalItems int64         `json:"totalItems"`
	HasNext    bool          `json:"hasNext"`
}

// BreachPage reads the published breaches, newest first. An extension of the contract.
func (c *Client) BreachPage(ctx context.Context, page, size int, opts ...Option) (BreachPage, error) {
	k := newCall(http.MethodGet, "/cyber/breaches", nil, opts)
	k.query.Set("page", strconv.Itoa(page))
	k.query.Set("page_size", strconv.Itoa(size))
	var p BreachPage
	err := c.do(ctx, k, &p)
	return p, err
}

// Breach reads one published breach by its name. An extension of the contract.
func (c *Client) Breach(ctx context.Context, name string, opts ...Option) (BreachFacts, error) {
	var b BreachFacts
	err := c.get(ctx, &b, "/cyber/breaches/{name}", []string{name}, opts)
	return b, err
}
