package alert

import (
	"context"
	"time"
)

// record is a result on its way to disk.
type record struct {
	result Result
	// done is closed when the result is on disk, or cannot be brought there any more; nil when nobody waits.
	done chan struct{}
}

// maxGroup bounds how many results share a transaction.
const maxGroup = 512

// record returns when the result is on disk.
func (d *Dispatcher) record(r Result) {
	done := make(chan struct{})
	d.results <- record{r, done}
	<-done
}

// giveBack sends claims back without waiting: if it comes to nothing the claims run out by themselves.
func (d *Dispatcher) giveBack(list []Delivery) {
	now := d.now()
	for _, item := range list {
		d.results <- record{result: giveBack(item, now)}
	}
}

// recordAll writes results as they come. All that arrive during one transaction share the next, so that many senders pay for one
// sync of the disk, and a lone result waits for nobody.
func (d *Dispatcher) recordAll(ctx context.Context) {
	group := make([]record, 0, maxGroup)
	for first := range d.results {
		group = append(group[:0], first)
	drain:
		for len(group) < maxGroup {
			select {
			case r, ok := <-d.results:
				if !ok {
					break drain
				}
				group = append(group, r)
			default:
				break drain
			}
		}
		d.write(ctx, group)
		for _, r := range group {
			if r.done != nil {
				close(r.done)
			}
		}
	}
}

// writeTime bounds one try to record; the last one is made after the dispatcher was told to stop.
const writeTime = 10 * time.Second

// write tries until the results are on disk. Their senders wait, so a database that is away stops the sending. After the end
// of ctx there is one last try: what is lost then is only the knowledge of an attempt, and it is repeated.
func (d *Dispatcher) write(ctx context.Context, group []record) {
	results := make([]Result, len(group))
	for i, r := range group {
		results[i] = r.result
	}
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
