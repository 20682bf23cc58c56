package mcp

import (
	"time"

	"github.com/vigiahq/vigia/client"
)

// The answers of the tools. Each member is copied by name, so that a new field of the API reaches the assistant only by
// a deliberate change here.
type (
	// unlooked says for how many of the person's values past breaches were not looked into yet.
	unlooked struct {
		NotLookedAt int    `json:"notLookedAt,omitempty"`
		Note        string `json:"note,omitempty"`
	}
	advice struct {
		unlooked
		Advice []client.Advice `json:"advice"`
	}
	score struct {
		unlooked
		Today   client.RiskScore    `json:"today"`
		History []client.ScorePoint `json:"history"`
	}
	assets struct {
		unlooked
		Values []asset `json:"values"`
	}
	asset struct {
		ID     string `json:"id"`
		Type   string `json:"type"`
		Masked string `json:"masked"`
		Status string `json:"status"`
	}
	findings struct {
		unlooked
		Findings []finding `json:"findings"`
	}
	finding struct {
		ID             string    `json:"id"`
		AssetID        string    `json:"assetId"`
		AssetType      string    `json:"assetType"`
		Breach         string    `json:"breach"`
		UntrustedTitle string    `json:"untrustedTitle"`
		BreachDate     string    `json:"breachDate"`
		BreachKind     string    `json:"breachKind"`
		Exposed        []string  `json:"exposed"`
		Basis          string    `json:"basis"`
		UntrustedSites []string  `json:"untrustedSites"`
		OwnSite        bool      `json:"ownSite"`
		Severity       string    `json:"severity"`
		State          string    `json:"state"`
		FoundAt        time.Time `json:"foundAt"`
	}
	covers struct {
		Covers []cover `json:"covers"`
	}
	cover struct {
		Plan       string   `json:"plan"`
		Origin     string   `json:"origin"`
		Limit      float64  `json:"limit"`
		Kinds      []string `json:"kinds"`
		Conditions string   `json:"conditions"`
		Exclusions string   `json:"exclusions"`
	}
	devices struct {
		Devices []device `json:"devices"`
	}
	device struct {
		System     string    `json:"system"`
		KeyEnd     string    `json:"keyEnd"`
		ValidUntil time.Time `json:"validUntil"`
	}
	cases struct {
		Cases []supportCase `json:"cases"`
	}
	supportCase struct {
		ID        string    `json:"id"`
		ServiceID string    `json:"serviceId"`
		Status    string    `json:"status"`
		OpenedAt  time.Time `json:"openedAt"`
		ChangedAt time.Time `json:"changedAt"`
		Rating    int       `json:"rating,omitempty"`
	}
	caseHistory struct {
		Case    supportCase `json:"case"`
		History []caseLine  `json:"history"`
	}
	caseLine struct {
		At     time.Time `json:"at"`
		Type   string    `json:"type"`
		From   string    `json:"from"`
		Status string    `json:"status,omitempty"`
	}
	subscriptions struct {
		Subscriptions []subscribed `json:"subscriptions"`
		Page          int          `json:"page"`
		TotalItems    int          `json:"totalItems"`
		TotalPages    int          `json:"totalPages"`
	}
	subscribed struct {
		PlanID    string    `json:"planId"`
		CPF       string    `json:"cpf"`
		Email     string    `json:"email"`
		Phone     string    `json:"phone"`
		StartDate time.Time `json:"startDate"`
	}
	breaches struct {
		Breaches   []breach `json:"breaches"`
		Page       int      `json:"page"`
		TotalItems int      `json:"totalItems"`
		HasMore    bool     `json:"hasMore"`
	}
	breach struct {
		Name           string   `json:"name"`
		UntrustedTitle string   `json:"untrustedTitle"`
		Date           string   `json:"date"`
		Kind           string   `json:"kind"`
		Exposes        []string `json:"exposes"`
		Verified       bool     `json:"verified"`
		Fabricated     bool     `json:"fabricated"`
		SpamList       bool     `json:"spamList"`
	}
	people struct {
		People []person `json:"people"`
		// Partial says that there are more subscriptions than were looked at.
		Partial bool `json:"partial"`
	}
	person struct {
		UserHash string `json:"userHash"`
		subscribed
	}
	openedCase struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	events struct {
		Events []event `json:"events"`
	}
	event struct {
		ID       string    `json:"id"`
		Type     string    `json:"type"`
		At       time.Time `json:"at"`
		UserHash string    `json:"userHash,omitempty"`
	}
)
