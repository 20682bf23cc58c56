package alert

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
)

// lane is what this process does for one endpoint. The dispatcher's lock guards it.
type lane struct {
	endpoint  Endpoint // as of when it was taken
	changedAt time.Time
	ours      bool      // the dispatcher has the endpoint
	takeAt    time.Time // when to ask for it again
	used      bool      // since endpoints were last let go of

	// chains are deliveries that no sender has begun: each is a person's, in order, or a single one about no person.
	chains [][]Delivery
	queued int // deliveries in chains
	active int // senders at work
	// unrecorded bounds what was sent and is not on disk.
	unrecorded chan struct{}
	// held are the deliveries in memory, with their person: queued, under way, or recorded since the last look. persons
	// counts them.
	held    map[int64]string
	persons map[string]int
	// recorded are on disk and forgotten before the next look, never during one: the look may have begun before they
	// were written.
	recorded []Result

	// cursor is how far the pass over the open deliveries has come; 0 when a new one is to begin. pass numbers it, and
	// it began at passAt.
	cursor int64
	pass   int
	passAt time.Time
	// blocked are the persons with an earlier delivery, met in this pass, that has to be sent first.
	blocked map[string]bool
	// skipped means that the pass left something out because its person was in memory.
	skipped bool
	// more means that the pass is not over, seen is the highest number it has met, lookAgain when to begin another
	// without need.
	more      bool
	seen      int64
	lookAgain time.Time

	// batch is how many deliveries are read at once: it grows while a receiver keeps up and starts over when it does
	// not.
	batch int
	// arrived counts deliveries since the last look.
	arrived     int
	pausedUntil time.Time
	// unmarkedAt is when the mark of failing was last taken from the endpoint, if there was one.
	unmarkedAt time.Time
}

const (
	// passTime is when a pass begins anew though it is not over: what is tried again has low numbers.
	passTime = 3 * time.Second
	// maxLook is how far a look goes in one statement at most: a long look is only needed when many deliveries wait for
	// their person's earlier one.
	maxLook = 4096
	// firstBatch is how many deliveries are read for an endpoint of which nothing is known: few for a dead one, and
	// many enough that a hundred live ones are not read in crumbs.
	firstBatch = 64
)

// newEndpointLane returns an empty lane of an endpoint.
func newEndpointLane(ref EndpointRef, opts DispatcherOptions) *lane {
	return &lane{
		changedAt:  ref.ChangedAt,
		unrecorded: make(chan struct{}, Unrecorded(opts.Gate.Concurrent)),
		batch:      opts.firstBatch(),
		held:       map[int64]string{},
		persons:    map[string]int{},
		blocked:    map[string]bool{},
	}
}

// firstBatch returns how many deliveries the first read of a lane asks for.
func (o DispatcherOptions) firstBatch() int { return min(firstBatch, o.MaxBatch) }

// startPass begins a new pass.
func (l *lane) startPass() {
	l.cursor, l.skipped = 0, false
	l.pass++
	clear(l.blocked)
}

// worthALook reports whether there may be due deliveries that are not in memory. A retry has a low number and causes no
// notification, so it is found by a new pass only, and while others are queued it waits until the pass has lasted
// passTime.
func (l *lane) worthALook(newest int64, now time.Time) bool {
	if l.more || newest > l.seen || l.lookAgain.IsZero() {
		return true
	}
	return !now.Before(l.lookAgain) && (l.queued == 0 || now.Sub(l.passAt) >= passTime)
}

// canTakeDelivery reports whether a delivery that a look has met may be taken. It may not while an earlier one of its
// person is in memory, or is waited for. An earlier one that is itself free is no obstacle: it is taken along, and sent
// before it.
func (l *lane) canTakeDelivery(o Open) bool {
	if _, held := l.held[o.Seq]; held {
		return false
	}
	switch {
	case o.Person == "":
		return o.Due
	case l.blocked[o.Person]:
		return false
	case !o.Due:
		l.blocked[o.Person] = true
		return false
	case l.persons[o.Person] > 0: // and what follows on later pages waits for this one
		l.skipped, l.blocked[o.Person] = true, true
		return false
	}
	return true
}

// queueDeliveries queues deliveries, those of one person behind each other.
func (l *lane) queueDeliveries(list []Delivery) {
	chainOf := make(map[string]int, len(list))
	for _, d := range list {
		l.held[d.Seq] = d.Person
		l.persons[d.Person]++
		if i, ok := chainOf[d.Person]; ok && d.Person != "" {
			l.chains[i] = append(l.chains[i], d)
			continue
		}
		chainOf[d.Person] = len(l.chains)
		l.chains = append(l.chains, []Delivery{d})
	}
	l.queued += len(list)
}

