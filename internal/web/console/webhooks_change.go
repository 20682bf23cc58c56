package console

import (
	"context"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
)

// confirmRotate asks how long the old secret shall stay valid before the secret is replaced.
func confirmRotate(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	return newView("webhook-rotate", "Trocar segredo", e, err)
}

// rotateWebhook replaces the secret of a webhook. The old one stays valid for the hours in the form.
func rotateWebhook(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	form := newFormReader(r)
	hours := form.readNumber("hours", 0)
	err = c.changeWithAudit(r, "webhook.rotate", func(ctx context.Context, in *Rules) (string, string, error) {
		var err error
		e, err = in.Webhooks.RotateKeys(ctx, e.Partner, e.ID, time.Duration(hours)*time.Hour)
		return string(e.ID), "", form.joinFaults(err)
	})
	if err != nil {
		return nil, err
	}
	return showSecretsNext(r, secretPage{
		Heading:   "Segredo trocado",
		Text:      "O segredo antigo também assina por mais " + strconv.Itoa(hours) + " h. O novo aparece só agora.",
		Secrets:   []shownSecret{{"Segredo", e.Secret(), secretHelp}},
		Back:      webhookPath(e),
		BackLabel: "Guardei o segredo, continuar",
	})
}

// enableWebhook resumes the deliveries of a webhook. What the endpoint missed is queued before, outside of the
// transaction: it may be more than one should hold.
func enableWebhook(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	if err := c.Rules.Webhooks.FollowEndpoint(r.Context(), e.Partner, e.ID, alert.Enabled); err != nil {
		return nil, err
	}
	next := redirect{webhookPath(e), "webhook.enabled"}
	return c.changeAndRedirect(r, "webhook.enable", next, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Webhooks.EnableEndpoint(ctx, e.Partner, e.ID)
		return string(e.ID), "", err
	})
}

// disableWebhook pauses the deliveries of a webhook until it is enabled again.
func disableWebhook(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	err = c.changeWithAudit(r, "webhook.disable", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Webhooks.DisableEndpoint(ctx, e.Partner, e.ID)
		return string(e.ID), "", err
	})
	if err != nil {
		return nil, err
	}
	if err := c.Rules.Webhooks.FollowEndpoint(r.Context(), e.Partner, e.ID, alert.Disabled); err != nil {
		return nil, err
	}
	return redirect{webhookPath(e), "webhook.disabled"}, nil
}

// deleteWebhook deletes a webhook and returns to the page of its partner.
func deleteWebhook(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	next := redirect{partnerPath(e.Partner), "webhook.deleted"}
	return c.changeAndRedirect(r, "webhook.delete", next, func(ctx context.Context, in *Rules) (string, string, error) {
		return string(e.ID), "", in.Webhooks.DeleteEndpoint(ctx, e.Partner, e.ID)
	})
}
