package client

import (
	"context"
	"time"
)

// Advice is one piece of educational content for a person.
type Advice struct {
	CatalogID string `json:"catalogId"`
	// UserID is the user hash as it was sent.
	UserID     string `json:"userId"`
	Type       string `json:"type"` // advice, alert or tip
	Title      string `json:"title"`
	Body       string `json:"body"`
	DeviceType string `json:"deviceType"` // mobile, desktop or all
	// Question can be answered with Answer, by one of the Options; empty where nothing is asked.
	Question string         `json:"validationQuestion"`
	Options  []AnswerOption `json:"answerOptions"`
}

// AnswerOption is a possible answer.
type AnswerOption struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// Advise lists what applies to a person, most urgent first.
func (c *Client) Advise(ctx context.Context, userHash string, opts ...Option) ([]Advice, error) {
	var list []Advice
	err := c.get(ctx, &list, "/cyber/advise/{userhash}", []string{userHash}, opts)
	return list, err
}

// Answer keeps a person's answer to the question of an advice; it feeds the assessment score. An extension of the
// contract.
func (c *Client) Answer(ctx context.Context, userHash, catalogID, value string, opts ...Option) error {
	body := struct {
		CatalogID string `json:"catalogId"`
		Value     string `json:"value"`
	}{catalogID, value}
	return c.post(ctx, body, &done{}, "/cyber/advise/{userhash}/answers", []string{userHash}, opts)
}

// Score is a person's risk; both figures go from 0, the best, to 100.
type Score struct {
	Breach          float64  `json:"breachScore"`
	Assessment      float64  `json:"assessmentScore"`
	Recommendations []string `json:"recommendations"`
}

// Score returns the risk of a person.
func (c *Client) Score(ctx context.Context, userHash string, opts ...Option) (Score, error) {
	var s Score
	err := c.get(ctx, &s, "/cyber/score/{userhash}", []string{userHash}, opts)
	return s, err
}

// ScorePoint is a day on which the score of a person had changed.
type ScorePoint struct {
	Date       string  `json:"date"` // YYYY-MM-DD, UTC
	Breach     float64 `json:"breachScore"`
	Assessment float64 `json:"assessmentScore"`
}

// ScoreHistory lists the days on which the score of a person was asked for and had changed, oldest first. An extension
// of the contract.
func (c *Client) ScoreHistory(ctx context.Context, userHash string, opts ...Option) ([]ScorePoint, error) {
	var list []ScorePoint
	err := c.get(ctx, &list, "/cyber/score/{userhash}/history", []string{userHash}, opts)
	return list, err
}

// Coverage is the insurance cover of a person.
type Coverage struct {
	Plan       string   `json:"plano"`
	Limit      float64  `json:"limiteCobertura"`
	Kinds      []string `json:"tipoCobertura"`
	Conditions string   `json:"condições"`
	Exclusions string   `json:"exclusões"`
}

// Coverage returns the insurance cover of a person, or ErrNotFound.
func (c *Client) Coverage(ctx context.Context, userHash string, opts ...Option) (Coverage, error) {
	var wire struct {
		Details Coverage `json:"detalhesCobertura"`
	}
	err := c.get(ctx, &wire, "/cyber/insurance/{userhash}", []string{userHash}, opts)
	return wire.Details, err
}

// Cover is a plan in force for a person.
type Cover struct {
	PlanID string `json:"planoId"` // empty for the demo cover of a sandbox partner
	// Origin is assinatura, plano_padrao (the partner's default plan) or demonstracao.
	Origin    string     `json:"origem"`
	Details   Coverage   `json:"detalhesCobertura"`
	SubLimits []SubLimit `json:"sublimites"`
	// WaitingDays pass after From before anything is covered; CoveredFrom is the first covered day. Without a
	// subscription the dates are zero, as is Until where it has no end.
	WaitingDays int       `json:"carenciaDias"`
	CoveredFrom time.Time `json:"vigenteDesde"`
	From        time.Time `json:"inicio"`
	Until       time.Time `json:"fim"`
}

// SubLimit is the part of the limit that one kind of loss may use, in reais.
type SubLimit struct {
	Name  string  `json:"nome"`
	Limit float64 `json:"limite"`
}

