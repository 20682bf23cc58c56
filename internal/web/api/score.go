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

// showScore answers GET /cyber/score.
func (s *Server) showScore(r *request) (any, error) {
	score, err := r.rules.Persons.ComputeScore(r.ctx, r.caller.Partner, r.user)
	if err != nil {
		return nil, err
	}
	answer := riskScore{score.Breach, score.Assessment, showAll(score.Recommendations, recommendation)}
	return answer, r.tellLooks(score.Looks)
}

// recommendation returns the sentence for something to mend.
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

// scorePoint is an element of GET /cyber/score/{userhash}/history.
type scorePoint struct {
	Date            string  `json:"date"`
	BreachScore     float64 `json:"breachScore"`
	AssessmentScore float64 `json:"assessmentScore"`
}

// scoreHistory answers with a person's score of each day. Scores are kept in tenths of a point.
func (s *Server) scoreHistory(r *request) (any, error) {
	days, err := r.rules.Persons.ScoreHistory(r.ctx, r.caller.Partner, r.user)
	if err != nil {
		return nil, err
	}
	return showAll(days, func(d cyber.ScoreDay) scorePoint {
		return scorePoint{d.Date().Format(time.DateOnly), float64(d.Breach) / 10, float64(d.Assessment) / 10}
	}), r.tellLooksOfUser()
}
