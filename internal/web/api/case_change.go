package api

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// caseKey returns the key of the case that the request is about: partner, person and case.
func (r *request) caseKey() cyber.CaseKey {
	return cyber.CaseKey{ID: cyber.CaseID(r.id), Partner: r.caller.Partner, User: r.user}
}

// caseMessage is the body of POST /cyber/case/{id}/messages.
type caseMessage struct {
	personBody
	Text       string      `json:"text"`
	Attachment *attachment `json:"attachment"`
}

// attachment is a text file that a person adds to a case.
type attachment struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// addCaseMessage adds what the person writes to a case.
func (s *Server) addCaseMessage(r *request, in caseMessage) (any, error) {
	m := cyber.Message{Text: in.Text, Attachment: (*cyber.Attachment)(in.Attachment)}
	_, err := r.rules.Cases.AddMessage(r.ctx, r.caseKey(), m)
	return done{http.StatusOK, msgCaseTold}, err
}

// caseCancel is the body of POST /cyber/case/{id}/cancel.
type caseCancel struct {
	personBody
	Reason string `json:"reason"`
}

// cancelCase cancels a case for the person.
func (s *Server) cancelCase(r *request, in caseCancel) (any, error) {
	_, err := r.rules.Cases.CancelCase(r.ctx, r.caseKey(), in.Reason)
	return done{http.StatusOK, msgCaseCancelled}, err
}

// caseRebook is the body of POST /cyber/case/{id}/rebook.
type caseRebook struct {
	personBody
	Appointments []jsontext.Value `json:"appointments"`
}

// rebookCase books another appointment for a case, the first of the proposed times that is free.
func (s *Server) rebookCase(r *request, in caseRebook) (any, error) {
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
	c, err := r.rules.Cases.RebookCase(r.ctx, r.caseKey(), r.caller.Mode, times)
	return showCaseItem(c), err
}

// caseRating is the body of POST /cyber/case/{id}/rate.
type caseRating struct {
	personBody
	Rating  int    `json:"rating"`
	Comment string `json:"comment"`
}

// ratePersonCase keeps what the person thought of a case.
func (s *Server) ratePersonCase(r *request, in caseRating) (any, error) {
	_, err := r.rules.Cases.RateCase(r.ctx, r.caseKey(), in.Rating, in.Comment)
	return done{http.StatusOK, msgCaseRated}, err
}
