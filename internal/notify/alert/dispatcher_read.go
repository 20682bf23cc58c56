package alert

import (
	"context"
	"time"
)

// dispatchRound takes endpoints with due deliveries, reads what their lanes can take and sets senders to work. Which
// endpoints have work is asked anew only if told to: a lane that runs low knows that there is more.
func (d *Dispatcher) dispatchRound(ctx, sendCtx context.Context, anew bool) error {
	defer d.startIdleSenders(sendCtx)
	if err := d.releaseIdleEndpoints(ctx); err != nil {
		return err
	}
	if anew {
		due, err := d.queue.DueEndpoints(ctx)
		if err != nil {
			return err
		}
		d.due = due
	}
	hungry, take := d.findHungryLanes(d.due)
	if err := d.holdEndpoints(ctx, take); err != nil {
		return err
	}
	for _, l := range hungry {
		if err := d.readDueDeliveries(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// findHungryLanes returns the lanes that run low and are not paused, and which endpoints have to be taken for that.
func (d *Dispatcher) findHungryLanes(due []EndpointRef) (hungry []*lane, take []EndpointRef) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	isDue := make(map[EndpointID]bool, len(due))
	for _, ref := range due {
		isDue[ref.Endpoint] = true
		l := d.lanes[ref.Endpoint]
		if l == nil {
			l = newEndpointLane(ref, d.opts)
			d.lanes[ref.Endpoint] = l
		}
		if !l.changedAt.Equal(ref.ChangedAt) { // enabled again, or new keys: forget old grudges, and read it anew
			l.changedAt, l.pausedUntil, l.ours, l.takeAt = ref.ChangedAt, time.Time{}, false, time.Time{}
			l.clearQueued()
			d.gates.ForgetEndpoint(ref.Endpoint)
		}
		l.forgetSettled()
		if l.queued >= l.batch || now.Before(l.pausedUntil) || !l.worthALook(ref.Newest, now) {
			continue
		}
		if !l.ours {
			if now.Before(l.takeAt) { // another has it, or had it a moment ago
				continue
			}
			l.takeAt = now.Add(d.opts.Poll)
			take = append(take, ref)
		}
		hungry = append(hungry, l)
	}
	for id, l := range d.lanes {
		if isDue[id] {
			continue
		}
		// What is queued would be due: the endpoint was disabled or deleted.
		l.clearQueued()
		if l.forgetSettled(); len(l.held) == 0 && !l.ours && !now.Before(l.pausedUntil) &&
			len(d.lanes) > 2*len(due)+64 {
			delete(d.lanes, id) // so that deleted endpoints leave no trace
			d.gates.ForgetEndpoint(id)
		}
	}
	return hungry, take
}

// readDueDeliveries reads deliveries into a lane that this process holds.
func (d *Dispatcher) readDueDeliveries(ctx context.Context, l *lane) error {
	d.mu.Lock()
	now := d.now()
	if !d.holdsEndpoint(l, now) {
		d.mu.Unlock()
		return nil
	}
	l.used = true
	if l.cursor == 0 || now.Sub(l.passAt) >= passTime || now.Before(l.passAt) {
		l.startPass()
		l.passAt = now
	}
	e, after, limit, pass := l.endpoint, l.cursor, l.batch, l.pass
	d.mu.Unlock()

	var free []Delivery
	ended := false
	for page := limit; len(free) < limit && !ended; page = min(2*page, maxLook) {
		rows, err := d.queue.OpenDeliveries(ctx, e.Partner, e.ID, after, page)
		if err != nil {
			return err
		}
		d.mu.Lock()
		stale := l.pass != pass
		for _, row := range rows {
			if stale || len(free) == limit {
				break
			}
			if after = row.Seq; l.canTakeDelivery(row) {
				free = append(free, row.Delivery)
			}
		}
		d.mu.Unlock()
		if stale { // the lane was emptied meanwhile: the order of deliveries has to be read again
			return nil
		}
		ended = len(rows) < page && len(free) < limit
	}
	read, err := d.queue.WithBodies(ctx, e.Partner, free)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopping || l.pass != pass {
		return nil
	}
	l.seen = max(l.seen, after)
	if l.cursor, l.more = after, !ended; ended {
		l.cursor = 0
		l.lookAgain = now.Add(d.opts.Poll)
	}
	if len(free) >= limit && l.arrived >= limit/2 { // there is more, and the receiver keeps up
		l.batch = min(2*limit, d.opts.MaxBatch)
	}
	l.arrived = 0
	l.queueDeliveries(read)
	return nil
}

// startIdleSenders sets idle slots to work, also those of lanes that found no sender free before.
func (d *Dispatcher) startIdleSenders(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.lanes {
		for l.active < d.opts.Gate.Concurrent && len(l.chains) > 0 && d.sending < d.opts.MaxSenders {
			l.active++
			d.sending++
			chain := l.takeChain()
			d.senders.Go(func() { d.sendChains(ctx, l, chain) })
		}
	}
}

// stopSenders forgets everything that was not begun and keeps senders from beginning more.
func (d *Dispatcher) stopSenders() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopping = true
	for _, l := range d.lanes {
		l.clearQueued()
	}
}

// requestRound asks for another round.
func (d *Dispatcher) requestRound() {
	select {
	case d.more <- struct{}{}:
	default:
	}
}