// takeChain removes the first chain; nil when there is none.
func (l *lane) takeChain() []Delivery {
	if len(l.chains) == 0 {
		return nil
	}
	chain := l.chains[0]
	l.chains[0] = nil
	l.chains = l.chains[1:]
	l.queued -= len(chain)
	return chain
}

// clearQueued forgets what no sender has begun; the rows say all there is to know, so it is read again.
func (l *lane) clearQueued() {
	for _, chain := range l.chains {
		l.dropDeliveries(chain)
	}
	l.chains, l.queued, l.more = nil, 0, true
	l.startPass()
}

// dropDeliveries removes deliveries from memory; their rows stay.
func (l *lane) dropDeliveries(list []Delivery) {
	for _, d := range list {
		if _, ok := l.held[d.Seq]; !ok {
			continue
		}
		delete(l.held, d.Seq)
		if l.persons[d.Person]--; l.persons[d.Person] == 0 {
			delete(l.persons, d.Person)
		}
	}
}

// forgetSettled drops deliveries whose result is on disk. A person whose delivery waits for a retry stays blocked until
// the pass has met that delivery.
func (l *lane) forgetSettled() {
	for _, r := range l.recorded {
		l.dropDeliveries([]Delivery{r.Delivery})
		if r.State == Pending && r.Ordered {
			l.blocked[r.Delivery.Person] = true
		}
	}
	l.recorded = l.recorded[:0]
}

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

// holdsEndpoint reports whether an attempt for the endpoint may begin.
func (d *Dispatcher) holdsEndpoint(l *lane, now time.Time) bool {
	return l.ours && now.Before(d.heldUntil)
}

// keepHolds makes sure of the holds until ctx ends. It waits for nothing else, so that a slow look costs no hold.
func (d *Dispatcher) keepHolds(ctx context.Context) {
	tick := time.NewTicker(d.opts.Poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := d.now()
		if err := d.holds.ConfirmHeld(ctx); err != nil {
			if ctx.Err() == nil {
				d.log.Error("endpoints cannot be held", "cause", err.Error())
			}
			d.dropLostEndpoints()
			continue
		}
		d.mu.Lock()
		d.heldUntil = asked.Add(d.opts.Hold)
		d.mu.Unlock()
	}
}

// dropLostEndpoints drops what was read for endpoints: others may have them now.
func (d *Dispatcher) dropLostEndpoints() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.losses++
	for _, l := range d.lanes {
		l.ours = false
		l.clearQueued()
	}
}

// holdEndpoints takes endpoints.
func (d *Dispatcher) holdEndpoints(ctx context.Context, refs []EndpointRef) error {
	if len(refs) == 0 {
		return nil
	}
	d.mu.Lock()
	losses := d.losses
	d.mu.Unlock()
	ids := make([]EndpointID, len(refs))
	for i, ref := range refs {
		ids[i] = ref.Endpoint
	}
	asked := d.now()
	taken, err := d.holds.TakeHold(ctx, ids)
	if err != nil {
		d.dropLostEndpoints()
		return err
	}
	refs = slices.DeleteFunc(refs, func(ref EndpointRef) bool { return !slices.Contains(taken, ref.Endpoint) })
	if len(refs) == 0 {
		return nil
	}
	// Read after the claim: the previous holder may have disabled the endpoint.
	endpoints, err := d.queue.EnabledEndpoints(ctx, refs)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.losses != losses { // perhaps these as well
		return nil
	}
	d.heldUntil = asked.Add(d.opts.Hold)
	for _, e := range endpoints {
		l := d.lanes[e.ID]
		l.endpoint, l.ours, l.used = e, true, true
		l.startPass()
	}
	return nil
}

// releaseIdleEndpoints lets go of endpoints that are not in use. What is under way is in use: an endpoint is let go of
// only when all that was sent to it is recorded.
func (d *Dispatcher) releaseIdleEndpoints(ctx context.Context) error {
	now := d.now()
	if now.Before(d.tidyAt) {
		return nil
	}
	d.tidyAt = now.Add(d.opts.Hold / 2)
	var idle []EndpointID
	d.mu.Lock()
	for id, l := range d.lanes {
		switch {
		case len(l.held) > len(l.recorded):
		case l.ours && l.used:
			l.used = false
		default: // also one that was taken and then found disabled
			l.ours = false
			idle = append(idle, id)
		}
	}
	d.mu.Unlock()
	if len(idle) == 0 {
		return nil
	}
	err := d.holds.ReleaseHold(ctx, idle)
	if err != nil {
		d.dropLostEndpoints()
	}
	return err
}
