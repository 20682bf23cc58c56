package api

import (
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// riskScore is the answer of GET /cyber/score/{userhash}.
type riskScore struct {
	BreachScore     float64  `json:"breachScore"`
	AssessmentScore float64  `json:"assessmentScore"`
	Recommendations []string `json:"recommendations"`
}

func (s *Server) score(r *request) (any, error) {
	user, err := r.userHash()
	if err != nil {
		return nil, err
	}
	score, err := r.rules.Persons.Score(r.ctx, r.caller.Partner, user)
	if err != nil {
		return nil, err
	}
	answer := riskScore{
		BreachScore: score.Breach, AssessmentScore: score.Assessment, Recommendations: make([]string, len(score.Recommendations)),
	}
	for i, rec := range score.Recommendations {
		answer.Recommendations[i] = recommendation(rec)
	}
	return answer, nil
}

// scorePoint is an element of GET /cyber/score/{userhash}/history.
type scorePoint struct {
	Date            string  `json:"date"`
	BreachScore     float64 `json:"breachScore"`
	AssessmentScore float64 `json:"assessmentScore"`
}

func (s *Server) scoreHistory(r *request) (any, error) {
	user, err := r.userHash()
	if err != nil {
		return nil, err
	}
	days, err := r.rules.Persons.History(r.ctx, r.caller.Partner, user)
	if err != nil {
		return nil, err
	}
	points := make([]scorePoint, len(days))
	for i, d := range days {
		points[i] = scorePoint{d.Date().Format(time.DateOnly), float64(d.Breach) / 10, float64(d.Assessment) / 10}
	}
	return points, nil
}

// recommendation is the sentence for something to mend.
func recommendation(r cyber.Recommendation) string {
	switch r.Mends {
	case cyber.MendAnswer:
		return r.Text
	case cyber.MendWatch:
		return watchSentence[r.Kind]
	default:
		return fillSentence(mendSentence[r.Mends], r.Breach, r.Value())
	}
}
