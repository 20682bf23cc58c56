package console

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
)

// Webhooks are the endpoints of partners. Create and Test reach out, so they know which addresses may be called.
type Webhooks interface {
	ListEndpoints(ctx context.Context, id partner.ID) ([]alert.Endpoint, error)
	FindEndpoint(ctx context.Context, endpoint alert.EndpointID) (alert.Endpoint, error)
	Create(ctx context.Context, id partner.ID, url string, types []string) (alert.Endpoint, error)
	Test(
		ctx context.Context,
		id partner.ID,
		endpoint alert.EndpointID,
		t alert.Type,
	) (webhook.Outcome, alert.EventID, error)
	RotateKeys(
		ctx context.Context,
		id partner.ID,
		endpoint alert.EndpointID,
		overlap time.Duration,
	) (alert.Endpoint, error)
	EnableEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Endpoint, error)
	DisableEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Endpoint, error)
	FollowEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID, to alert.EndpointState) error
	DeleteEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) error
}

// webhookPage is the data of the page of one webhook; Outcome is that of a test just made.
type webhookPage struct {
	Health     alert.Health
	Partner    partner.Partner
	Row        alert.Endpoint
	PublicKeys []string
	Outcome    *webhook.Outcome
	Types      []alert.Type
	// Latest are the newest deliveries, those that failed or wait first, each with its tries.
	Latest []eventDelivery
}

// webhookDeliveries is how many deliveries of each state the page of a webhook lists.
const webhookDeliveries = 4

// webhookForm is the data of the form for a new webhook.
type webhookForm struct {
	Partner partner.Partner
	Types   []alert.Type
}

// newWebhook shows an empty form for a webhook of the partner in the path.
func newWebhook(c *Console, r *request) (answer, error) {
	return view{"webhook-new", "Novo webhook", webhookForm{callRuleWith(r, c.Rules.Partners.GetPartner, partnerOf(r)), alert.Types}}, nil
}

const secretHelp = "Com ele o parceiro confere a assinatura de cada aviso (Standard Webhooks)."

// createWebhook creates a webhook after checking its address. The secret is shown on the answer.
func createWebhook(c *Console, r *request) (answer, error) {
	id := partnerOf(r)
	// The address is looked up before anything is written, so this is no short transaction: the line comes first.
	c.recordAction(r, "webhook.create", string(id), alert.Endpoint{URL: r.trimmedField("url")}.Address())
	e := callRuleWith3(r, c.Rules.Webhooks.Create, id, r.trimmedField("url"), r.PostForm["type"])
	return showSecretsNext(r, secretPage{
		Heading:   "Webhook criado",
		Text:      "O segredo aparece só agora. Depois de entregá-lo, envie um teste pela página do webhook.",
		Secrets:   []shownSecret{{"Segredo", e.Secret(), secretHelp}},
		Back:      joinPath("webhooks", string(id), string(e.ID)),
		BackLabel: "Guardei o segredo, continuar",
	})
}

// endpointOf reads the endpoint that a path names and holds it against the path's partner.
func (c *Console) endpointOf(r *request) alert.Endpoint {
	e := callRuleWith(r, c.Rules.Webhooks.FindEndpoint, alert.EndpointID(r.PathValue("endpoint")))
	if e.Partner != partnerOf(r) {
		r.keepFailure(alert.ErrEndpointNotFound)
	}
	return e
}

// webhookView shows a webhook with its health, and the outcome of a test when there is one.
func (c *Console) webhookView(r *request, outcome *webhook.Outcome) (answer, error) {
	e := c.endpointOf(r)
	p := callRuleWith(r, c.Rules.Partners.GetPartner, e.Partner)
	c.pictureWebhook(r, string(e.ID))
	health := callRuleWith2(r, c.Rules.History.EndpointHealth, p.ID, e.ID)
	page := webhookPage{
		Health:     health,
		Partner:    p,
		Row:        e,
		PublicKeys: e.PublicKeys(c.Now()),
		Outcome:    outcome,
		Types:      alert.Types,
	}
	for _, state := range []alert.DeliveryState{alert.DeliveryFailed, alert.Pending, alert.Held, alert.Delivered} {
		list, _ := callRulePair(
			r,
			c.Rules.Events.DeliveryList,
			alert.DeliveryFilter{State: state, Partner: p.ID, Endpoint: e.ID, Limit: webhookDeliveries},
		)
		for _, one := range list {
			_, tries := callRulePair2(r, c.Rules.History.Deliveries, p.ID, one.Event)
			page.Latest = append(page.Latest, newEventDelivery(one.DeliveryStatus, one.Type, "", tries))
		}
	}
	return view{"webhook", "Webhook", page}, nil
}

