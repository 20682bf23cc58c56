package alert

import (
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
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
