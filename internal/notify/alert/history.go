package alert

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Selection names deliveries to repeat. Exactly one of Event, the window and Failed is given.
type Selection struct {
	// Event is one event.
	Event EventID
	// From and To are a window of the events' times: from the one, up to but without the other.
	From, To time.Time
	// Failed are all deliveries whose tries are used up.
	Failed bool
	// Endpoint narrows to one endpoint; empty means all that want the event.
	Endpoint EndpointID
}

// CheckSelection refuses a selection that names nothing, more than one thing, or no time at all.
func (s Selection) CheckSelection() error {
	ways := 0
	for _, given := range []bool{s.Event != "", !s.From.IsZero() || !s.To.IsZero(), s.Failed} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return ErrReplay.With("event, from, failed", fault.ReplayChoice)
	}
	if !s.From.IsZero() && !s.To.IsZero() && !s.From.Before(s.To) {
		return ErrReplay.With("window", fault.FromBeforeTo)
	}
	return nil
}

// DeliveryStatus is a delivery as people see it.
type DeliveryStatus struct {
	Endpoint   EndpointID
	Event      EventID
	Seq        int64
	State      DeliveryState
	Attempts   int
	NextAt     time.Time
	FinishedAt time.Time
}

// AttemptLog is one try as it was logged.
type AttemptLog struct {
	Endpoint EndpointID
	At       time.Time
	Status   int
	Failure  webhook.Failure
	Duration time.Duration
	// Answer is how the receiver's answer began: foreign text, to be shown escaped.
	Answer string
}

// Health is how an endpoint fares.
type Health struct {
	// Delivered and Failed are among its HealthOver newest deliveries.
	Delivered, Failed int64
	// Backlog is what is to be sent now or at its next try, Held what waits until the endpoint is enabled; each up to
	// MaxBacklog.
	Backlog, Held int64
	// Travel is how long those that arrived were under way, all together.
	Travel time.Duration
	// Last is the last try of the newest delivery that was tried; zero before the first.
	Last AttemptLog
}

// How far Health counts.
const (
	HealthOver = 1000
	MaxBacklog = 100_000
)

// Rate returns the share of deliveries that arrived of those that are over, in percent; -1 when none is.
func (h Health) Rate() int64 {
	if h.Delivered+h.Failed == 0 {
		return -1
	}
	return 100 * h.Delivered / (h.Delivered + h.Failed)
}

// MeanDuration returns how long a delivery that arrived was under way; 0 when none did.
func (h Health) MeanDuration() time.Duration { return h.Travel / time.Duration(max(h.Delivered, 1)) }

// HistoryStore is what the operator's view of events needs.
type HistoryStore interface {
	FeedStore
	// RequeueDeliveries makes the selected deliveries pending again with new tries, and returns how many.
	RequeueDeliveries(ctx context.Context, id partner.ID, s Selection) (int64, error)
	Deliveries(ctx context.Context, id partner.ID, event EventID) ([]DeliveryStatus, error)
	ListAttempts(ctx context.Context, id partner.ID, event EventID) ([]AttemptLog, error)
	EventReport(ctx context.Context, id partner.ID, of ReportOf) (Report, error)
	EndpointHealth(ctx context.Context, id partner.ID, endpoint EndpointID) (Health, error)
}

// Partners knows who there is.
type Partners interface {
	PartnerByID(ctx context.Context, id partner.ID) (partner.Partner, error)
}

// History is what the operator asks about events, from the command line and the console alike.
type History struct {
	store   HistoryStore
	tenants Partners
}

// NewHistory joins the rules to a store.
func NewHistory(store HistoryStore, tenants Partners) *History { return &History{store, tenants} }

// ForPartner returns the same for a partner's own people: to them there is no other partner.
func (h *History) ForPartner(id partner.ID) *History {
	return &History{h.store, partner.One{Of: h.tenants, ID: id}}
}

// ListEvents returns up to limit events that follow a number.
func (h *History) ListEvents(ctx context.Context, id partner.ID, after int64, limit int) ([]Kept, error) {
	if _, err := h.tenants.PartnerByID(ctx, id); err != nil {
		return nil, err
	}
	stretch, err := h.store.EventsAfter(ctx, id, Everything, after, min(max(limit, 1), MaxPage))
	return stretch.Events, err
}

// Deliveries returns where an event has gone, and every try.
func (h *History) Deliveries(
	ctx context.Context, id partner.ID, event EventID,
) ([]DeliveryStatus, []AttemptLog, error) {
	if _, err := h.tenants.PartnerByID(ctx, id); err != nil {
		return nil, nil, err
	}
	list, err := h.store.Deliveries(ctx, id, event)
	if err != nil {
		return nil, nil, err
	}
	tries, err := h.store.ListAttempts(ctx, id, event)
	return list, tries, err
}

// EndpointHealth returns how an endpoint of a partner fares.
func (h *History) EndpointHealth(ctx context.Context, id partner.ID, endpoint EndpointID) (Health, error) {
	if _, err := h.tenants.PartnerByID(ctx, id); err != nil {
		return Health{}, err
	}
	return h.store.EndpointHealth(ctx, id, endpoint)
}

// ReplayEvents pushes again what was selected, whether it arrived before or not: receivers tell repeats by the event's
// id. Deliveries of disabled endpoints are held.
func (h *History) ReplayEvents(ctx context.Context, id partner.ID, s Selection) (int64, error) {
	if err := s.CheckSelection(); err != nil {
		return 0, err
	}
	if _, err := h.tenants.PartnerByID(ctx, id); err != nil {
		return 0, err
	}
	return h.store.RequeueDeliveries(ctx, id, s)
}

// ReportEvents compares events of a window with what the partner got, and shows the first of what is missing.
func (h *History) ReportEvents(ctx context.Context, id partner.ID, of ReportOf) (Report, error) {
	if _, err := h.tenants.PartnerByID(ctx, id); err != nil {
		return Report{}, err
	}
	return h.store.EventReport(ctx, id, of)
}
