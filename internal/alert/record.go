package alert

import (
	"context"
	"time"
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

const (
	crowd  = 16
	gather = 3 * time.Millisecond
)

// drainResults adds the results that are there.
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

// writeResults tries until the results are on disk. Their senders wait, so a database that is away stops the sending. After
// the end of ctx there is one last try: what is lost then is only the knowledge of an attempt, and it is repeated.
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
