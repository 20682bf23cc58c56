package api

import (
	"net/http"
)

// clockMove is the body of POST /sandbox/clock.
type clockMove struct {
	Days int `json:"days"`
}

// advanceClock lets days pass for a sandbox partner, and has done what became due before it answers.
func (s *Server) advanceClock(r *request, in clockMove) (any, error) {
	answer, err := r.runIdempotently(func(rules *Rules) (any, error) {
		inner := r.withRules(rules)
		if err := rules.Keys.AdvanceClock(r.ctx, r.caller, in.Days); err != nil {
			return nil, err
		}
		err := inner.recordChange("sandbox.clock", string(r.caller.Partner), "")
		return done{http.StatusOK, msgClockMoved}, err
	})
	if err != nil {
		return nil, err
	}
	return answer, s.DueWork(r.ctx)
}
