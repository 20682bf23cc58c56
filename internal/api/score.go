package api

import "github.com/vigiahq/vigia/internal/cyber"

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
	score, err := s.Rules.Persons.Score(r.ctx, r.caller.Partner, user)
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
