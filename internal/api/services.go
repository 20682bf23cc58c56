package api

import (
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// serviceList is the answer of GET /cyber/services.
type serviceList struct {
	Services []serviceItem `json:"services"`
}

// serviceItem is a service in the list of services; its members are those of the contract.
type serviceItem struct {
	ID          string `json:"_id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// encodedServices is the answer for one list of services: the catalogue is the same for all and changes rarely, so it
// is encoded when it changes and not on every request.
type encodedServices struct {
	of     []cyber.Service
	answer partner.Answer
}

// listServices answers with the offered services. The encoded answer is kept and reused until the offer changes.
func (s *Server) listServices(r *request) (any, error) {
	offered, err := r.rules.Services.ListOffered(r.ctx)
	if err != nil {
		return nil, err
	}
	if e := s.services.Load(); e != nil && isSameList(e.of, offered) {
		return e.answer, nil
	}
	list := serviceList{Services: make([]serviceItem, len(offered))}
	for i, sv := range offered {
		list.Services[i] = serviceItem{ID: string(sv.ID), Name: sv.Name, Description: sv.Description}
	}
	answer, err := encodeAnswer(list)
	if err != nil {
		return nil, err
	}
	s.services.Store(&encodedServices{of: offered, answer: answer})
	return answer, nil
}

// isSameList reports whether two lists are one and the same memory.
func isSameList(a, b []cyber.Service) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// serviceDetail is the answer of GET /cyber/services/{id}.
type serviceDetail struct {
	serviceItem
	Questions []questionItem `json:"questions"`
	// Slots are the free times of its calendar.
	Slots []string `json:"slots"`
}

// questionItem is a triage question to be answered when a case is opened.
type questionItem struct {
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Required bool     `json:"required"`
	Options  []string `json:"options"`
}

// errServiceUnknown is answered as any path that is not there: the contract has no operation of that shape.
var errServiceUnknown = fault.New(fault.NotFound, "service.unknown").With("id", fault.NoSuchService)

// showService answers with an offered service, its triage questions and its free slots. Retired services are not
// found.
func (s *Server) showService(r *request) (any, error) {
	id, err := r.idInPath("id", errServiceUnknown)
	if err != nil {
		return nil, err
	}
	offered, err := r.rules.Services.ListOffered(r.ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(offered, func(sv cyber.Service) bool { return string(sv.ID) == id })
	if at < 0 {
		return nil, errServiceUnknown
	}
	asks, err := r.rules.Cases.DescribeService(r.ctx, r.caller.Partner, offered[at])
	if err != nil {
		return nil, err
	}
	detail := serviceDetail{
		serviceItem: serviceItem{ID: string(asks.ID), Name: asks.Name, Description: asks.Description},
		Questions:   make([]questionItem, len(asks.Questions)), Slots: make([]string, len(asks.Free)),
	}
	for i, q := range asks.Questions {
		detail.Questions[i] = questionItem{string(q.ID), q.Text, q.Required, append([]string{}, q.Options...)}
	}
	for i, at := range asks.Free {
		detail.Slots[i] = at.UTC().Format(alert.TimeFormat)
	}
	return detail, nil
}

// breachFacts are the public facts on a breach. The source that the operator has it from is not among them.
type breachFacts struct {
	breachItem
	Description string          `json:"description"`
	Exposes     []cyber.Exposed `json:"exposes"`
	Verified    bool            `json:"verified"`
	Fabricated  bool            `json:"fabricated"`
	SpamList    bool            `json:"spamList"`
	AddedAt     string          `json:"addedAt"`
}

// breachPage is the answer of GET /cyber/breaches.
type breachPage struct {
	Breaches   []breachFacts `json:"breaches"`
	Page       int64         `json:"page"`
	PageSize   int           `json:"pageSize"`
	TotalItems int64         `json:"totalItems"`
	HasNext    bool          `json:"hasNext"`
}

// defaultBreachPage is the length of a page of breaches where the request does not say.
const defaultBreachPage = 50

// newBreachFacts returns what answers tell of a breach.
func newBreachFacts(b cyber.Breach) breachFacts {
	return breachFacts{
		breachItem:  breachItem{b.Name, b.Title, b.Date.Format(time.DateOnly), string(b.Kind)},
		Description: b.Description, Exposes: b.Exposes, Verified: b.Verified, Fabricated: b.Fabricated, SpamList: b.SpamList,
		AddedAt: b.AddedAt.UTC().Format(alert.TimeFormat),
	}
}

// listBreaches answers with a page of the published breaches, newest first. A page size above the maximum is cut, not
// refused.
func (s *Server) listBreaches(r *request) (any, error) {
	page, err := r.pageInQuery()
	if err != nil {
		return nil, err
	}
	asked, err := r.countInQuery("page_size", defaultBreachPage)
	if err != nil {
		return nil, err
	}
	size := int(min(asked, cyber.MaxBreachPage))
	if err := r.beginRead(size); err != nil {
		return nil, err
	}
	found, total, err := r.rules.Breaches.ListBreaches(r.ctx, r.caller.Mode, page, size)
	if err != nil {
		return nil, err
	}
	r.items = len(found)
	answer := breachPage{
		Breaches: make([]breachFacts, len(found)), Page: page, PageSize: size, TotalItems: total,
		HasNext: page <= (total-1)/int64(size),
	}
	for i, b := range found {
		answer.Breaches[i] = newBreachFacts(b)
	}
	return answer, nil
}

// showBreach answers with the facts on one breach.
func (s *Server) showBreach(r *request) (any, error) {
	name, err := r.idInPath("name", cyber.ErrBreachUnknown)
	if err != nil {
		return nil, err
	}
	b, err := r.rules.Breaches.FindBreach(r.ctx, r.caller.Mode, name)
	if err != nil {
		return nil, err
	}
	return newBreachFacts(b), nil
}
