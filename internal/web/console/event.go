package console

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// eventPage is the data of the page of one event.
type eventPage struct {
	Partner    partner.Partner
	Event      alert.Kept
	Body       string
	Deliveries []eventDelivery
	// Person is the path of the page about the person that the event concerns; empty when it concerns none.
	Person string
}

// eventDelivery is the delivery of an event to one endpoint with all its attempts.
type eventDelivery struct {
	alert.DeliveryStatus
	Type     alert.Type
	Address  string
	Attempts []alert.AttemptLog
}

// showEvent shows an event with its deliveries and every attempt.
func showEvent(c *Console, r *request) (answer, error) {
	page, err := c.gatherEvent(r.Context(), partnerOf(r), alert.EventID(r.PathValue("event")))
	return newView("event", "Evento", page, err)
}

func (c *Console) gatherEvent(ctx context.Context, id partner.ID, event alert.EventID) (eventPage, error) {
	p, err := c.Rules.Partners.PartnerByID(ctx, id)
	if err != nil {
		return eventPage{}, err
	}
	e, err := c.Rules.Events.GetEvent(ctx, p.ID, event)
	if err != nil {
		return eventPage{}, err
	}
	statuses, tries, err := c.Rules.History.Deliveries(ctx, p.ID, e.ID)
	if err != nil {
		return eventPage{}, err
	}
	addresses, err := c.endpointAddresses(ctx, p.ID)
	if err != nil {
		return eventPage{}, err
	}
	sent, err := alert.SentBody(e)
	if err != nil {
		return eventPage{}, err
	}
	page := eventPage{Partner: p, Event: e, Body: indentJSON(string(sent))}
	var about struct {
		Data struct{ UserHash partner.UserHash }
	}
	if json.Unmarshal(e.Body, &about) == nil && about.Data.UserHash != "" {
		page.Person = c.personPath(p.ID, about.Data.UserHash)
	}
	for _, s := range statuses {
		page.Deliveries = append(page.Deliveries, newEventDelivery(s, "", addresses[s.Endpoint], tries))
	}
	return page, nil
}

// newEventDelivery returns a delivery with those of an event's attempts that were made for it.
func newEventDelivery(s alert.DeliveryStatus, kind alert.Type, address string, tries []alert.AttemptLog) eventDelivery {
	own := slices.DeleteFunc(slices.Clone(tries), func(t alert.AttemptLog) bool { return t.Endpoint != s.Endpoint })
	return eventDelivery{DeliveryStatus: s, Type: kind, Address: address, Attempts: own}
}

func (c *Console) endpointAddresses(ctx context.Context, id partner.ID) (map[alert.EndpointID]string, error) {
	endpoints, err := c.Rules.Webhooks.ListEndpoints(ctx, id)
	if err != nil {
		return nil, err
	}
	addresses := map[alert.EndpointID]string{}
	for _, e := range endpoints {
		addresses[e.ID] = e.Address()
	}
	return addresses, nil
}

// HasFailed reports whether the event did not reach one of its endpoints.
func (p eventPage) HasFailed() bool {
	return slices.ContainsFunc(p.Deliveries, func(d eventDelivery) bool { return d.State == alert.DeliveryFailed })
}

// replayEvent queues an event again, for one endpoint or for all.
func replayEvent(c *Console, r *request) (answer, error) {
	id, event := partnerOf(r), alert.EventID(r.PathValue("event"))
	endpoint := alert.EndpointID(r.trimmedField("endpoint"))
	next := redirect{joinPath("events", id, event), "event.replayed"}
	return c.changeAndRedirect(r, "event.replay", next, func(ctx context.Context, in *Rules) (string, string, error) {
		if endpoint != "" {
			_, err := in.History.ReplayEvents(ctx, id, alert.Selection{Event: event, Endpoint: endpoint})
			return string(event), string(id), err
		}
		return string(event), string(id), replayToFailed(ctx, in, id, event)
	})
}

// replayToFailed pushes an event again to the endpoints that it did not reach, and to no other.
func replayToFailed(ctx context.Context, in *Rules, id partner.ID, event alert.EventID) error {
	statuses, _, err := in.History.Deliveries(ctx, id, event)
	if err != nil {
		return err
	}
	for _, s := range statuses {
		if s.State != alert.DeliveryFailed {
			continue
		}
		if _, err := in.History.ReplayEvents(ctx, id, alert.Selection{Event: event, Endpoint: s.Endpoint}); err != nil {
			return err
		}
	}
	return nil
}
