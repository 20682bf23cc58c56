package console

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// Events lists events and deliveries.
type Events interface {
	// ListEvents returns a page without bodies and the number that the next goes on from; 0 at the end.
	ListEvents(ctx context.Context, id partner.ID, f alert.EventFilter) ([]alert.Kept, int64, error)
	GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error)
	DeliveryList(ctx context.Context, f alert.DeliveryFilter) ([]alert.Listed, alert.DeliveryMark, error)
}

// eventsPage is the data of the list of a partner's events.
type eventsPage struct {
	partnerChoice
	List   listView
	Events []alert.Kept
}

// listEvents shows one page of a partner's events; without a partner only the choice of one.
func listEvents(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	if err != nil || choice.Current.ID == "" {
		return view{"events", "Eventos", eventsPage{partnerChoice: choice}}, err
	}
	f, err := c.parseFilterQuery(r.Context(), &eventsList, r.URL.Query(), choice.Current.ID, choice.All)
	if err != nil {
		return nil, err
	}
	page := eventsPage{partnerChoice: choice}
	var next int64
	if page.Events, next, err = c.Rules.Events.ListEvents(r.Context(), choice.Current.ID, f.eventFilter(perPage)); err != nil {
		return nil, err
	}
	page.List, err = c.newListView(r, &eventsList, f, choice.All, len(page.Events), formatSeq(next), -1)
	return view{"events", "Eventos", page}, err
}

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
	p, err := c.Rules.Partners.GetPartner(r.Context(), partnerOf(r))
	if err != nil {
		return nil, err
	}
	e, err := c.Rules.Events.GetEvent(r.Context(), p.ID, alert.EventID(r.PathValue("event")))
	if err != nil {
		return nil, err
	}
	statuses, tries, err := c.Rules.History.Deliveries(r.Context(), p.ID, e.ID)
	if err != nil {
		return nil, err
	}
	endpoints, err := c.Rules.Webhooks.ListEndpoints(r.Context(), p.ID)
	if err != nil {
		return nil, err
	}
	page := eventPage{Partner: p, Event: e, Body: indentJSON(string(e.Body))}
	var about struct {
		Data struct{ UserHash partner.UserHash }
	}
	if json.Unmarshal(e.Body, &about) == nil && about.Data.UserHash != "" {
		page.Person = c.personPath(p.ID, about.Data.UserHash)
	}
	for _, s := range statuses {
		d := eventDelivery{DeliveryStatus: s}
		for _, t := range tries {
			if t.Endpoint == s.Endpoint {
				d.Attempts = append(d.Attempts, t)
			}
		}
		for _, end := range endpoints {
			if end.ID == s.Endpoint {
				d.Address = withoutQuery(end.URL)
			}
		}
		page.Deliveries = append(page.Deliveries, d)
	}
	return view{"event", "Evento", page}, nil
}

// eventSample is a type of event and what one looks like to its receiver.
type eventSample struct {
	Type alert.Type
	Body string
}

// showEventTypes shows every type of event with a sample.
func showEventTypes(c *Console, _ *request) (answer, error) {
	list := make([]eventSample, len(alert.Types))
	for i, t := range alert.Types {
		body, err := alert.SampleBody(t, c.Now())
		if err != nil {
			return nil, err
		}
		list[i] = eventSample{Type: t, Body: indentJSON(string(body))}
	}
	return view{"event-types", "Tipos de evento", list}, nil
}

// replayEvent queues an event again, for one endpoint or for all.
func replayEvent(c *Console, r *request) (answer, error) {
	id, event := partnerOf(r), alert.EventID(r.PathValue("event"))
	return c.changeAndRedirect(r, "event.replay", redirect{joinPath("events", string(id), string(event)), "event.replayed"}, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.History.ReplayEvents(ctx, id, alert.Selection{Event: event, Endpoint: alert.EndpointID(r.trimmedField("endpoint"))})
		return string(event), string(id), err
	})
}

// deliveriesPage is the data of the list of deliveries.
type deliveriesPage struct {
	List  listView
	State alert.DeliveryState
	Items []alert.Listed
	Names map[partner.ID]string
	// Addresses are the destinations of the page, by endpoint.
	Addresses map[alert.EndpointID]string
	// Failed are partners with failed deliveries on the page: all of them can be repeated at once.
	Failed []failedOf
}

// failedOf is a partner with failed deliveries.
type failedOf struct {
	ID   partner.ID
	Name string
}

// listDeliveries shows one page of deliveries, the failed ones unless the filter asks for others.
func listDeliveries(c *Console, r *request) (answer, error) {
	all, err := c.visiblePartners(r)
	if err != nil {
		return nil, err
	}
	f, err := c.parseFilter(r, &deliveriesList, all)
	if err != nil {
		return nil, err
	}
	asked := f.deliveries(perPage)
	list, next, err := c.Rules.Events.DeliveryList(r.Context(), asked)
	if err != nil {
		return nil, err
	}
	now, err := c.figuresNow(r)
	if err != nil {
		return nil, err
	}
	page := deliveriesPage{State: asked.State, Items: list, Names: partnerChoice{All: all}.namesByID(), Addresses: map[alert.EndpointID]string{}}
	total := int64(-1)
	if counted, ok := map[alert.DeliveryState]operator.Figure{alert.DeliveryFailed: "deliveries.failed", alert.Pending: "deliveries.pending"}[asked.State]; ok {
		total = f.totalUnlessFiltered(now[counted], "state")
	}
	seen := map[partner.ID]bool{}
	for _, d := range page.Items {
		if _, known := page.Addresses[d.Endpoint]; !known {
			e, err := c.Rules.Webhooks.FindEndpoint(r.Context(), d.Endpoint)
			if err != nil && !errors.Is(err, alert.ErrEndpointNotFound) { // a deleted one leaves its deliveries for a while
				return nil, err
			}
			page.Addresses[d.Endpoint] = withoutQuery(e.URL)
		}
		if asked.State == alert.DeliveryFailed && !seen[d.Partner] {
			seen[d.Partner] = true
			page.Failed = append(page.Failed, failedOf{d.Partner, page.Names[d.Partner]})
		}
	}
	page.List, err = c.newListView(r, &deliveriesList, f, all, len(list), deliveryMark(next), total)
	return view{"deliveries", "Entregas", page}, err
}

// replayFailed queues all failed deliveries of a partner again. They may be many, so this is no single transaction.
func replayFailed(c *Console, r *request) (answer, error) {
	id, endpoint := partner.ID(r.trimmedField("partner")), alert.EndpointID(r.trimmedField("endpoint"))
	if err := c.recordAction(r, "event.replay", string(id), strings.TrimSpace("all failed "+string(endpoint))); err != nil {
		return nil, err
	}
	_, err := c.Rules.History.ReplayEvents(r.Context(), id, alert.Selection{Failed: true, Endpoint: endpoint})
	return redirect{"/deliveries", "event.replayed"}, err
}
