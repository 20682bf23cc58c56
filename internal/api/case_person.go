package api

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// caseItem is an element of GET /cyber/cases/{userhash}.
type caseItem struct {
	caseTask
	ChangedAt   string `json:"changedAt"`
	Appointment string `json:"appointment,omitempty"`
	Rating      int    `json:"rating,omitzero"`
}

// caseDetail is the answer of GET /cyber/case/{id}/history/{userhash}.
type caseDetail struct {
	caseItem
	Appointments []jsontext.Value `json:"appointments"`
	Questions    []jsontext.Value `json:"questions"`
	History      []caseLine       `json:"history"`
}

// caseLine is what a person sees of one line of a case's history.
type caseLine struct {
	At     string `json:"at"`
	Type   string `json:"type"`
	From   string `json:"from"`
	Status string `json:"status,omitempty"`
	Text   string `json:"text,omitempty"`
	Name   string `json:"name,omitempty"`
}

// lineTypes are the names of the kinds of lines; notes are not shown.
var lineTypes = map[cyber.MoveKind]string{
	cyber.MoveStatus: "status", cyber.MoveReply: "message", cyber.MoveMessage: "message", cyber.MoveAttachment: "attachment",
	cyber.MoveBooking: "appointment", cyber.MoveRating: "rating",
}

// showCaseItem returns a case as the API shows it; the appointment is absent while none is booked.
func showCaseItem(c cyber.Case) caseItem {
	item := caseItem{caseTask: caseTask{
		ID: string(c.ID), Status: string(c.Status), CreationDate: c.CreatedAt.UTC().Format(alert.TimeFormat), ServiceID: string(c.Service),
	}, ChangedAt: c.ChangedAt.UTC().Format(alert.TimeFormat), Rating: c.Rating}
	if !c.Booked.IsZero() {
		item.Appointment = c.Booked.UTC().Format(alert.TimeFormat)
	}
	return item
}

// showCaseLine returns a line of a case's history as the API shows it. Lines with an operator are from "support",
// others from "person".
func showCaseLine(m cyber.CaseMove) caseLine {
	line := caseLine{At: m.At.UTC().Format(alert.TimeFormat), Type: lineTypes[m.Kind], From: "person", Text: m.Note}
	if m.Actor != "" {
		line.From = "support"
	}
	switch m.Kind {
	case cyber.MoveStatus:
		line.Status = string(m.To)
	case cyber.MoveAttachment:
		attached := m.ParseAttachment()
		line.Name, line.Text = attached.Name, attached.Text
	default:
	}
	return line
}

// listCases answers with all cases of a person.
func (s *Server) listCases(r *request) (any, error) {
	user, err := r.userHashInPath()
	if err != nil {
		return nil, err
	}
	list, err := r.rules.Cases.ListPersonCases(r.ctx, r.caller.Partner, user)
	if err != nil {
		return nil, err
	}
	r.items = len(list)
	items := make([]caseItem, len(list))
	for i, c := range list {
		items[i] = showCaseItem(c)
	}
	return items, nil
}

// showPersonCase answers with one case and its history.
func (s *Server) showPersonCase(r *request) (any, error) {
	user, err := r.userHashInPath()
	if err != nil {
		return nil, err
	}
	key, err := r.caseKeyInPath(user)
	if err != nil {
		return nil, err
	}
	c, moves, err := r.rules.Cases.ReadPersonCase(r.ctx, key)
	if err != nil {
		return nil, err
	}
	r.items = len(moves)
	detail := caseDetail{caseItem: showCaseItem(c), Appointments: rawElements(c.Appointments), Questions: rawElements(c.Answers), History: make([]caseLine, len(moves))}
	for i, m := range moves {
		detail.History[i] = showCaseLine(m)
	}
	return detail, nil
}

// rawElements returns the elements of a list exactly as the partner sent them.
func rawElements(texts []string) []jsontext.Value {
	list := make([]jsontext.Value, len(texts))
	for i, t := range texts {
		list[i] = jsontext.Value(t)
	}
	return list
}

