package api

import (
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
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
