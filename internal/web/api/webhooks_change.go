package api

import (
	"net/http"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

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
