package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// newCase is the body of POST /cyber/case. The inner members of its arrays are the partner's own, so they are kept as
// sent.
type newCase struct {
	ServiceID    string           `json:"serviceId"`
	UserHash     string           `json:"userHash"`
	Appointments []jsontext.Value `json:"appointments"`
	Questions    []jsontext.Value `json:"questions"`
}

// openedCase is the answer to a new case, as the contract writes it.
type openedCase struct {
	Msg  string   `json:"msg"`
	Task caseTask `json:"task"`
}

// caseTask is a case as the contract writes it.
type caseTask struct {
	ID           string `json:"id"`
	Status       string `json:"status"`
	CreationDate string `json:"creationDate"`
	ServiceID    string `json:"serviceId"`
}

// maxCaseItems bounds each array of a case.
const maxCaseItems = 100

// openSupportCase answers POST /cyber/case.
func (s *Server) openSupportCase(r *request, body newCase) (any, error) {
	wanted, err := body.parseRequest()
	if err != nil {
		return nil, err
	}
	wanted.Mode = r.caller.Mode
	c, err := r.rules.Cases.OpenCase(r.ctx, r.caller.Partner, wanted)
	return openedCase{Msg: msgCaseOpened, Task: newCaseTask(c)}, err
}

// newCaseTask returns a case as the contract writes it.
func newCaseTask(c cyber.Case) caseTask {
	return caseTask{
		ID:           string(c.ID),
		Status:       string(c.Status),
		CreationDate: formatMoment(c.CreatedAt),
		ServiceID:    string(c.Service),
	}
}

// parseRequest returns the request that the body describes.
func (b newCase) parseRequest() (cyber.CaseRequest, error) {
	user, err := partner.ParseUserHash("userHash", b.UserHash)
	if err != nil {
		return cyber.CaseRequest{}, err
	}
	if !partner.IsPrintable(b.ServiceID, maxID) {
		return cyber.CaseRequest{}, errBodyInvalid.With("serviceId", fault.PrintableLength, maxID)
	}
	if len(b.Appointments) > maxCaseItems || len(b.Questions) > maxCaseItems {
		return cyber.CaseRequest{}, errBodyInvalid.With("appointments, questions", fault.ElementsEach, maxCaseItems)
	}
	wanted := cyber.CaseRequest{Service: cyber.ServiceID(b.ServiceID), User: user}
	for i, raw := range b.Appointments {
		a, err := parseAppointment(fmt.Sprintf("appointments.%d", i), raw)
		if err != nil {
			return wanted, err
		}
		wanted.Appointments = append(wanted.Appointments, a)
	}
	for i, raw := range b.Questions {
		a, err := parseTriageAnswer(fmt.Sprintf("questions.%d", i), raw)
		if err != nil {
			return wanted, err
		}
		wanted.Answers = append(wanted.Answers, a)
	}
	return wanted, nil
}

// parseAppointment reads an element of the list of appointments. It refuses what is not an object, and null for the
// time.
func parseAppointment(field string, raw jsontext.Value) (cyber.Appointment, error) {
	if raw.Kind() != '{' {
		return cyber.Appointment{}, errBodyInvalid.With(field, fault.ExpectedObject)
	}
	var element struct {
		Appointment jsontext.Value `json:"appointment"` // a pointer would take null for a member that is not there
	}
	if err := json.Unmarshal(raw, &element); err != nil {
		return cyber.Appointment{}, jsonFault(err)
	}
	if err := plainTexts(field, raw); err != nil {
		return cyber.Appointment{}, err
	}
	a := cyber.Appointment{JSON: string(raw)}
	if element.Appointment == nil {
		return a, nil
	}
	var text string
	if element.Appointment.Kind() != '"' || json.Unmarshal(element.Appointment, &text) != nil {
		return cyber.Appointment{}, errBodyInvalid.With(fmt.Sprintf("%s.appointment", field), fault.WrongJSONType)
	}
	var err error
	a.At, err = cyber.ParseAppointment(field+".appointment", text)
	return a, err
}

// parseTriageAnswer reads which question an element answers, under the names that partners use for it; an element that
// says neither is kept all the same.
func parseTriageAnswer(field string, raw jsontext.Value) (cyber.TriageAnswer, error) {
	if raw.Kind() != '{' {
		return cyber.TriageAnswer{}, errBodyInvalid.With(field, fault.ExpectedObject)
	}
	var element map[string]jsontext.Value
	if err := json.Unmarshal(raw, &element); err != nil {
		return cyber.TriageAnswer{}, jsonFault(err)
	}
	if err := plainTexts(field, raw); err != nil {
		return cyber.TriageAnswer{}, err
	}
	return cyber.TriageAnswer{
		Question: firstText(element, cyber.QuestionMembers...),
		Answer:   firstText(element, cyber.AnswerMembers...),
		JSON:     string(raw),
	}, nil
}

// plainTexts refuses control characters, line breaks and tabs apart, in every name and text of an element that is kept
// as it was sent.
func plainTexts(field string, element jsontext.Value) error {
	d := jsontext.NewDecoder(bytes.NewReader(element))
	for {
		token, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return jsonFault(err)
		case token.Kind() == '"' && !partner.Paragraphs(token.String(), 0, len(element)):
			return errBodyInvalid.With(field, fault.NoControlCharacters)
		}
	}
}

// firstText returns the first of the members that is there: a text as it is, a number or a truth value as JSON writes
// it.
func firstText(element map[string]jsontext.Value, names ...string) string {
	for _, name := range names {
		raw, there := element[name]
		if !there {
			continue
		}
		switch raw.Kind() {
		case '"':
			var text string
			if json.Unmarshal(raw, &text) == nil {
				return text
			}
		case '0', 't', 'f':
			return strings.TrimSpace(string(raw))
		default: // null, a list or an object says nothing: the next name may
		}
	}
	return ""
}

// rawElements returns the elements of a list exactly as the partner sent them.
func rawElements(texts []string) []jsontext.Value {
	list := make([]jsontext.Value, len(texts))
	for i, t := range texts {
		list[i] = jsontext.Value(t)
	}
	return list
}
