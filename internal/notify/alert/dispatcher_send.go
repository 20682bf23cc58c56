package alert

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
)

// sendChains is the loop of one sender: it works through chains until there are none.
func (d *Dispatcher) sendChains(ctx context.Context, l *lane, chain []Delivery) {
	for chain != nil {
		for i, item := range chain {
			if !d.attemptDelivery(ctx, l, item) {
				d.dropUntried(l, chain[i+1:])
				break
			}
		}
		chain = d.nextChain(l)
	}
}

// nextChain takes the sender's next chain, or signs the sender off.
func (d *Dispatcher) nextChain(l *lane) []Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	chain := l.takeChain()
	if chain == nil {
		l.active--
		d.sending--
	}
	if l.more && l.queued < l.batch {
		d.requestRound()
	}
	return chain
}

// dropUntried drops deliveries that were not tried.
func (d *Dispatcher) dropUntried(l *lane, list []Delivery) {
	if len(list) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	l.dropDeliveries(list)
	l.more = true
	l.startPass()
}

// attemptDelivery makes one try and tells whether the person's next delivery may follow.
func (d *Dispatcher) attemptDelivery(ctx context.Context, l *lane, item Delivery) bool {
	l.unrecorded <- struct{}{}
	endpoint, ok := d.enterGate(ctx, l, item)
	if !ok {
		<-l.unrecorded
		d.dropUntried(l, []Delivery{item})
		return false
	}
	at := d.now()
	outcome := webhook.SendAttempt(ctx, d.client, webhook.Attempt{
		URL: endpoint.URL, EventID: string(item.Event), At: at, Body: item.Body, Keys: endpoint.Keys.LiveKeys(at),
	})
	action := webhook.JudgeOutcome(outcome).Action
	revived := d.gates.LeaveGate(item.Endpoint, action)
	d.opts.Observe(action, outcome)
	result := settleAttempt(item, at, outcome, d.opts.NextTry, d.now())
	result.Revived = revived && result.State == Delivered
	d.recordResult(l, result)
	d.applyAction(ctx, endpoint, result, action)
	return result.State == Delivered || !result.Ordered
}

// longestWait is how long a sender waits for its endpoint's gate; beyond it the lane is paused.
const longestWait = time.Second

// enterGate waits for the endpoint's gate. When the breaker is open the lane is paused and forgets what it has; when
// our hold on the endpoint is over it only forgets.
func (d *Dispatcher) enterGate(ctx context.Context, l *lane, item Delivery) (Endpoint, bool) {
	for ctx.Err() == nil {
		endpoint, ok := d.claimAttempt(l)
		if !ok {
			return endpoint, false
		}
		wait, ok := d.gates.EnterGate(item.Endpoint)
		if ok {
			return endpoint, true
		}
		if wait > longestWait {
			d.pauseLane(l, d.now().Add(wait))
			return endpoint, false
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return Endpoint{}, false
}

// claimAttempt returns the endpoint if an attempt may begin: this dispatcher still holds it and has not been told to
// stop.
func (d *Dispatcher) claimAttempt(l *lane) (Endpoint, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopping {
		return Endpoint{}, false
	}
	if !d.holdsEndpoint(l, d.now()) {
		l.clearQueued()
		return Endpoint{}, false
	}
	return l.endpoint, true
}

// pauseLane empties a lane and starts over with small batches; until is when to ask again.
func (d *Dispatcher) pauseLane(l *lane, until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.batch = d.opts.firstBatch()
	if until.After(l.pausedUntil) {
		l.pausedUntil = until
	}
	l.clearQueued()
}
