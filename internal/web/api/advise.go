package api

import (
	"net/http"

	"github.com/vigiahq/vigia/internal/cyber"
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
