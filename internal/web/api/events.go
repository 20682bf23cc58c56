package api

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/time/rate"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// eventPage is the answer of GET /events.
type eventPage struct {
	Events  []eventItem `json:"events"`
	Next    string      `json:"next"`
	HasMore bool        `json:"hasMore"`
}

// eventItem is an event in the list of events.
type eventItem struct {
	ID string `json:"id"`
	// Body is what is pushed, byte for byte.
	Body jsontext.Value `json:"body"`
}

// defaultEventLimit is the length of a page of events where the request does not say.
const defaultEventLimit = 100

// listEvents answers with the events after a cursor, at most limit of them, and the cursor to go on with; or with the
// newest ones.
func (s *Server) listEvents(r *request) (any, error) {
	cursors := r.query["after"]
	if len(cursors) > 1 || len(cursors) == 1 && cursors[0] == "" {
		return nil, alert.ErrCursor.With("after", fault.OneCursor)
	}
	cursor := ""
	if len(cursors) == 1 {
		cursor = cursors[0]
	}
	limit, err := r.countInQuery("limit", defaultEventLimit)
	if err != nil {
		return nil, err
	}
	most := int(min(limit, alert.MaxPage))
	if err := r.beginRead(most); err != nil {
		return nil, err
	}
	newest, err := r.flagInQuery("newest")
	if err != nil {
		return nil, err
	}
	if newest && cursor != "" {
		return nil, alert.ErrCursor.With("after", fault.NotWithNewest)
	}
	var page alert.Page
	if newest {
		page.Events, err = r.rules.Events.ReadNewest(r.ctx, r.caller.Partner, readableBy(r.caller), most)
	} else {
		page, err = r.rules.Events.ReadPage(r.ctx, r.caller.Partner, readableBy(r.caller), cursor, most)
	}
	r.items = len(page.Events)
	if page.Skipped {
		r.reply.Set("x-truncated", "true")
	}
	events := showAll(page.Events, func(e alert.Kept) eventItem { return eventItem{ID: string(e.ID), Body: e.Body} })
	return eventPage{Events: events, Next: page.Next, HasMore: page.HasMore}, err
}

// webhookKeysPath is the path of the public keys of an endpoint, open to every client that knows its id.
const webhookKeysPath = "/.well-known/vigia-webhook-keys/{endpoint}"

// The public keys are read without credentials, so their rate is bounded for all callers together.
const (
	publicKeysPerSecond = 50
	publicKeysBurst     = 100
)

// webhookKeys answers with the keys that verify v1a signatures, newest first. Receivers may keep them for a while: a
// rotated key signs beside the new one for a day.
func (s *Server) webhookKeys() http.Handler {
	limit := rate.NewLimiter(publicKeysPerSecond, publicKeysBurst)
	rt := &route{method: http.MethodGet, path: webhookKeysPath, area: cyberArea}
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		ctx := telemetry.WithRequestID(hr.Context(), telemetry.RequestIDOf(hr.Context(), hr.Header.Get("x-request-id")))
		r := &request{http: hr, ctx: ctx, route: rt, server: s, reply: w.Header()}
		r.allowTime(s.DatabaseTime)
		defer func() { r.endTime() }()
		if !limit.AllowN(s.Now(), 1) {
			w.Header().Set("retry-after", "1")
			s.writeAnswer(w, r, partner.Answer{}, errRateLimited.With("rate", fault.RequestsOfAll))
			return
		}
		if err := r.readQuery(); err != nil {
			s.writeAnswer(w, r, partner.Answer{}, err)
			return
		}
		keys, err := s.Rules.Webhooks.PublicKeys(r.ctx, alert.EndpointID(hr.PathValue("endpoint")))
		if err != nil {
			s.writeAnswer(w, r, partner.Answer{}, err)
			return
		}
		answer, _ := encodeAnswer(map[string][]string{"keys": keys}) // texts encode
		h := w.Header()
		h.Set("content-type", "application/json; charset=utf-8")
		h.Set("cache-control", "public, max-age=300")
		h.Set("x-content-type-options", "nosniff")
		_, _ = w.Write(answer.Body) // a caller that is gone needs no answer
	})
}

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
		r.ctx,
		r.caller.Partner,
		readableBy(r.caller),
		alert.EventID(r.id),
		channel,
		language,
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
