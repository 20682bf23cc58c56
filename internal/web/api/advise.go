package api

import (
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// adviceItem is one element of the answer of GET /cyber/advise/{userhash}.
type adviceItem struct {
	CatalogID          string         `json:"catalogId"`
	UserID             string         `json:"userId"`
	Type               string         `json:"type"`
	Title              string         `json:"title"`
	Body               string         `json:"body"`
	ValidationQuestion string         `json:"validationQuestion,omitempty"`
	DeviceType         string         `json:"deviceType"`
	AnswerOptions      []cyber.Option `json:"answerOptions,omitempty"`
}

// listAdvice answers GET /cyber/advise.
func (s *Server) listAdvice(r *request) (any, error) {
	applies, looks, err := r.rules.Persons.ListAdvice(r.ctx, r.caller.Partner, r.user)
	if err != nil {
		return nil, err
	}
	return showAll(applies, func(a cyber.Advice) adviceItem {
		item := adviceItem{
			CatalogID:  string(a.Item.ID),
			UserID:     string(r.user),
			Type:       string(a.Item.Type),
			Title:      a.Title,
			Body:       a.Body,
			DeviceType: string(a.Item.Device),
		}
		if q := a.Item.Question; q != nil {
			item.ValidationQuestion, item.AnswerOptions = q.Text, q.Options
		}
		return item
	}), r.tellLooks(looks)
}

// newAnswer is the body of POST /cyber/advise/{userhash}/answers.
type newAnswer struct {
	CatalogID string `json:"catalogId"`
	Value     string `json:"value"`
}

// answerQuestion stores a person's answer to a question of the catalogue; advice and score follow from it.
func (s *Server) answerQuestion(r *request, body newAnswer) (any, error) {
	if body.CatalogID == "" || body.Value == "" {
		return nil, errBodyInvalid.With("catalogId, value", fault.NotEmpty)
	}
	err := r.rules.Persons.SaveAnswer(r.ctx, r.caller.Partner, r.user, cyber.ContentID(body.CatalogID), body.Value)
	return done{http.StatusOK, msgAnswerKept}, err
}

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

// coverList is the answer of GET /cyber/cover/{userhash}. It speaks Portuguese as the answer of /cyber/insurance does,
// whose members it repeats.
type coverList struct {
	Covers []coverItem `json:"coberturas"`
}

// coverItem is a plan in force. Its dates are there only where a subscription gives them.
type coverItem struct {
	PlanID      string          `json:"planoId,omitempty"`
	Origin      string          `json:"origem"`
	Details     coverageDetails `json:"detalhesCobertura"`
	SubLimits   []subLimit      `json:"sublimites"`
	WaitingDays int             `json:"carenciaDias"`
	CoveredFrom string          `json:"vigenteDesde,omitempty"`
	From        string          `json:"inicio,omitempty"`
	Until       string          `json:"fim,omitempty"`
}

// subLimit is a limit within a cover for one kind of damage.
type subLimit struct {
	Name  string         `json:"nome"`
	Limit jsontext.Value `json:"limite"`
}

// originWord is what a partner reads about why a plan is in force.
var originWord = map[cyber.Origin]string{
	cyber.OriginSubscription: "assinatura", cyber.OriginDefault: "plano_padrao", cyber.OriginDemo: "demonstracao",
}

// listCover answers with every cover of a person and where it comes from.
func (s *Server) listCover(r *request) (any, error) {
	list, origin, err := r.rules.Cover.ListCover(r.ctx, r.caller, r.user)
	return coverList{showAll(list, func(e cyber.Entitlement) coverItem {
		item := coverItem{
			PlanID:      string(e.ID),
			Origin:      originWord[origin],
			Details:     detailsOf(e.Coverage),
			SubLimits:   []subLimit{},
			WaitingDays: e.Coverage.WaitingDays,
			CoveredFrom: formatDay(e.CoveredFrom()),
			From:        formatDay(e.From),
			Until:       formatDay(e.Until),
		}
		for _, l := range e.Coverage.SubLimits {
			item.SubLimits = append(item.SubLimits, subLimit{l.Name, jsontext.Value(l.Limit.DecimalText())})
		}
		return item
	})}, err
}

// formatDay writes a day, or a time, as the contract does, empty where there is none.
func formatDay(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(alert.TimeFormat)
}

// coverageAnswer is the answer of GET /cyber/insurance/{userhash}.
type coverageAnswer struct {
	Details coverageDetails `json:"detalhesCobertura"`
}

// coverageDetails is an insurance cover; its Portuguese member names are those of the contract.
type coverageDetails struct {
	Plano           string         `json:"plano"`
	LimiteCobertura jsontext.Value `json:"limiteCobertura"`
	TipoCobertura   []string       `json:"tipoCobertura"`
	Condicoes       string         `json:"condições"`
	Exclusoes       string         `json:"exclusões"`
}

// insurance answers with the best cover of a person, which is all that the contract has room for; see listCover for
// the others.
func (s *Server) insurance(r *request) (any, error) {
	list, _, err := r.rules.Cover.ListCover(r.ctx, r.caller, r.user)
	if err != nil {
		return nil, err
	}
	return coverageAnswer{detailsOf(list[0].Coverage)}, nil
}

// detailsOf returns a cover as the contract writes it. The limit is a decimal number and never a float.
func detailsOf(c plan.Coverage) coverageDetails {
	return coverageDetails{
		Plano:           c.Plan,
		LimiteCobertura: jsontext.Value(c.Limit.DecimalText()),
		TipoCobertura:   c.Types,
		Condicoes:       c.Conditions,
		Exclusoes:       c.Exclusions,
	}
}
