package api

import (
	"net/http"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// userList is the body of POST /cyber/scores.
type userList struct {
	UserHashes []string `json:"userHashes"`
}

// scoreList is its answer, in the order of the request.
type scoreList struct {
	Scores []scoreItem `json:"scores"`
}

// scoreItem has either a score or what is wrong.
type scoreItem struct {
	UserHash        string   `json:"userHash"`
	BreachScore     *float64 `json:"breachScore,omitempty"`
	AssessmentScore *float64 `json:"assessmentScore,omitempty"`
	Detail          string   `json:"detail,omitempty"`
}

// listScores answers POST /cyber/scores: the present scores of the people in the list.
func (s *Server) listScores(r *request, in userList) (any, error) {
	if len(in.UserHashes) == 0 || len(in.UserHashes) > cyber.MaxBulk {
		return nil, errBodyInvalid.With("userHashes", fault.OneTo, cyber.MaxBulk)
	}
	if err := s.beginList(r, len(in.UserHashes)); err != nil {
		return nil, err
	}
	// The answer about many people is not kept under the idempotency key: a repeated request gets the present scores.
	if kept, err := r.onceBefore(); err != nil || kept.Status != http.StatusOK {
		return kept, err
	}
	answer := scoreList{Scores: make([]scoreItem, len(in.UserHashes))}
	var looks cyber.PersonLooks
	for i, name := range in.UserHashes {
		item := scoreItem{UserHash: name}
		user, err := partner.ParseUserHash("userHash", name)
		if err != nil {
			item.Detail = errorDetail(err)
			answer.Scores[i] = item
			continue
		}
		score, err := r.rules.Persons.ComputeScore(r.ctx, r.caller.Partner, user)
		if err != nil {
			return nil, err
		}
		item.BreachScore, item.AssessmentScore = &score.Breach, &score.Assessment
		looks = looks.Join(score.Looks)
		answer.Scores[i] = item
	}
	return answer, r.tellLooks(looks)
}
