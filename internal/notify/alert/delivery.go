package alert

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// DeliveryState is where a delivery stands.
type DeliveryState string

// The states. See docs/webhooks.md for the moves between them.
const (
	Pending        DeliveryState = "pending"   // waits for its time, its turn or the end of an attempt
	Delivered      DeliveryState = "delivered" // a receiver said 2xx
	DeliveryFailed DeliveryState = "failed"    // all tries are used up; a replay gives it new ones
	Held           DeliveryState = "held"      // its endpoint is disabled
)

// IsKnown reports whether it is one of the states, or empty of an event that no endpoint wanted: see sqldb.Enumerated.
func (s DeliveryState) IsKnown() bool {
	switch s {
	case "", Pending, Delivered, DeliveryFailed, Held:
		return true
	}
	return false
}

// Delivery is one event on its way to one endpoint, in the hands of a worker.
type Delivery struct {
	Partner  partner.ID
	Endpoint EndpointID
	// Seq is the event's place in the partner's order.
	Seq   int64
	Event EventID
	// Person is an opaque name of the person the event is about; empty when it is about no person.
	Person string
	// Ordered means that later deliveries of the same person wait for this one.
	Ordered bool
	// Attempts are the tries that have counted so far.
	Attempts int
	// Tried means that the delivery arrived before: it is a replay.
	Tried bool
	// Body is what is signed and sent.
	Body []byte
}

// Result is what became of a delivery.
type Result struct {
	Delivery Delivery
	// At is when the attempt began.
	At time.Time
	// Outcome is the attempt's.
	Outcome *webhook.Outcome
	// State, Attempts, NextAt and Ordered are what the delivery's row says from now on.
	State    DeliveryState
	Attempts int
	NextAt   time.Time
	Ordered  bool
	// Now is when it was settled.
	Now time.Time
	// Well means that the endpoint is known to bear no mark of one that fails, which a success would have to take away.
	Well bool
	// Revived means that the endpoint had been given up before and answers again.
	Revived bool
}

// Head-of-line rule: events of one person reach an endpoint in order, and the earlier one is waited for while it is
// under way or close to its next try. It is not waited for any more once it has failed orderTries times, or when its
// next try is more than orderWait away. So one stubborn event delays the next one of its person by less than two
// minutes, and other persons not at all.
const (
	orderTries = 2
	orderWait  = time.Minute
)

// disablePause is how long a delivery that met a 410 waits for the endpoint to be disabled. If the process dies in
// between, the receiver is asked again after that and says 410 again.
const disablePause = time.Minute

// NextTry names the time of the next try after a number of counted ones, and false when they are used up;
// webhook.Schedule.Next is one.
type NextTry func(attempts int, now time.Time, retryAfter time.Duration) (time.Time, bool)

func settleAttempt(d Delivery, at time.Time, outcome webhook.Outcome, next NextTry, now time.Time) Result {
	r := Result{
		Delivery: d,
		At:       at,
		Outcome:  &outcome,
		State:    Pending,
		Attempts: d.Attempts,
		NextAt:   now,
		Ordered:  d.Ordered,
		Now:      now,
	}
	switch verdict := webhook.JudgeOutcome(outcome); verdict.Action {
	case webhook.Delivered:
		r.State, r.Attempts = Delivered, d.Attempts+1
	case webhook.Retry:
		r.Attempts++
		again, more := next(r.Attempts, now, verdict.After)
		if !more {
			r.State = DeliveryFailed
			break
		}
		r.NextAt = again
		r.Ordered = d.Ordered && r.Attempts < orderTries && again.Sub(now) <= orderWait
	case webhook.Disable:
		r.NextAt = now.Add(disablePause)
	case webhook.Release:
	}
	return r
}

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
	ctx context.Context,
	id partner.ID,
	event EventID,
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

// ReportEvents compares events of a window with what the partner got, and shows the first of what is missing.
func (h *History) ReportEvents(ctx context.Context, id partner.ID, of ReportOf) (Report, error) {
	if _, err := h.tenants.PartnerByID(ctx, id); err != nil {
		return Report{}, err
	}
	return h.store.EventReport(ctx, id, of)
}

// record is a result on its way to disk.
type record struct {
	result Result
	lane   *lane
	// done is closed when the result is on disk, or can no longer be stored; nil when no sender waits for it.
	done chan struct{}
}

// maxGroup bounds how many results share a transaction.
const maxGroup = 512

// recordResult has a result written. A success is left to the lane's bound; anything else is on disk when it returns.
func (d *Dispatcher) recordResult(l *lane, r Result) {
	if r.State == Delivered {
		d.results <- record{r, l, nil}
		return
	}
	done := make(chan struct{})
	d.results <- record{r, l, done}
	<-done
}

// recordAll writes results as they come. All results that arrive during one transaction share the next, so that many
// senders share one sync of the disk, while a lone result is written at once. Under load results wait a little for each
// other: the cost of a transaction hardly grows with its size.
func (d *Dispatcher) recordAll(ctx context.Context) {
	group := make([]record, 0, maxGroup)
	for first := range d.results {
		group = d.drainResults(append(group[:0], first))
		if len(group) >= crowd {
			time.Sleep(gather)
			group = d.drainResults(group)
		}
		d.writeResults(ctx, group)
		d.markSettled(group)
		for _, r := range group {
			<-r.lane.unrecorded
			if r.done != nil {
				close(r.done)
			}
		}
	}
}

// Where crowd attempts wait to be written, more are on their way: the writer waits for them for the time of gather.
const (
	crowd  = 16
	gather = 3 * time.Millisecond
)

func (d *Dispatcher) drainResults(group []record) []record {
	for len(group) < maxGroup {
		select {
		case r, ok := <-d.results:
			if !ok {
				return group
			}
			group = append(group, r)
		default:
			return group
		}
	}
	return group
}

// writeTime bounds one try to record; the last one is made after the dispatcher was told to stop.
const writeTime = 10 * time.Second

// writeResults tries until the results are on disk. Their senders wait, so a database that is away stops the sending.
// After the end of ctx there is one last try: what is lost then is only the knowledge of an attempt, and it is
// repeated.
func (d *Dispatcher) writeResults(ctx context.Context, group []record) {
	results := d.collectResults(group)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		last := ctx.Err() != nil
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
		err := d.queue.RecordResults(try, d.worker, results)
		cancel()
		if err == nil {
			return
		}
		d.log.Error("delivery results cannot be recorded", "count", len(results), "cause", err.Error())
		if last {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// wellTime is how long a success is believed to have left no mark of failing on its endpoint. It could be for ever but
// for a worker that lost its hold and tells of a failure late.
const wellTime = time.Second

// collectResults returns the results of a group, with what is known of their endpoints: a success of one that has not
// failed since the last is spared the writing of it. All groups before are on disk.
func (d *Dispatcher) collectResults(group []record) []Result {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	results := make([]Result, len(group))
	for i, r := range group {
		if r.result.State == Delivered {
			l := r.lane
			since := now.Sub(l.unmarkedAt)
			if r.result.Well = l.endpoint.FailingSince.IsZero() && since >= 0 && since < wellTime; !r.result.Well {
				l.unmarkedAt = now
			}
		}
		results[i] = r.result
	}
	return results
}
