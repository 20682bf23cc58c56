package alert

import (
	"cmp"
	"crypto/rand"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
)

// BUG(alert): a delivery is made again when its worker dies between the receiver's answer and the record of it. These
// are at most Unrecorded for an endpoint. Receivers tell repeats by webhook-id.

// DispatcherOptions tune a dispatcher. The zero value of a field means its default.
type DispatcherOptions struct {
	// Gate is what one endpoint may take: webhook.DefaultGate.
	Gate webhook.GateRule
	// Worker names the dispatcher to others; it must be its own. A random name unless given.
	Worker string
	// Hold is how long after the last proof that the holds stand an attempt may begin: 4 s. It must be less than the
	// time after which a silent holder loses them.
	Hold time.Duration
	// Poll is how often due deliveries are looked for that another process made, endpoints asked for that another has,
	// and holds made sure of: 250 ms.
	Poll time.Duration
	// Grace is how long a stopping dispatcher lets attempts finish before it cuts them: 5 s.
	Grace time.Duration
	// MaxBatch bounds what is read at once for one endpoint: 512.
	MaxBatch int
	// MaxSenders bounds the senders of this process: 1024.
	MaxSenders int
	// NextTry is the schedule: that of package webhook.
	NextTry NextTry
	// Observe is told of every attempt, for metrics.
	Observe func(action webhook.Action, outcome webhook.Outcome)
}

// withDefaults fills in what is not set. Every dispatcher gets a worker name of its own, even within one process.
func (o DispatcherOptions) withDefaults() DispatcherOptions {
	if o.Gate.Concurrent == 0 {
		o.Gate = webhook.DefaultGate
	}
	o.Hold = cmp.Or(o.Hold, 4*time.Second)
	o.Poll = cmp.Or(o.Poll, 250*time.Millisecond)
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	o.MaxBatch = cmp.Or(o.MaxBatch, 512)
	o.MaxSenders = cmp.Or(o.MaxSenders, 1024)
	if o.Worker == "" {
		o.Worker = "d_" + rand.Text()
	}
	if o.Observe == nil {
		o.Observe = func(webhook.Action, webhook.Outcome) {}
	}
	return o
}

// firstBatch returns how many deliveries the first read of a lane asks for.
func (o DispatcherOptions) firstBatch() int { return min(firstBatch, o.MaxBatch) }

// resultsPerSlot is how many results for each slot may be on their way to disk: a sync of the disk is as long as dozens
// of attempts, and a slot must not be idle for it.
const resultsPerSlot = 6

// Unrecorded returns how many deliveries to an endpoint with that many slots may have been sent and not be on disk. It
// is what a killed process repeats to an endpoint at most.
func Unrecorded(slots int) int { return resultsPerSlot * slots }