// showWebhook shows a webhook with its health.
func showWebhook(c *Console, r *request) (answer, error) { return c.webhookView(r, nil) }

// testWebhook sends a test event to the endpoint at once and shows what it answered.
func testWebhook(c *Console, r *request) (answer, error) {
	e := c.endpointOf(r)
	sample := alert.Type(cmp.Or(r.trimmedField("type"), string(alert.WebhookTest)))
	c.recordAction(r, "webhook.test", string(e.ID), string(sample))
	outcome, _ := callRulePair2(
		r,
		func(ctx context.Context, endpoint alert.EndpointID, t alert.Type) (webhook.Outcome, alert.EventID, error) {
			return c.Rules.Webhooks.Test(ctx, e.Partner, endpoint, t)
		},
		e.ID,
		sample,
	)
	return c.webhookView(r, &outcome)
}

// confirmRotate asks how long the old secret shall stay valid before the secret is replaced.
func confirmRotate(c *Console, r *request) (answer, error) {
	return view{"webhook-rotate", "Trocar segredo", c.endpointOf(r)}, nil
}

// rotateWebhook replaces the secret of a webhook. The old one stays valid for the hours in the form.
func rotateWebhook(c *Console, r *request) (answer, error) {
	e := c.endpointOf(r)
	hours := r.readNumber("hours", 0)
	c.changeWithAudit(r, "webhook.rotate", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		e, err = in.Webhooks.RotateKeys(ctx, e.Partner, e.ID, time.Duration(hours)*time.Hour)
		return string(e.ID), "", err
	})
	return showSecretsNext(r, secretPage{
		Heading:   "Segredo trocado",
		Text:      "O segredo antigo também assina por mais " + strconv.Itoa(hours) + " h. O novo aparece só agora.",
		Secrets:   []shownSecret{{"Segredo", e.Secret(), secretHelp}},
		Back:      joinPath("webhooks", string(e.Partner), string(e.ID)),
		BackLabel: "Guardei o segredo, continuar",
	})
}

// webhookChange runs a change of the webhook in the path in a transaction with its line in the audit trail.
func (c *Console) webhookChange(
	r *request,
	action, done string,
	fn func(ctx context.Context, in *Rules, e alert.Endpoint) error,
) (answer, error) {
	e := c.endpointOf(r)
	c.changeWithAudit(
		r,
		action,
		func(ctx context.Context, in *Rules) (string, string, error) { return string(e.ID), "", fn(ctx, in, e) },
	)
	to := joinPath("webhooks", string(e.Partner), string(e.ID))
	if action == "webhook.delete" {
		to = partnerPath(e.Partner)
	}
	return redirect{to, done}, nil
}

// enableWebhook resumes the deliveries of a webhook. What the endpoint missed is queued before, outside of the
// transaction.
func enableWebhook(c *Console, r *request) (answer, error) {
	if e := c.endpointOf(r); r.failure == nil { // what the endpoint missed may be more than one transaction should hold
		r.failure = c.Rules.Webhooks.FollowEndpoint(r.Context(), e.Partner, e.ID, alert.Enabled)
	}
	return c.webhookChange(
		r,
		"webhook.enable",
		"webhook.enabled",
		func(ctx context.Context, in *Rules, e alert.Endpoint) error {
			_, err := in.Webhooks.EnableEndpoint(ctx, e.Partner, e.ID)
			return err
		},
	)
}

// disableWebhook pauses the deliveries of a webhook until it is enabled again.
func disableWebhook(c *Console, r *request) (answer, error) {
	var of alert.Endpoint
	done, err := c.webhookChange(
		r,
		"webhook.disable",
		"webhook.disabled",
		func(ctx context.Context, in *Rules, e alert.Endpoint) (err error) {
			of, err = in.Webhooks.DisableEndpoint(ctx, e.Partner, e.ID)
			return err
		},
	)
	if err != nil || r.failure != nil {
		return nil, err
	}
	return done, c.Rules.Webhooks.FollowEndpoint(r.Context(), of.Partner, of.ID, alert.Disabled)
}

// deleteWebhook deletes a webhook and returns to the page of its partner.
func deleteWebhook(c *Console, r *request) (answer, error) {
	return c.webhookChange(
		r,
		"webhook.delete",
		"webhook.deleted",
		func(ctx context.Context, in *Rules, e alert.Endpoint) error {
			return in.Webhooks.DeleteEndpoint(ctx, e.Partner, e.ID)
		},
	)
}
