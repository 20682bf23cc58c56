package console

import (
	"cmp"
	"context"
	"net/url"

	"github.com/vigiahq/vigia/internal/notify/alert"
)

// testWebhook sends a test event to the endpoint at once and leads to the page that shows what it answered: a reload of
// that page sends nothing.
func testWebhook(c *Console, r *request) (answer, error) {
	e, err := c.endpointOf(r)
	if err != nil {
		return nil, err
	}
	sample := alert.Type(cmp.Or(r.trimmedField("type"), string(alert.WebhookTest)))
	if err := c.recordAction(r, "webhook.test", string(e.ID), string(sample)); err != nil {
		return nil, err
	}
	_, event, err := c.Rules.Webhooks.Test(r.Context(), e.Partner, e.ID, sample)
	if err != nil {
		return nil, err
	}
	to := webhookPath(e) + "?test=" + url.QueryEscape(string(event))
	return redirect{to: to}, nil
}

// testOutcome returns what came of the test that the address names; nothing for any other event.
func (c *Console) testOutcome(ctx context.Context, e alert.Endpoint, test alert.EventID) (*alert.AttemptLog, error) {
	if test == "" {
		return nil, nil //nolint:nilnil // no test was made
	}
	_, tries, err := c.Rules.History.Deliveries(ctx, e.Partner, test)
	if err != nil {
		return nil, err
	}
	for _, try := range tries {
		if try.Endpoint == e.ID {
			return &try, nil
		}
	}
	return nil, nil //nolint:nilnil // another webhook's
}
