package alert

import (
	"context"
	"slices"
	"time"
)

// Holds are the endpoints that one dispatcher has. They end with it: those of a process that was killed are free at
// once. After an error of any of its methods nothing is held any more.
type Holds interface {
	// TakeHold claims endpoints and returns those it holds now; no other dispatcher holds them.
	TakeHold(ctx context.Context, endpoints []EndpointID) ([]EndpointID, error)
	// ReleaseHold lets go of endpoints.
	ReleaseHold(ctx context.Context, endpoints []EndpointID) error
	// ConfirmHeld makes sure that what was taken is still held.
	ConfirmHeld(ctx context.Context) error
	// Close lets go of everything.
	Close() error
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
