package person

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// servicePage is what a person has to say to open a case.
type servicePage struct {
	cyber.ServiceDetail
	// More says that there are later times than those shown.
	More bool
}

// loadService returns a service that is offered to the people of a partner, with its triage questions and free times.
func (p *Pages) loadService(ctx context.Context, id partner.ID, service string) (cyber.ServiceDetail, error) {
	offered, err := p.Rules.Services.ListOffered(ctx)
	if err != nil {
		return cyber.ServiceDetail{}, err
	}
	at := slices.IndexFunc(offered, func(s cyber.Service) bool { return string(s.ID) == service })
	if at < 0 {
		return cyber.ServiceDetail{}, cyber.ErrServiceNotFound
	}
	return p.Rules.Cases.DescribeService(ctx, id, offered[at])
}

// showService shows a service with its triage questions and free times, to open a case.
func showService(p *Pages, r *request) (answer, error) {
	detail, err := p.loadService(r.Context(), r.who.ID, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	page := servicePage{ServiceDetail: detail, More: len(detail.Free) > mostSlots}
	page.Free = detail.Free[:min(len(detail.Free), mostSlots)]
	return view{"service", "service.title", page}, nil
}

// answerPrefix begins the names of the fields that answer questions.
const answerPrefix = "q-"

// openOwnCase opens a case with the triage answers, an optional appointment and a first message.
func openOwnCase(p *Pages, r *request) (answer, error) {
	ctx := r.Context()
	detail, err := p.loadService(ctx, r.who.ID, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	wanted := cyber.CaseRequest{Service: detail.ID, User: r.session.User, Mode: r.who.Mode}
	for _, q := range detail.Questions {
		given := normalizeLines(r.trimmedField(answerPrefix + string(q.ID)))
		if given == "" {
			continue
		}
		if !partner.Paragraphs(given, 1, maxAnswer) {
			return nil, errForm
		}
		kept, err := encodeElement(map[string]string{"questionId": string(q.ID), "question": q.Text, "answer": given})
		if err != nil {
			return nil, err
		}
		wanted.Answers = append(wanted.Answers, cyber.TriageAnswer{Question: string(q.ID), Answer: given, JSON: kept})
	}
	if text := r.trimmedField("time"); text != "" {
		at, err := cyber.ParseAppointment("time", text)
		if err != nil {
			return nil, err
		}
		kept, err := encodeElement(map[string]string{"appointment": text})
		if err != nil {
			return nil, err
		}
		wanted.Appointments = []cyber.Appointment{{At: at, JSON: kept}}
	}
	opened, err := p.Rules.Cases.OpenCase(ctx, r.who.ID, wanted)
	if err != nil {
		return nil, err
	}
	// The free text is no part of the request that partners send too, so it becomes the first message.
	if said := normalizeLines(r.trimmedField("text")); said != "" {
		if _, err := p.Rules.Cases.AddMessage(ctx, r.caseKey(opened.ID), cyber.Message{Text: said}); err != nil {
			return nil, err
		}
	}
	return redirect{"/p/cases/" + string(opened.ID), "opened"}, nil
}

const maxAnswer = 2000

// encodeElement is how a case keeps what was said in a form, as it keeps what partners send.
func encodeElement(members map[string]string) (string, error) {
	text, err := json.Marshal(members)
	return string(text), err
}
