package alert

import (
	"context"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
)

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

// markSettled notes that results are on disk.
func (d *Dispatcher) markSettled(group []record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range group {
		l := r.lane
		l.recorded = append(l.recorded, r.result)
		if l.skipped {
			if l.lookAgain = (time.Time{}); l.queued < l.batch {
				d.requestRound()
			}
		}
		if r.result.State != Delivered {
			if r.result.Attempts > r.result.Delivery.Attempts && l.endpoint.FailingSince.IsZero() {
				l.endpoint.FailingSince = r.result.Now
			}
			continue
		}
		l.arrived++
		l.endpoint.FailingSince = time.Time{}
		if !l.pausedUntil.IsZero() {
			l.pausedUntil = time.Time{}
			d.requestRound()
		}
	}
}

// applyAction does what a result means for the endpoint as a whole.
func (d *Dispatcher) applyAction(ctx context.Context, e Endpoint, r Result, action webhook.Action) {
	switch action {
	case webhook.Delivered, webhook.Release:
	case webhook.Retry:
		if r.State == DeliveryFailed {
			d.log.Error("delivery failed for good", "partner", string(e.Partner), "endpoint", string(e.ID),
				"event", string(r.Delivery.Event), "attempts", r.Attempts)
		}
		if e.IsFailingTooLong(r.Now) {
			d.disableEndpoint(ctx, e, Failing)
		}
	case webhook.Disable:
		d.disableEndpoint(ctx, e, Gone)
	}
}

// errAlive keeps an endpoint enabled that another worker has just reached.
var errAlive = errors.New("the endpoint works again")

// disableEndpoint switches an endpoint off. If it cannot be written the next attempt comes to the same conclusion.
func (d *Dispatcher) disableEndpoint(ctx context.Context, e Endpoint, why Reason) {
	_, err := d.queue.UpdateEndpoint(context.WithoutCancel(ctx), e.Partner, e.ID, func(now *Endpoint) error {
		if now.State == Disabled || why == Failing && !now.IsFailingTooLong(d.now()) {
			return errAlive
		}
		now.State, now.Reason = Disabled, why
		return nil
	})
	switch {
	case err == nil:
		d.log.Warn("endpoint disabled", "partner", string(e.Partner), "endpoint", string(e.ID), "reason", string(why))
		d.mu.Lock()
		defer d.mu.Unlock()
		if l := d.lanes[e.ID]; l != nil {
			l.clearQueued()
		}
	case !errors.Is(err, errAlive) && !errors.Is(err, ErrEndpointNotFound):
		d.log.Error("endpoint cannot be disabled", "endpoint", string(e.ID), "cause", err.Error())
	}
}
