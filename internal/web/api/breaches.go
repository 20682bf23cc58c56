package api

import (
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
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