// Cover lists every plan in force for a person, the highest limit first, or returns ErrNotFound. An extension of the
// contract.
func (c *Client) Cover(ctx context.Context, userHash string, opts ...Option) ([]Cover, error) {
	var wire struct {
		Covers []Cover `json:"coberturas"`
	}
	err := c.get(ctx, &wire, "/cyber/cover/{userhash}", []string{userHash}, opts)
	return wire.Covers, err
}

// Finding is where a watched value was found. It never holds the exposed data itself.
type Finding struct {
	ID        string    `json:"id"`
	AssetID   string    `json:"assetId"`
	AssetType AssetType `json:"assetType"`
	Breach    Breach    `json:"breach"`
	// Exposed names what was exposed of the person: email, password, cpf, phone, card, address. With Basis "breach" it
	// is what the breach exposed of its people, because this person's own records are not known; else Basis is "row".
	Exposed []string `json:"exposed"`
	Basis   string   `json:"basis"`
	// Sites are hosts for which malware took credentials from the person's device, TakenOn the last day of it
	// (YYYY-MM-DD), both empty when unknown. OwnSite says that one of the sites is yours, WatchedSite that the operator watches one of
	// them for you.
	Sites       []string `json:"sites"`
	TakenOn     string   `json:"takenOn"`
	OwnSite     bool     `json:"ownSite"`
	WatchedSite bool     `json:"watchedSite"`
	// LeakedAs is how a Gmail address is spelled where it leaked, without its letters; nil of any other value.
	LeakedAs []string  `json:"leakedAs"`
	Severity string    `json:"severity"` // low, medium, high or critical
	State    string    `json:"state"`    // open or resolved
	FoundAt  time.Time `json:"foundAt"`
	// ResolvedAt and Reason are zero while the finding is open.
	ResolvedAt time.Time `json:"resolvedAt"`
	Reason     string    `json:"reason"`
}

// Breach is the incident a finding comes from.
type Breach struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Date  string `json:"date"` // YYYY-MM-DD
	Kind  string `json:"kind"` // breach, combolist, stealer, paste or phish
}

// PortalLink is a link to a person's own page.
type PortalLink struct {
	// URL is a secret until Expires: it opens the page without any other credential.
	URL     string    `json:"url"`
	Expires time.Time `json:"expiresAt"`
}

// PortalOptions are how a person's page begins; the zero value is Portuguese and leads back to nowhere.
type PortalOptions struct {
	// Lang is pt-BR, es or en.
	Lang string `json:"lang,omitempty"`
	// ReturnURL is where the page leads back to.
	ReturnURL string `json:"returnUrl,omitempty"`
}

// PortalSession makes a link to a person's own page, good for a few minutes. An extension of the contract.
func (c *Client) PortalSession(ctx context.Context, userHash string, how PortalOptions, opts ...Option) (PortalLink, error) {
	body := struct {
		UserHash string `json:"userHash"`
		PortalOptions
	}{userHash, how}
	var link PortalLink
	err := c.post(ctx, body, &link, "/cyber/portal-session", nil, opts)
	return link, err
}

// Findings lists the findings of a person, newest first, open and resolved. An extension of the contract.
func (c *Client) Findings(ctx context.Context, userHash string, opts ...Option) ([]Finding, error) {
	var list []Finding
	err := c.get(ctx, &list, "/cyber/findings/{userhash}", []string{userHash}, opts)
	return list, err
}

// Resolution is why a finding does not count any more.
type Resolution string

// The reasons.
const (
	PasswordChanged Resolution = "password_changed"
	AccountClosed   Resolution = "account_closed"
	CardReplaced    Resolution = "card_replaced"
	NotMe           Resolution = "not_me"
	OtherReason     Resolution = "other"
)

// Resolve tells that the person has dealt with a finding. Resolving a resolved one changes nothing. An extension of the
// contract.
func (c *Client) Resolve(ctx context.Context, userHash, findingID string, why Resolution, opts ...Option) error {
	body := struct {
		UserHash string     `json:"userHash"`
		Reason   Resolution `json:"reason"`
	}{userHash, why}
	return c.post(ctx, body, &done{}, "/cyber/findings/{id}/resolve", []string{findingID}, opts)
}
