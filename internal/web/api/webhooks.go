package api

import (
	"context"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
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
		string(e.ID), webhookSecret{showEndpoint(e), e.Secret(), append([]string{}, e.PublicKeys(s.Now())...)},
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
		address := alert.Endpoint{URL: in.URL}.Address()
		if err := inner.recordChange("webhook.create", string(r.caller.Partner), address); err != nil {
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
