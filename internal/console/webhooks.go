package console

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/webhook"
)

// Webhooks are the endpoints of partners. Create and Test reach out, so they know which addresses may be called.
type Webhooks interface {
	ListEndpoints(ctx context.Context, id partner.ID) ([]alert.Endpoint, error)
	FindEndpoint(ctx context.Context, endpoint alert.EndpointID) (alert.Endpoint, error)
	Create(ctx context.Context, id partner.ID, url string, types []string) (alert.Endpoint, error)
	Test(ctx context.Context, id partner.ID, endpoint alert.EndpointID, t alert.Type) (webhook.Outcome, alert.EventID, error)
	RotateKeys(ctx context.Context, id partner.ID, endpoint alert.EndpointID, overlap time.Duration) (alert.Endpoint, error)
	EnableEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Endpoint, error)
	DisableEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Endpoint, error)
	FollowState(ctx context.Context, id partner.ID, endpoint alert.EndpointID, to alert.EndpointState) error
	DeleteEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) error
}

// withoutQuery leaves the query of an address out: receivers keep tokens there.
func withoutQuery(address string) string { return alert.Endpoint{URL: address}.Address() }

// webhookRow is an endpoint with its URL without the query, which may hold a secret of the partner.
type webhookRow struct {
	alert.Endpoint
	Address string
}

// webhookRows returns the endpoints as rows of a table.
func webhookRows(list []alert.Endpoint) []webhookRow {
	rows := make([]webhookRow, len(list))
	for i, e := range list {
		rows[i] = webhookRow{e, withoutQuery(e.URL)}
	}
	return rows
}

// webhookPage is the data of the page of one webhook; Outcome is that of a test just made.
type webhookPage struct {
	Health     alert.Health
	Partner    partner.Partner
	Row        webhookRow
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
	p, err := c.Rules.Partners.GetPartner(r.Context(), partnerOf(r))
	return view{"webhook-new", "Novo webhook", webhookForm{p, alert.Types}}, err
}

const secretHelp = "Com ele o parceiro confere a assinatura de cada aviso (Standard Webhooks)."

// createWebhook creates a webhook after checking its address. The secret is shown on the answer.
func createWebhook(c *Console, r *request) (answer, error) {
	id := partnerOf(r)
	// The address is looked up before anything is written, so this is no short transaction: the line comes first.
	if err := c.recordAction(r, "webhook.create", string(id), withoutQuery(r.trimmedField("url"))); err != nil {
		return nil, err
	}
	e, err := c.Rules.Webhooks.Create(r.Context(), id, r.trimmedField("url"), r.PostForm["type"])
	if err != nil {
		return nil, err
	}
	return showSecretsNext(r, secretPage{
		Heading: "Webhook criado", Text: "O segredo aparece só agora. Depois de entregá-lo, envie um teste pela página do webhook.",
		Secrets: []shownSecret{{"Segredo", e.Secret(), secretHelp}},
		Back:    joinPath("webhooks", string(id), string(e.ID)), BackLabel: "Guardei o segredo, continuar",
	})
}

// endpointOf reads the endpoint that a path names and holds it against the path's partner.
func (c *Console) endpointOf(r *request) (alert.Endpoint, error) {
	e, err := c.Rules.Webhooks.FindEndpoint(r.Context(), alert.EndpointID(r.PathValue("endpoint")))
	if err == nil && e.Partner != partnerOf(r) {
		return alert.Endpoint{}, alert.ErrEndpointNotFound
	}
	return e, err
}

// webhookView shows a webhook with its health, and the outcome of a test when there is one.
func (c *Console) webhookView(r *request, outcome *webhook.Outcome) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	p, err := c.Rules.Partners.GetPartner(r.Context(), e.Partner)
	if err != nil {
		return nil, err
	}
	if err := c.pictureWebhook(r, string(e.ID)); err != nil {
		return nil, err
	}
	health, err := c.Rules.History.EndpointHealth(r.Context(), p.ID, e.ID)
	if err != nil {
		return nil, err
	}
	page := webhookPage{Health: health, Partner: p, Row: webhookRow{e, withoutQuery(e.URL)}, PublicKeys: e.PublicKeys(c.Now()), Outcome: outcome, Types: alert.Types}
	for _, state := range []alert.DeliveryState{alert.DeliveryFailed, alert.Pending, alert.Held, alert.Delivered} {
		list, _, err := c.Rules.Events.DeliveryList(r.Context(), alert.DeliveryFilter{State: state, Partner: p.ID, Endpoint: e.ID, Limit: webhookDeliveries})
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			_, tries, err := c.Rules.History.Deliveries(r.Context(), p.ID, one.Event)
			if err != nil {
				return nil, err
			}
			tries = slices.DeleteFunc(tries, func(t alert.AttemptLog) bool { return t.Endpoint != e.ID })
			page.Latest = append(page.Latest, eventDelivery{DeliveryStatus: one.DeliveryStatus, Type: one.Type, Attempts: tries})
		}
	}
	return view{"webhook", "Webhook", page}, nil
}

