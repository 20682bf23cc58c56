package api

import (
	"net/http"

	"vigia/internal/cyber"
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
	AnswerOptions      []answerOption `json:"answerOptions,omitempty"`
}

type answerOption struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

func (s *Server) advise(r *request) (any, error) {
	user, err := r.userHash()
	if err != nil {
		return nil, err
	}
	applies, err := s.Rules.Persons.Advise(r.ctx, r.caller.Partner, user)
	if err != nil {
		return nil, err
	}
	list := make([]adviceItem, len(applies))
	for i, a := range applies {
		list[i] = adviceItem{
			CatalogID: string(a.Item.ID), UserID: string(user), Type: string(a.Item.Type), Title: a.Title, Body: a.Body,
			DeviceType: string(a.Item.Device),
		}
		if q := a.Item.Question; q != nil {
			list[i].ValidationQuestion = q.Text
			for _, o := range q.Options {
				list[i].AnswerOptions = append(list[i].AnswerOptions, answerOption{o.Value, o.Label})
			}
		}
	}
	return list, nil
}

// newAnswer is the body of POST /cyber/advise/{userhash}/answers.
type newAnswer struct {
	CatalogID string `json:"catalogId"`
	Value     string `json:"value"`
}

func (s *Server) answerQuestion(r *request) (any, error) {
	user, err := r.userHash()
	if err != nil {
		return nil, err
	}
	var body newAnswer
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	if body.CatalogID == "" || body.Value == "" {
		return nil, errBodyInvalid.With("catalogId, value: must not be empty")
	}
	if err := s.Rules.Persons.Answer(r.ctx, r.caller.Partner, user, cyber.ContentID(body.CatalogID), body.Value); err != nil {
		return nil, err
	}
	return done{http.StatusOK, msgAnswerKept}, nil
}
