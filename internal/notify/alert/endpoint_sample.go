package alert

import (
	"context"
	"crypto/rand"
	"net/http" // its client is handed on to webhook.Send; nothing here speaks HTTP
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
)

// testTime is longer than an attempt can last.
const testTime = 30 * time.Second

// SendTestEvent sends a sample of a type to one endpoint now, whatever its filter and state, and returns the result. It
// is not retried: the caller sees the result.
//
// What is kept is a webhook.test of the same id: the feed, the statistics and a replay must never show a leak or an end
// that did not happen.
func (s *Endpoints) SendTestEvent(
	ctx context.Context, id partner.ID, endpoint EndpointID, t Type, client *http.Client,
) (webhook.Outcome, EventID, error) {
	if err := CheckType(t); err != nil {
		return webhook.Outcome{}, "", err
	}
	e, err := s.store.EndpointByID(ctx, id, endpoint)
	if err != nil {
		return webhook.Outcome{}, "", err
	}
	event := NewEvent(id, WebhookTest, "", s.now(), Test{SampleOf: sampledType(t)})
	worker := "t_" + rand.Text()
	d, err := s.store.ClaimTest(ctx, id, endpoint, s.now().Add(testTime), event)
	if err != nil {
		return webhook.Outcome{}, "", err
	}
	if d.Body, err = event.sampleOf(t).MarshalBody(); err != nil {
		return webhook.Outcome{}, "", err
	}
	at := s.now()
	outcome := webhook.SendAttempt(ctx, client, webhook.Attempt{
		URL: e.URL, EventID: string(d.Event), At: at, Body: d.Body, Keys: e.Keys.LiveKeys(at),
	})
	r := Result{Delivery: d, At: at, Outcome: &outcome, State: DeliveryFailed, Attempts: 1, Now: s.now()}
	if webhook.JudgeOutcome(outcome).Action == webhook.Delivered {
		r.State = Delivered
	}
	return outcome, event.ID, s.store.RecordResults(context.WithoutCancel(ctx), worker, []Result{r})
}

// sampledType returns the type that a test is kept with; none for the plain one.
func sampledType(t Type) Type {
	if t == WebhookTest {
		return ""
	}
	return t
}
