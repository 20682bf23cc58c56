package client

import (
	"context"
	"time"
)

// Plan is what to do about a finding, in order. An extension of the contract.
type Plan struct {
	FindingID string `json:"findingId"`
	State     string `json:"state"`    // open or resolved
	Language  string `json:"language"` // pt-BR, es or en
	// Remaining counts the steps that are left before a re-check resolves the finding.
	Remaining int        `json:"remaining"`
	Steps     []PlanStep `json:"steps"`
}

// PlanStep is one step of a plan.
type PlanStep struct {
	ID   string `json:"id"`
	What string `json:"what"`
	Why  string `json:"why"`
	// Link is the official page where it is done; empty when there is none.
	Link    string `json:"link,omitempty"`
	Minutes int    `json:"minutes"`
	// Essential steps mend what leaked: without them the finding is not solved.
	Essential bool      `json:"essential"`
	DueAt     time.Time `json:"dueAt"`
	State     StepState `json:"state"`
	// MarkedAt is zero for a step of which nothing was said.
	MarkedAt time.Time `json:"markedAt,omitzero"`
}

// StepState is what became of a step.
type StepState string

// The states.
const (
	StepTodo    StepState = "todo"
	StepDone    StepState = "done"
	StepSkipped StepState = "skipped"
)

// In asks for texts in a language: pt-BR, which is what they are in without it, es or en.
func In(language string) Option { return func(k *call) { k.query.Set("lang", language) } }

// Plan reads the plan of a finding. An extension of the contract.
func (c *Client) Plan(ctx context.Context, userHash, findingID string, opts ...Option) (Plan, error) {
	var p Plan
	err := c.get(ctx, &p, "/cyber/findings/{id}/plan/{userhash}", []string{findingID, userHash}, opts)
	return p, err
}

// MarkStep keeps what became of a step. An extension of the contract.
func (c *Client) MarkStep(ctx context.Context, userHash, findingID, step string, state StepState, opts ...Option) error {
	body := struct {
		UserHash string    `json:"userHash"`
		State    StepState `json:"state"`
	}{userHash, state}
	return c.post(ctx, body, &done{}, "/cyber/findings/{id}/steps/{step}", []string{findingID, step}, opts)
}

// Rechecked is what a finding and its value come to.
type Rechecked struct {
	FindingID string `json:"findingId"`
	State     string `json:"state"` // open or resolved
	// Reason is why a resolved one does not count any more.
	Reason string      `json:"reason,omitempty"`
	Status AssetStatus `json:"status"`
	// Remaining are the steps that are left.
	Remaining []string `json:"remaining"`
}

// Recheck looks at a finding again after its steps: with none left it is resolved. An extension of the contract.
func (c *Client) Recheck(ctx context.Context, userHash, findingID string, opts ...Option) (Rechecked, error) {
	body := struct {
		UserHash string `json:"userHash"`
	}{userHash}
	var r Rechecked
	err := c.post(ctx, body, &r, "/cyber/findings/{id}/recheck", []string{findingID}, opts)
	return r, err
}
