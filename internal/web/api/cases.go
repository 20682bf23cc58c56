package api

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
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
	cyber.MoveStatus:     "status",
	cyber.MoveReply:      "message",
	cyber.MoveMessage:    "message",
	cyber.MoveAttachment: "attachment",
	cyber.MoveBooking:    "appointment",
	cyber.MoveRating:     "rating",
}

// listCases answers with all cases of a person.
func (s *Server) listCases(r *request) (any, error) {
	list, err := r.rules.Cases.ListPersonCases(r.ctx, r.caller.Partner, r.user)
	if err != nil {
		return nil, err
	}
	r.items = len(list)
	return showAll(list, showCaseItem), nil
}

// showCaseItem returns a case as the API shows it; the appointment is absent while none is booked.
func showCaseItem(c cyber.Case) caseItem {
	return caseItem{newCaseTask(c), formatMoment(c.ChangedAt), formatMoment(c.Booked), c.Rating}
}

// showPersonCase answers with one case and its history.
func (s *Server) showPersonCase(r *request) (any, error) {
	c, moves, err := r.rules.Cases.ReadPersonCase(r.ctx, r.caseKey())
	if err != nil {
		return nil, err
	}
	detail := caseDetail{
		caseItem:     showCaseItem(c),
		Appointments: rawElements(c.Appointments),
		Questions:    rawElements(c.Answers),
	}
	r.items, detail.History = len(moves), showAll(moves, showCaseLine)
	return detail, nil
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
