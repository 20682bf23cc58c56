package api

import (
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/platform/fault"
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

// listServices answers with the offered services. The encoded answer is kept and reused until the offer changes.
func (s *Server) listServices(r *request) (any, error) {
	offered, err := r.rules.Services.ListOffered(r.ctx)
	return serviceList{showAll(offered, newServiceItem)}, err
}

// newServiceItem returns a service as the contract writes it.
func newServiceItem(sv cyber.Service) serviceItem {
	return serviceItem{ID: string(sv.ID), Name: sv.Name, Description: sv.Description}
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
	offered, err := r.rules.Services.ListOffered(r.ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(offered, func(sv cyber.Service) bool { return string(sv.ID) == r.id })
	if at < 0 {
		return nil, errServiceUnknown
	}
	asks, err := r.rules.Cases.DescribeService(r.ctx, r.caller.Partner, offered[at])
	return serviceDetail{newServiceItem(asks.Service), showAll(asks.Questions, func(q cyber.Question) questionItem {
		return questionItem{string(q.ID), q.Text, q.Required, append([]string{}, q.Options...)}
	}), showAll(asks.Free, formatMoment)}, err
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
		Description: b.Description,
		Exposes:     b.Exposes,
		Verified:    b.Verified,
		Fabricated:  b.Fabricated,
		SpamList:    b.SpamList,
		AddedAt:     b.AddedAt.UTC().Format(alert.TimeFormat),
	}
}

// listBreaches answers with a page of the published breaches, newest first. A page size above the maximum is cut, not
// refused.
func (s *Server) listBreaches(r *request) (any, error) {
	page, size, err := r.beginPage(defaultBreachPage, cyber.MaxBreachPage)
	if err != nil {
		return nil, err
	}
	found, total, err := r.rules.Breaches.ListBreaches(r.ctx, r.caller.Mode, page, size)
	r.items = len(found)
	return breachPage{
		Breaches: showAll(found, newBreachFacts), Page: page, PageSize: size, TotalItems: total,
		HasNext: page <= (total-1)/int64(size),
	}, err
}

// showBreach answers with the facts on one breach.
func (s *Server) showBreach(r *request) (any, error) {
	b, err := r.rules.Breaches.FindBreach(r.ctx, r.caller.Mode, r.id)
	return newBreachFacts(b), err
}
