package api

import (
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
)

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
