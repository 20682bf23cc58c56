package api

import (
	"net/http"

	"github.com/vigiahq/vigia/internal/subject"
)

// erasureAsked is the body of POST /erasures.
type erasureAsked struct {
	personBody
	Reason string `json:"reason"`
}

// erasureItem is a request for an erasure as answers show it.
type erasureItem struct {
	ID    string               `json:"id"`
	State subject.RequestState `json:"state"`
	// UserHash is there until the request is over.
	UserHash    string `json:"userHash,omitempty"`
	RequestedAt string `json:"requestedAt"`
	DueAt       string `json:"dueAt"`
	EndedAt     string `json:"endedAt,omitempty"`
	// Removed is there once the erasure is completed.
	Removed *int64 `json:"removed,omitempty"`
}

// newErasureItem returns a request as answers show it.
func newErasureItem(e subject.ErasureRequest) erasureItem {
	item := erasureItem{
		ID:          e.ID,
		State:       e.State,
		UserHash:    string(e.User),
		RequestedAt: formatMoment(e.RequestedAt),
		DueAt:       formatMoment(e.DueAt),
		EndedAt:     formatMoment(e.EndedAt),
	}
	if e.State == subject.RequestCompleted {
		item.Removed = &e.Removed
	}
	return item
}

// requestErasure asks for the erasure of what the partner holds about a person.
func (s *Server) requestErasure(r *request, in erasureAsked) (any, error) {
	if err := r.mayChange(); err != nil {
		return nil, err
	}
	person := subject.Person{User: r.user, Partner: r.caller.Partner}
	e, err := r.rules.Erasures.RequestErasure(r.ctx, r.auditActor(), person, in.Reason)
	if err != nil {
		return nil, err
	}
	item := newErasureItem(e)
	item.UserHash = string(r.user) // an open one may have been asked for by another spelling
	return item, nil
}

// erasurePage is the answer of GET /erasures.
type erasurePage struct {
	Erasures   []erasureItem `json:"erasures"`
	Page       int64         `json:"page"`
	PageSize   int           `json:"pageSize"`
	TotalItems int64         `json:"totalItems"`
	HasNext    bool          `json:"hasNext"`
}

// defaultErasurePage is the length of a page of erasures where the request does not say.
const defaultErasurePage = 50

// listErasures answers with a page of the partner's requests that are not over, newest first. A page size above the
// maximum is cut, not refused.
func (s *Server) listErasures(r *request) (any, error) {
	page, size, err := r.beginPage(defaultErasurePage, subject.MaxErasurePage)
	if err != nil {
		return nil, err
	}
	found, total, err := r.rules.Erasures.ListErasurePage(r.ctx, r.caller.Partner, page, size)
	r.items = len(found)
	return erasurePage{
		Erasures: showAll(found, newErasureItem), Page: page, PageSize: size, TotalItems: total,
		HasNext: page <= (total-1)/int64(size),
	}, err
}

// showErasure answers with a request of the partner.
func (s *Server) showErasure(r *request) (any, error) {
	e, err := r.rules.Erasures.FindErasure(r.ctx, r.caller.Partner, r.id)
	if err != nil {
		return nil, err
	}
	return newErasureItem(e), nil
}

// cancelErasure takes a request back. It is not counted as a change: there are no more of them than requests, and a
// partner whose key was stolen has to cancel many.
func (s *Server) cancelErasure(r *request) (any, error) {
	_, err := r.rules.Erasures.CancelErasure(r.ctx, r.auditActor(), r.caller.Partner, r.id)
	if err != nil {
		return nil, err
	}
	return done{http.StatusOK, msgErasureCancelled}, nil
}
