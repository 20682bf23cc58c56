package api

import (
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// eventMessage is the answer of GET /events/{id}/message.
type eventMessage struct {
	Type     string           `json:"type"`
	Channel  string           `json:"channel"`
	Lang     string           `json:"lang"`
	Subject  string           `json:"subject,omitempty"`
	Text     string           `json:"text"`
	HTML     string           `json:"html,omitempty"`
	Template *messageTemplate `json:"template,omitzero"`
}

// messageTemplate is what a WhatsApp message is sent by.
type messageTemplate struct {
	Name       string   `json:"name"`
	Language   string   `json:"language"`
	Body       string   `json:"body"`
	Parameters []string `json:"parameters"`
}

// messageOfEvent answers with the text that tells a person of an event, in a channel and a language.
func (s *Server) messageOfEvent(r *request) (any, error) {
	asked := map[string]string{}
	for _, name := range r.route.query {
		if len(r.query[name]) > 1 {
			return nil, errQueryInvalid.With(name, fault.AtMostOnce)
		}
		if len(r.query[name]) == 1 {
			asked[name] = r.query[name][0]
		}
	}
	channel, err := message.ParseChannel(asked["channel"])
	if err != nil {
		return nil, err
	}
	language, err := partner.ParseLanguage(asked["lang"])
	if err != nil {
		return nil, err
	}
	m, err := r.rules.Messages.RenderEvent(
		r.ctx, r.caller.Partner, readableBy(r.caller), alert.EventID(r.id), channel, language,
	)
	if err != nil {
		return nil, err
	}
	out := eventMessage{
		Type:    string(m.Event),
		Channel: string(m.Channel),
		Lang:    string(m.Language),
		Subject: m.Subject,
		Text:    m.Text,
		HTML:    m.HTML,
	}
	if t := m.Template; t != nil {
		out.Template = &messageTemplate{t.Name, t.Language, t.Body, t.Parameters}
	}
	return out, nil
}
