package api

import (
	"context"
	"net/http"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// webhookItem is an element of GET /webhooks.
type webhookItem struct {
	ID string `json:"id"`
	// URL is without its query: receivers keep tokens there.
	URL   string       `json:"url"`
	Types []alert.Type `json:"types"`
	State string       `json:"state"`
	// Reason is why it is paused.
	Reason       string `json:"reason,omitempty"`
	FailingSince string `json:"failingSince,omitempty"`
	CreatedAt    string `json:"createdAt"`
}

// webhookDetail is the answer of GET /webhooks/{id}.
type webhookDetail struct {
	webhookItem
	PublicKeys []string      `json:"publicKeys"`
	Health     webhookHealth `json:"health"`
}

// webhookHealth sums up the deliveries to an endpoint.
type webhookHealth struct {
	// Of the newest deliveries.
	Delivered int64 `json:"delivered"`
	Failed    int64 `json:"failed"`
	// SuccessRate is in percent; absent before the first delivery is over.
	SuccessRate *int64      `json:"successRate,omitempty"`
	MeanMs      int64       `json:"meanMs"`
	Backlog     int64       `json:"backlog"`
	LastTry     *webhookTry `json:"lastTry,omitempty"`
}

// webhookTry is one attempt, and the answer of POST /webhooks/{id}/test.
type webhookTry struct {
	Delivered bool   `json:"delivered"`
	Status    int    `json:"status"`
	Failure   string `json:"failure,omitempty"`
	TookMs    int64  `json:"tookMs"`
	At        string `json:"at,omitempty"`
	EventID   string `json:"eventId,omitempty"`
}

// webhookSecret is the answer that shows a secret, once.
type webhookSecret struct {
	webhookItem
	Secret     string   `json:"secret"`
	PublicKeys []string `json:"publicKeys"`
}

// showEndpoint returns an endpoint as the API shows it. Its secret is left out.
func showEndpoint(e alert.Endpoint) webhookItem {
	item := webhookItem{
		ID:           string(e.ID),
		URL:          e.Address(),
		Types:        append([]alert.Type{}, e.Types...),
		State:        "enabled",
		FailingSince: formatMoment(e.FailingSince),
		CreatedAt:    formatMoment(e.CreatedAt),
	}
	if e.State == alert.Disabled {
		item.State, item.Reason = "paused", string(e.Reason)
		if e.Reason == alert.ByOperator {
			item.Reason = "asked"
		}
	}
	return item
}

// shownOnce returns the endpoint with its secret, for the answers that show it: creation and rotation.
func (s *Server) shownOnce(e alert.Endpoint) (partner.Answer, error) {
	return encodeSecret(
		string(e.ID),
		webhookSecret{showEndpoint(e), e.Secret(), append([]string{}, e.PublicKeys(s.Now())...)},
	)
}

// listWebhooks answers with the partner's endpoints without their secrets.
func (s *Server) listWebhooks(r *request) (any, error) {
	list, err := r.rules.Webhooks.ListEndpoints(r.ctx, r.caller.Partner)
	return showAll(list, showEndpoint), err
}

// endpointInPath returns the endpoint in the path; it must be one of the caller's own.
func (r *request) endpointInPath() (alert.Endpoint, error) {
	return r.rules.Webhooks.EndpointByID(r.ctx, r.caller.Partner, alert.EndpointID(r.id))
}

// showWebhook answers with an endpoint and the health of its deliveries.
func (s *Server) showWebhook(r *request) (any, error) {
	e, err := r.endpointInPath()
	if err != nil {
		return nil, err
	}
	h, err := r.rules.History.EndpointHealth(r.ctx, r.caller.Partner, e.ID)
	if err != nil {
		return nil, err
	}
	health := webhookHealth{
		Delivered: h.Delivered,
		Failed:    h.Failed,
		MeanMs:    h.MeanDuration().Milliseconds(),
		Backlog:   min(h.Backlog+h.Held, alert.MaxBacklog),
	}
	if rate := h.Rate(); rate >= 0 {
		health.SuccessRate = &rate
	}
	if !h.Last.At.IsZero() {
		last := newWebhookTry(
			webhook.Outcome{Status: h.Last.Status, Failure: h.Last.Failure, Duration: h.Last.Duration},
		)
		last.At = formatMoment(h.Last.At)
		health.LastTry = &last
	}
	return webhookDetail{showEndpoint(e), append([]string{}, e.PublicKeys(s.Now())...), health}, nil
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

// newWebhook is the body of POST /webhooks.
type newWebhook struct {
	URL   string   `json:"url"`
	Types []string `json:"types"`
}

// looked is what was found out about an address before.
type looked struct{ err error }

func (l looked) CheckTargetURL(context.Context, string) error { return l.err }

// createWebhook creates an endpoint. Its address is resolved and checked before the transaction, which must not wait
// for DNS.
func (s *Server) createWebhook(r *request, in newWebhook) (any, error) {
	if err := readableBy(r.caller).CheckTypes(in.Types); err != nil {
		return nil, err
	}
	// Looks names up, which no transaction may wait for.
	found := looked{s.Guard.CheckTargetURL(r.ctx, in.URL)}
	if found.err != nil {
		return nil, found.err
	}
	return r.runIdempotently(func(rules *Rules) (any, error) {
		inner := r.withRules(rules)
		if err := inner.recordChange(
			"webhook.create",
			string(r.caller.Partner),
			alert.Endpoint{URL: in.URL}.Address(),
		); err != nil {
			return nil, err
		}
		e, err := rules.Webhooks.CreateEndpoint(r.ctx, r.caller.Partner, in.URL, in.Types, found)
		if err != nil {
			return nil, err
		}
		return s.shownOnce(e)
	})
}

// readableBy returns the areas whose events a key may read.
func readableBy(who partner.Caller) alert.Areas {
	return alert.Areas{
		Cyber:         who.HasScope(partner.ScopeCyberRead),
		Subscriptions: who.HasScope(partner.ScopeSubscriptionsRead),
	}
}

// removeWebhook deletes an endpoint and records it in the audit trail.
func (s *Server) removeWebhook(r *request) (any, error) {
	e, err := r.endpointInPath()
	if err != nil {
		return nil, err
	}
	if err := r.recordChange("webhook.delete", string(e.ID), ""); err != nil {
		return nil, err
	}
	err = r.rules.Webhooks.DeleteEndpoint(r.ctx, r.caller.Partner, e.ID)
	return done{http.StatusOK, msgWebhookRemoved}, err
}

// webhookState is the body of POST /webhooks/{id}/state.
type webhookState struct {
	State string `json:"state"`
}

// setWebhook pauses an endpoint or enables it again.
func (s *Server) setWebhook(r *request, in webhookState) (any, error) {
	to := alert.Enabled
	switch in.State {
	case "enabled":
	case "paused":
		to = alert.Disabled
	default:
		return nil, errBodyInvalid.With("state", fault.EnabledOrPaused)
	}
	e, err := r.endpointInPath()
	if err != nil {
		return nil, err
	}
	if e.State != to && to == alert.Enabled {
		// What the endpoint missed may be more than one transaction should hold.
		if err := r.rules.Webhooks.FollowEndpoint(r.ctx, r.caller.Partner, e.ID, to); err != nil {
			return nil, err
		}
	}
	answer, err := r.runIdempotently(
		func(rules *Rules) (any, error) { return r.withRules(rules).switchWebhook(e.ID, to) },
	)
	if err == nil && to == alert.Disabled {
		err = r.rules.Webhooks.FollowEndpoint(r.ctx, r.caller.Partner, e.ID, to)
	}
	return answer, err
}

// switchWebhook enables or disables a webhook that is not so already.
func (r *request) switchWebhook(id alert.EndpointID, to alert.EndpointState) (any, error) {
	e, err := r.rules.Webhooks.EndpointByID(r.ctx, r.caller.Partner, id)
	if err != nil {
		return nil, err
	}
	if e.State == to {
		return showEndpoint(e), nil
	}
	act, action := r.rules.Webhooks.EnableEndpoint, "webhook.enable"
	if to == alert.Disabled {
		act, action = r.rules.Webhooks.DisableEndpoint, "webhook.disable"
	}
	if err := r.recordChange(action, string(id), ""); err != nil {
		return nil, err
	}
	e, err = act(r.ctx, r.caller.Partner, id)
	return showEndpoint(e), err
}

// rotation is the body of POST /webhooks/{id}/rotate.
type rotation struct {
	Overlap *int64 `json:"overlapHours"`
}

// rotateWebhook replaces the secret of an endpoint; the old one stays valid for overlapHours.
func (s *Server) rotateWebhook(r *request, in rotation) (any, error) {
	overlap, err := parseHours("overlapHours", in.Overlap)
	if err != nil {
		return nil, err
	}
	e, err := r.endpointInPath()
	if err != nil {
		return nil, err
	}
	if err := r.recordChange("webhook.rotate", string(e.ID), ""); err != nil {
		return nil, err
	}
	if e, err = r.rules.Webhooks.RotateKeys(r.ctx, r.caller.Partner, e.ID, overlap); err != nil {
		return nil, err
	}
	return s.shownOnce(e)
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
