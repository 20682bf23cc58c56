package client

import (
	"context"
	"encoding/json"
	"time"
)

// ServiceDetail is what a service asks before a case is opened, and when it is free. An extension of the contract.
type ServiceDetail struct {
	Service
	Questions []Question `json:"questions"`
	// Slots are the times that your people can still have, the soonest first; empty for a service without a calendar.
	Slots []time.Time `json:"slots"`
}

// Question is one that a service asks.
type Question struct {
	ID       string `json:"id"`
	Text     string `json:"question"`
	Required bool   `json:"required"`
	// Options are the answers to choose from; empty for any.
	Options []string `json:"options"`
}

// Service reads what a service asks and when it is free. An extension of the contract.
func (c *Client) Service(ctx context.Context, id string, opts ...Option) (ServiceDetail, error) {
	var s ServiceDetail
	err := c.get(ctx, &s, "/cyber/services/{id}", []string{id}, opts)
	return s, err
}

// CaseItem is a case of a person.
type CaseItem struct {
	Case
	ChangedAt time.Time `json:"changedAt"`
	// Appointment is zero for a case without one; Rating for one that was not rated.
	Appointment time.Time `json:"appointment,omitzero"`
	Rating      int       `json:"rating,omitempty"`
}

// CaseDetail is a case with what was sent and said.
type CaseDetail struct {
	CaseItem
	Appointments []json.RawMessage `json:"appointments"`
	Questions    []json.RawMessage `json:"questions"`
	History      []CaseLine        `json:"history"`
}

// CaseLine is one line of a case's history.
type CaseLine struct {
	At   time.Time `json:"at"`
	Type string    `json:"type"` // status, message, attachment, appointment or rating
	From string    `json:"from"` // person or support
	// Status is that of a move, Name that of an attachment.
	Status string `json:"status,omitempty"`
	Text   string `json:"text,omitempty"`
	Name   string `json:"name,omitempty"`
}

// Cases lists the cases of a person, newest first. An extension of the contract.
func (c *Client) Cases(ctx context.Context, userHash string, opts ...Option) ([]CaseItem, error) {
	var list []CaseItem
	err := c.get(ctx, &list, "/cyber/cases/{userhash}", []string{userHash}, opts)
	return list, err
}

// Case reads a case of a person. An extension of the contract.
func (c *Client) Case(ctx context.Context, userHash, caseID string, opts ...Option) (CaseDetail, error) {
	var one CaseDetail
	err := c.get(ctx, &one, "/cyber/case/{id}/history/{userhash}", []string{caseID, userHash}, opts)
	return one, err
}

// Attachment is a text that comes with a message.
type Attachment struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// ReplyToCase adds a message of the person, with an attachment unless it is nil. An extension of the contract.
func (c *Client) ReplyToCase(ctx context.Context, userHash, caseID, text string, with *Attachment, opts ...Option) error {
	body := struct {
		UserHash   string      `json:"userHash"`
		Text       string      `json:"text"`
		Attachment *Attachment `json:"attachment,omitempty"`
	}{userHash, text, with}
	return c.post(ctx, body, &done{}, "/cyber/case/{id}/messages", []string{caseID}, opts)
}

// CancelCase ends a case that the person does not need any more. An extension of the contract.
func (c *Client) CancelCase(ctx context.Context, userHash, caseID, reason string, opts ...Option) error {
	body := struct {
		UserHash string `json:"userHash"`
		Reason   string `json:"reason,omitempty"`
	}{userHash, reason}
	return c.post(ctx, body, &done{}, "/cyber/case/{id}/cancel", []string{caseID}, opts)
}

// RebookCase takes the first of the times that is free in place of the one that the case holds. An extension of the
// contract.
func (c *Client) RebookCase(ctx context.Context, userHash, caseID string, times []time.Time, opts ...Option) (CaseItem, error) {
	type wish struct {
		Appointment time.Time `json:"appointment"`
	}
	body := struct {
		UserHash     string `json:"userHash"`
		Appointments []wish `json:"appointments"`
	}{UserHash: userHash, Appointments: []wish{}}
	for _, at := range times {
		body.Appointments = append(body.Appointments, wish{at})
	}
	var one CaseItem
	err := c.post(ctx, body, &one, "/cyber/case/{id}/rebook", []string{caseID}, opts)
	return one, err
}

// RateCase keeps what the person thought of a resolved case, 1 to 5. An extension of the contract.
func (c *Client) RateCase(ctx context.Context, userHash, caseID string, rating int, comment string, opts ...Option) error {
	body := struct {
		UserHash string `json:"userHash"`
		Rating   int    `json:"rating"`
		Comment  string `json:"comment,omitempty"`
	}{userHash, rating, comment}
	return c.post(ctx, body, &done{}, "/cyber/case/{id}/rate", []string{caseID}, opts)
}