// caseKeyInPath returns the key of the case in the path: partner, person and case.
func (r *request) caseKeyInPath(user partner.UserHash) (cyber.CaseKey, error) {
	id, err := r.idInPath("id", cyber.ErrCaseNotFound)
	return cyber.CaseKey{ID: cyber.CaseID(id), Partner: r.caller.Partner, User: user}, err
}

// readCaseBody reads a body about a case of the person that it names.
func (r *request) readCaseBody(body any, userHash *string) (cyber.CaseKey, error) {
	if err := r.decodeBody(body); err != nil {
		return cyber.CaseKey{}, err
	}
	user, err := partner.ParseUserHash("userHash", *userHash)
	if err != nil {
		return cyber.CaseKey{}, err
	}
	return r.caseKeyInPath(user)
}

// caseMessage is the body of POST /cyber/case/{id}/messages.
type caseMessage struct {
	UserHash   string      `json:"userHash"`
	Text       string      `json:"text"`
	Attachment *attachment `json:"attachment"`
}

// attachment is a text file that a person adds to a case.
type attachment struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// addCaseMessage adds what the person writes to a case.
func (s *Server) addCaseMessage(r *request) (any, error) {
	var in caseMessage
	key, err := r.readCaseBody(&in, &in.UserHash)
	if err != nil {
		return nil, err
	}
	m := cyber.Message{Text: in.Text}
	if in.Attachment != nil {
		m.Attachment = &cyber.Attachment{Name: in.Attachment.Name, Text: in.Attachment.Text}
	}
	_, err = r.rules.Cases.AddMessage(r.ctx, key, m)
	return done{http.StatusOK, msgCaseTold}, err
}

// caseCancel is the body of POST /cyber/case/{id}/cancel.
type caseCancel struct {
	UserHash string `json:"userHash"`
	Reason   string `json:"reason"`
}

// cancelCase cancels a case for the person.
func (s *Server) cancelCase(r *request) (any, error) {
	var in caseCancel
	key, err := r.readCaseBody(&in, &in.UserHash)
	if err != nil {
		return nil, err
	}
	_, err = r.rules.Cases.CancelCase(r.ctx, key, in.Reason)
	return done{http.StatusOK, msgCaseCancelled}, err
}

// caseRebook is the body of POST /cyber/case/{id}/rebook.
type caseRebook struct {
	UserHash     string           `json:"userHash"`
	Appointments []jsontext.Value `json:"appointments"`
}

// rebookCase books another appointment for a case, the first of the proposed times that is free.
func (s *Server) rebookCase(r *request) (any, error) {
	var in caseRebook
	key, err := r.readCaseBody(&in, &in.UserHash)
	if err != nil {
		return nil, err
	}
	if len(in.Appointments) > maxCaseItems {
		return nil, errBodyInvalid.With("appointments", fault.ElementsAtMost, maxCaseItems)
	}
	var times []time.Time
	for i, raw := range in.Appointments {
		a, err := parseAppointment(fmt.Sprintf("appointments.%d", i), raw)
		if err != nil {
			return nil, err
		}
		if !a.At.IsZero() {
			times = append(times, a.At)
		}
	}
	c, err := r.rules.Cases.RebookCase(r.ctx, key, r.caller.Mode, times)
	if err != nil {
		return nil, err
	}
	return showCaseItem(c), nil
}

// caseRating is the body of POST /cyber/case/{id}/rate.
type caseRating struct {
	UserHash string `json:"userHash"`
	Rating   int    `json:"rating"`
	Comment  string `json:"comment"`
}

// ratePersonCase keeps what the person thought of a case.
func (s *Server) ratePersonCase(r *request) (any, error) {
	var in caseRating
	key, err := r.readCaseBody(&in, &in.UserHash)
	if err != nil {
		return nil, err
	}
	_, err = r.rules.Cases.RateCase(r.ctx, key, in.Rating, in.Comment)
	return done{http.StatusOK, msgCaseRated}, err
}
