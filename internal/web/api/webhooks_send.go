package api

import (
	"net/http"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
)

// webhookTry is one attempt, and the answer of POST /webhooks/{id}/test.
type webhookTry struct {
	Delivered bool   `json:"delivered"`
	Status    int    `json:"status"`
	Failure   string `json:"failure,omitempty"`
	TookMs    int64  `json:"tookMs"`
	At        string `json:"at,omitempty"`
	EventID   string `json:"eventId,omitempty"`
}

// newWebhookTry returns what came of a try, as answers show it.
func newWebhookTry(o webhook.Outcome) webhookTry {
	return webhookTry{
		Delivered: webhook.JudgeOutcome(o).Action == webhook.Delivered,
		Status:    o.Status,
		Failure:   string(o.Failure),
		TookMs:    o.Duration.Milliseconds(),
	}
}

// webhookTest is the body of POST /webhooks/{id}/test.
type webhookTest struct {
	Type alert.Type `json:"type"`
}

// testWebhook sends a test event to an endpoint at once and answers with the outcome.
func (s *Server) testWebhook(r *request, in webhookTest) (any, error) {
	if err := alert.CheckType(in.Type); err != nil {
		return nil, err
	}
	e, err := r.endpointInPath()
	if err != nil {
		return nil, err
	}
	if kept, err := r.onceBefore(); err != nil || kept.Status != http.StatusOK {
		return kept, err
	}
	if err := r.recordChange("webhook.test", string(e.ID), ""); err != nil {
		return nil, err
	}
	outcome, event, err := r.rules.Webhooks.SendTestEvent(r.ctx, r.caller.Partner, e.ID, in.Type, s.Outgoing)
	answer := newWebhookTry(outcome)
	answer.EventID = string(event)
	return answer, err
}

// replay is the body of POST /webhooks/{id}/replay.
type replay struct {
	Event  string `json:"event"`
	From   string `json:"from"`
	To     string `json:"to"`
	Failed bool   `json:"failed"`
}

// replayed is its answer.
type replayed struct {
	Deliveries int64 `json:"deliveries"`
}

// replayWebhook queues past events again for an endpoint: one event, the failed ones, or those of a window of time.
func (s *Server) replayWebhook(r *request, in replay) (any, error) {
	which := alert.Selection{Event: alert.EventID(in.Event), Failed: in.Failed}
	var err error
	for field, at := range map[string]*time.Time{"from": &which.From, "to": &which.To} {
		text := in.From
		if field == "to" {
			text = in.To
		}
		if *at, err = parseMoment(field, text); err != nil {
			return nil, err
		}
	}
	if err := which.CheckSelection(); err != nil {
		return nil, err
	}
	e, err := r.endpointInPath()
	if err != nil {
		return nil, err
	}
	which.Endpoint = e.ID
	if kept, err := r.onceBefore(); err != nil || kept.Status != http.StatusOK {
		return kept, err
	}
	if err := r.recordChange("event.replay", string(e.ID), ""); err != nil {
		return nil, err
	}
	n, err := r.rules.History.ReplayEvents(r.ctx, r.caller.Partner, which)
	return replayed{n}, err
}
