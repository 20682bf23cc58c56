package console

import (
	"context"
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
		ctx context.Context, id partner.ID, endpoint alert.EndpointID, t alert.Type,
	) (webhook.Outcome, alert.EventID, error)
	RotateKeys(
		ctx context.Context, id partner.ID, endpoint alert.EndpointID, overlap time.Duration,
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
	Outcome    *alert.AttemptLog
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
	p, err := c.partnerInPath(r)
	return newView("webhook-new", "Novo webhook", webhookForm{p, alert.Types}, err)
}

//nolint:gosec // speaks of a secret, holds none
const secretHelp = "Com ele o parceiro confere a assinatura de cada aviso (Standard Webhooks)."

// createWebhook creates a webhook after checking its address. The secret is shown on the answer.
func createWebhook(c *Console, r *request) (answer, error) {
	id, address := partnerOf(r), r.trimmedField("url")
	// The address is looked up before anything is written, so this is no short transaction: the line comes first.
	if err := c.recordAction(r, "webhook.create", string(id), alert.Endpoint{URL: address}.Address()); err != nil {
		return nil, err
	}
	e, err := c.Rules.Webhooks.Create(r.Context(), id, address, r.PostForm["type"])
	if err != nil {
		return nil, err
	}
	return showSecretsNext(r, secretPage{
		Heading:   "Webhook criado",
		Text:      "O segredo aparece só agora. Depois de entregá-lo, envie um teste pela página do webhook.",
		Secrets:   []shownSecret{{"Segredo", e.Secret(), secretHelp}},
		Back:      webhookPath(e),
		BackLabel: "Guardei o segredo, continuar",
	})
}

// endpointOf reads the endpoint that a path names and holds it against the path's partner.
func (c *Console) endpointOf(r *request) (alert.Endpoint, error) {
	e, err := c.Rules.Webhooks.FindEndpoint(r.Context(), alert.EndpointID(r.PathValue("endpoint")))
	if err != nil {
		return alert.Endpoint{}, err
	}
	if e.Partner != partnerOf(r) {
		return alert.Endpoint{}, alert.ErrEndpointNotFound
	}
	return e, nil
}

func (c *Console) gatherWebhook(ctx context.Context, e alert.Endpoint) (webhookPage, error) {
	p, err := c.Rules.Partners.PartnerByID(ctx, e.Partner)
	if err != nil {
		return webhookPage{}, err
	}
	health, err := c.Rules.History.EndpointHealth(ctx, p.ID, e.ID)
	if err != nil {
		return webhookPage{}, err
	}
	page := webhookPage{
		Health:     health,
		Partner:    p,
		Row:        e,
		PublicKeys: e.PublicKeys(c.Now()),
		Types:      alert.Types,
	}
	for _, state := range []alert.DeliveryState{alert.DeliveryFailed, alert.Pending, alert.Held, alert.Delivered} {
		newest := alert.DeliveryFilter{State: state, Partner: p.ID, Endpoint: e.ID, Limit: webhookDeliveries}
		list, _, err := c.Rules.Events.DeliveryList(ctx, newest)
		if err != nil {
			return page, err
		}
		for _, one := range list {
			_, tries, err := c.Rules.History.Deliveries(ctx, p.ID, one.Event)
			if err != nil {
				return page, err
			}
			page.Latest = append(page.Latest, newEventDelivery(one.DeliveryStatus, one.Type, "", tries))
		}
	}
	return page, nil
}

func showWebhook(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	page, err := c.gatherWebhook(r.Context(), e)
	if err != nil {
		return nil, err
	}
	page.Outcome, err = c.testOutcome(r.Context(), e, alert.EventID(r.URL.Query().Get("test")))
	if err != nil {
		return nil, err
	}
	charts, err := c.pictureWebhook(r.Context(), string(e.ID), parsePeriod(r))
	if err != nil {
		return nil, err
	}
	r.addPictures(charts...)
	return view{"webhook", "Webhook", page}, nil
}

// webhookPath returns the path of a webhook's page.
func webhookPath(e alert.Endpoint) string {
	return joinPath("webhooks", e.Partner, e.ID)
}
