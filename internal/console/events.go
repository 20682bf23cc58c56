package console

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// Events lists events and deliveries.
type Events interface {
	NewestEvents(ctx context.Context, id partner.ID, before int64, limit int) ([]alert.Kept, error)
	EventByID(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error)
	DeliveryList(ctx context.Context, f alert.DeliveryFilter) ([]alert.Listed, error)
}

type eventsPage struct {
	partnerChoice
	Events []alert.Kept
	Next   int64
}

func listEvents(c *Console, r *request) (answer, error) {
	choice, err := c.choose(r)
	if err != nil || choice.Current.ID == "" {
		return view{"events", "Eventos", eventsPage{partnerChoice: choice}}, err
	}
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64) // no number means from the newest
	list, err := c.Rules.Events.NewestEvents(r.Context(), choice.Current.ID, before, perPage+1)
	if err != nil {
		return nil, err
	}
	page := eventsPage{partnerChoice: choice, Events: list}
	if len(list) > perPage {
		page.Events, page.Next = list[:perPage], list[perPage-1].Seq
	}
	return view{"events", "Eventos", page}, nil
}

type eventPage struct {
	Partner    partner.Partner
	Event      alert.Kept
	Body       string
	Deliveries []eventDelivery
	// Person is the address of the page of whom the event is about; empty when it is about nobody.
	Person string
}

type eventDelivery struct {
	alert.DeliveryStatus
	Address  string
	Attempts []alert.AttemptLog
}

func showEvent(c *Console, r *request) (answer, error) {
	p, err := c.Rules.Partners.Partner(r.Context(), partnerOf(r))
	if err != nil {
		return nil, err
	}
	e, err := c.Rules.Events.EventByID(r.Context(), p.ID, alert.EventID(r.PathValue("event")))
	if err != nil {
		return nil, err
	}
	statuses, tries, err := c.Rules.History.Deliveries(r.Context(), p.ID, e.ID)
	if err != nil {
		return nil, err
	}
	endpoints, err := c.Rules.Webhooks.Of(r.Context(), p.ID)
	if err != nil {
		return nil, err
	}
	page := eventPage{Partner: p, Event: e, Body: indented(string(e.Body))}
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
				d.Address = hostOnly(end.URL)
			}
		}
		page.Deliveries = append(page.Deliveries, d)
	}
	return view{"event", "Evento", page}, nil
}

func replayEvent(c *Console, r *request) (answer, error) {
	id, event := partnerOf(r), alert.EventID(r.PathValue("event"))
	err := c.change(r, "event.replay", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.History.Replay(ctx, id, alert.Selection{Event: event, Endpoint: alert.EndpointID(r.text("endpoint"))})
		return string(event), string(id), err
	})
	if err != nil {
		return nil, err
	}
	return redirect{at("events", string(id), string(event)), "event.replayed"}, nil
}

type deliveriesPage struct {
	State  alert.DeliveryState
	Items  []alert.Listed
	Names  map[partner.ID]string
	Failed []failedOf
	Counts map[alert.DeliveryState]int64
	Next   int64
}

// failedOf is a partner with failed deliveries on the page: all of them can be repeated at once.
type failedOf struct {
	ID   partner.ID
	Name string
}

func listDeliveries(c *Console, r *request) (answer, error) {
	q := r.URL.Query()
	state := alert.DeliveryState(q.Get("state"))
	switch state {
	case alert.Pending, alert.Delivered, alert.Held:
	default:
		state = alert.DeliveryFailed
	}
	filter := alert.DeliveryFilter{State: state, Limit: perPage + 1}
	if before, err := strconv.ParseInt(q.Get("before"), 10, 64); err == nil {
		filter.Before = time.UnixMicro(before)
	}
	list, err := c.Rules.Events.DeliveryList(r.Context(), filter)
	if err != nil {
		return nil, err
	}
	figures, err := c.Rules.Figures.Figures(r.Context())
	if err != nil {
		return nil, err
	}
	page := deliveriesPage{State: state, Items: list, Counts: map[alert.DeliveryState]int64{
		alert.DeliveryFailed: figures.Now["deliveries.failed"], alert.Pending: figures.Now["deliveries.pending"],
	}}
	if len(list) > perPage {
		page.Items = list[:perPage]
		if last := list[perPage-1].FinishedAt; !last.IsZero() {
			page.Next = last.UnixMicro()
		}
	}
	if page.Names, err = c.names(r); err != nil {
		return nil, err
	}
	seen := map[partner.ID]bool{}
	for _, d := range page.Items {
		if state == alert.DeliveryFailed && !seen[d.Partner] {
			seen[d.Partner] = true
			page.Failed = append(page.Failed, failedOf{d.Partner, page.Names[d.Partner]})
		}
	}
	return view{"deliveries", "Entregas", page}, nil
}

func replayFailed(c *Console, r *request) (answer, error) {
	id := partner.ID(r.text("partner"))
	if err := c.note(r, "event.replay", string(id), "all failed"); err != nil {
		return nil, err
	}
	if _, err := c.Rules.History.Replay(r.Context(), id, alert.Selection{Failed: true}); err != nil {
		return nil, err
	}
	return redirect{"/deliveries", "event.replayed"}, nil
}
