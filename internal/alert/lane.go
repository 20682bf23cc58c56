package alert

import (
	"context"
	"errors"
	"time"

	"vigia/internal/webhook"
)

// lane is what this process does for one endpoint. The dispatcher's lock guards it.
type lane struct {
	endpoint  Endpoint // as of the last claim
	changedAt time.Time
	// chains are claimed deliveries that no sender has begun: each is a person's, in order, or a single one about nobody.
	chains [][]Delivery
	queued int // deliveries in chains
	active int // senders at work
	// slots bounds the attempts at one time; a sender that waits for its result to be recorded holds none.
	slots chan struct{}
	// batch is how many deliveries are claimed at once: it grows while a receiver keeps up and starts over when it does not.
	batch int
	// arrived counts deliveries since the last claim.
	arrived     int
	pausedUntil time.Time
}

// add queues deliveries, those of one person behind each other.
func (l *lane) add(list []Delivery) {
	chainOf := make(map[string]int, len(list))
	for _, d := range list {
		if i, ok := chainOf[d.Person]; ok && d.Person != "" {
			l.chains[i] = append(l.chains[i], d)
			continue
		}
		chainOf[d.Person] = len(l.chains)
		l.chains = append(l.chains, []Delivery{d})
	}
	l.queued += len(list)
}

// take removes the first chain; nil when there is none.
func (l *lane) take() []Delivery {
	if len(l.chains) == 0 {
		return nil
	}
	chain := l.chains[0]
	l.chains[0] = nil
	l.chains = l.chains[1:]
	l.queued -= len(chain)
	return chain
}

// clear empties the lane and returns what was in it.
func (l *lane) clear() []Delivery {
	var all []Delivery
	for _, c := range l.chains {
		all = append(all, c...)
	}
	l.chains, l.queued = nil, 0
	return all
}

// send is a sender: it works through chains until there are none.
func (d *Dispatcher) send(ctx context.Context, l *lane, chain []Delivery) {
	for chain != nil {
		for i, item := range chain {
			if !d.attempt(ctx, l, item) {
				d.giveBack(chain[i+1:])
				break
			}
		}
		chain = d.next(l)
	}
}

// next takes the sender's next chain, or signs the sender off.
func (d *Dispatcher) next(l *lane) []Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	chain := l.take()
	if chain == nil {
		l.active--
		d.sending--
	}
	if l.queued < l.batch {
		d.wake()
	}
	return chain
}

// attempt makes one try and tells whether the person's next delivery may follow.
func (d *Dispatcher) attempt(ctx context.Context, l *lane, item Delivery) bool {
	l.slots <- struct{}{}
	if !d.enter(ctx, l, item) {
		<-l.slots
		d.giveBack([]Delivery{item})
		return false
	}
	endpoint := d.endpointOf(l)
	at := d.now()
	outcome := webhook.Send(ctx, d.client, webhook.Attempt{
		URL: endpoint.URL, EventID: string(item.Event), At: at, Body: item.Body, Keys: endpoint.Keys.Live(at),
	})
	action := webhook.Judge(outcome).Action
	d.gates.Leave(item.Endpoint, action)
	<-l.slots
	d.opts.Observe(action, outcome)
	result := settle(item, at, outcome, d.opts.NextTry, d.now())
	d.record(result)
	d.conclude(ctx, l, endpoint, result, action)
	return result.State == Delivered || !result.Ordered
}

// longestWait is how long a sender sits on a claim for its endpoint's gate; beyond it the claim is given back.
const longestWait = time.Second

// recordMargin is the part of a claim that is left for recording.
const recordMargin = 5 * time.Second

// enter waits for the endpoint's gate. When the breaker is open the lane is paused and gives its claims back; when the claim
// is too old to begin an attempt, only the claims go back.
func (d *Dispatcher) enter(ctx context.Context, l *lane, item Delivery) bool {
	margin := d.opts.Timeout + min(recordMargin, d.opts.Lease/10)
	for ctx.Err() == nil && !d.stopped() {
		if d.now().Add(margin).After(item.Until) {
			d.pause(l, time.Time{})
			return false
		}
		wait, ok := d.gates.Enter(item.Endpoint)
		if ok {
			return true
		}
		if wait > longestWait {
			d.pause(l, d.now().Add(wait))
			return false
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return false
}

func (d *Dispatcher) stopped() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stopping
}

func (d *Dispatcher) endpointOf(l *lane) Endpoint {
	d.mu.Lock()
	defer d.mu.Unlock()
	return l.endpoint
}

// pause gives a lane's claims back and starts over with small batches; until is when to ask again.
func (d *Dispatcher) pause(l *lane, until time.Time) {
	d.mu.Lock()
	l.batch = d.perEndpoint()
	if until.After(l.pausedUntil) {
		l.pausedUntil = until
	}
	back := l.clear()
	d.mu.Unlock()
	d.giveBack(back)
}

// conclude does what a result means for the endpoint as a whole.
func (d *Dispatcher) conclude(ctx context.Context, l *lane, e Endpoint, r Result, action webhook.Action) {
	switch action {
	case webhook.Delivered:
		d.mu.Lock()
		l.arrived++
		resumed := !l.pausedUntil.IsZero()
		l.pausedUntil, l.endpoint.FailingSince = time.Time{}, time.Time{}
		d.mu.Unlock()
		if resumed {
			d.wake()
		}
	case webhook.Retry:
		if r.State == DeliveryFailed {
			d.log.Error("delivery failed for good", "partner", string(e.Partner), "endpoint", string(e.ID),
				"event", string(r.Delivery.Event), "attempts", r.Attempts)
		}
		if e.Dead(r.Now) {
			d.disable(ctx, e, Failing)
		}
	case webhook.Disable:
		d.disable(ctx, e, Gone)
	case webhook.Release:
	}
}

// errAlive keeps an endpoint enabled that another worker has just reached.
var errAlive = errors.New("the endpoint works again")

// disable switches an endpoint off. If it cannot be written the next attempt comes to the same conclusion.
func (d *Dispatcher) disable(ctx context.Context, e Endpoint, why Reason) {
	_, err := d.queue.UpdateEndpoint(context.WithoutCancel(ctx), e.Partner, e.ID, func(now *Endpoint) error {
		if now.State == Disabled || why == Failing && !now.Dead(d.now()) {
			return errAlive
		}
		now.State, now.Reason = Disabled, why
		return nil
	})
	switch {
	case err == nil:
		d.log.Warn("endpoint disabled", "partner", string(e.Partner), "endpoint", string(e.ID), "reason", string(why))
		d.mu.Lock()
		l := d.lanes[e.ID]
		var back []Delivery
		if l != nil {
			back = l.clear()
		}
		d.mu.Unlock()
		d.giveBack(back)
	case !errors.Is(err, errAlive) && !errors.Is(err, ErrEndpointNotFound):
		d.log.Error("endpoint cannot be disabled", "endpoint", string(e.ID), "cause", err.Error())
	}
}