// showWebhook shows a webhook with its health.
func showWebhook(c *Console, r *request) (answer, error) { return c.webhookView(r, nil) }

// testWebhook sends a test event to the endpoint at once and shows what it answered.
func testWebhook(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	sample := alert.Type(cmp.Or(r.trimmedField("type"), string(alert.WebhookTest)))
	if err := c.recordAction(r, "webhook.test", string(e.ID), string(sample)); err != nil {
		return nil, err
	}
	outcome, _, err := c.Rules.Webhooks.Test(r.Context(), e.Partner, e.ID, sample)
	if err != nil {
		return nil, err
	}
	return c.webhookView(r, &outcome)
}

// confirmRotate asks how long the old secret shall stay valid before the secret is replaced.
func confirmRotate(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	return view{"webhook-rotate", "Trocar segredo", webhookRow{e, withoutQuery(e.URL)}}, err
}

// rotateWebhook replaces the secret of a webhook. The old one stays valid for the hours in the form.
func rotateWebhook(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	hours := r.readNumber("hours", 0)
	err = c.changeWithAudit(r, "webhook.rotate", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		e, err = in.Webhooks.RotateKeys(ctx, e.Partner, e.ID, time.Duration(hours)*time.Hour)
		return string(e.ID), "", err
	})
	if err != nil {
		return nil, err
	}
	return showSecretsNext(r, secretPage{
		Heading: "Segredo trocado", Text: "O segredo antigo também assina por mais " + strconv.Itoa(hours) + " h. O novo aparece só agora.",
		Secrets: []shownSecret{{"Segredo", e.Secret(), secretHelp}},
		Back:    joinPath("webhooks", string(e.Partner), string(e.ID)), BackLabel: "Guardei o segredo, continuar",
	})
}

// webhookChange runs a change of the webhook in the path in a transaction with its line in the audit trail.
func (c *Console) webhookChange(r *request, action, done string, fn func(ctx context.Context, in *Rules, e alert.Endpoint) error) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	err = c.changeWithAudit(r, action, func(ctx context.Context, in *Rules) (string, string, error) { return string(e.ID), "", fn(ctx, in, e) })
	if err != nil {
		return nil, err
	}
	to := joinPath("webhooks", string(e.Partner), string(e.ID))
	if action == "webhook.delete" {
		to = partnerPath(e.Partner)
	}
	return redirect{to, done}, nil
}

// enableWebhook resumes the deliveries of a webhook. What the endpoint missed is queued before, outside of the
// transaction.
func enableWebhook(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	if err == nil { // what the endpoint missed may be more than one transaction should hold
		err = c.Rules.Webhooks.FollowState(r.Context(), e.Partner, e.ID, alert.Enabled)
	}
	if err != nil {
		return nil, err
	}
	return c.webhookChange(r, "webhook.enable", "webhook.enabled", func(ctx context.Context, in *Rules, e alert.Endpoint) error {
		_, err := in.Webhooks.EnableEndpoint(ctx, e.Partner, e.ID)
		return err
	})
}

// disableWebhook pauses the deliveries of a webhook until it is enabled again.
func disableWebhook(c *Console, r *request) (answer, error) {
	var of alert.Endpoint
	done, err := c.webhookChange(r, "webhook.disable", "webhook.disabled", func(ctx context.Context, in *Rules, e alert.Endpoint) (err error) {
		of, err = in.Webhooks.DisableEndpoint(ctx, e.Partner, e.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return done, c.Rules.Webhooks.FollowState(r.Context(), of.Partner, of.ID, alert.Disabled)
}

// deleteWebhook deletes a webhook and returns to the page of its partner.
func deleteWebhook(c *Console, r *request) (answer, error) {
	return c.webhookChange(r, "webhook.delete", "webhook.deleted", func(ctx context.Context, in *Rules, e alert.Endpoint) error {
		return in.Webhooks.DeleteEndpoint(ctx, e.Partner, e.ID)
	})
}
