package alert

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestResultsShareTransactions: a lone result is written at once, a crowd waits a little for the rest of it, and a
// transaction has a bound.
func TestResultsShareTransactions(t *testing.T) {
	for name, c := range map[string]struct {
		now, later int
		want       []int
	}{
		"a lone one":           {1, 1, []int{1, 1}},
		"few":                  {15, 1, []int{15, 1}},
		"a crowd":              {16, 1, []int{17}},
		"more than a crowd":    {100, 20, []int{120}},
		"more than fit in one": {600, 1, []int{512, 89}},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := newFakeQueue(0)
			d, _, _ := standing(q, 4)
			l := newEndpointLane(EndpointRef{}, slots(200))
			report := func(n int) {
				for range n {
					l.unrecorded <- struct{}{}
					d.results <- record{lane: l, result: Result{State: Delivered}}
				}
			}
			report(c.now)
			go d.recordAll(t.Context())
			time.Sleep(2 * time.Millisecond)
			report(c.later)
			time.Sleep(time.Second)
			var groups []int
			q.set(func() { groups = slices.Clone(q.groups) })
			if !slices.Equal(groups, c.want) || len(l.unrecorded) != 0 {
				t.Errorf("%s: %v, want %v; %d not known to be on disk", name, groups, c.want, len(l.unrecorded))
			}
			close(d.results)
		})
	}
}

// slowQueue never finishes a transaction.
type slowQueue struct{ *fakeQueue }

func (slowQueue) RecordResults(ctx context.Context, _ string, _ []Result) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestLastTryToRecord: a stop waits ten seconds for a database that does not answer.
func TestLastTryToRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _, _ := standing(slowQueue{newFakeQueue(0)}, 4)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		before := time.Now()
		if d.writeResults(ctx, make([]record, 1)); time.Since(before) != 10*time.Second {
			t.Errorf("the last try took %s", time.Since(before))
		}
	})
}

// TestWellEndpoints: a success takes the mark of failing from its endpoint once a second, and whenever there is one.
func TestWellEndpoints(t *testing.T) {
	d, now, _ := standing(newFakeQueue(0), 4)
	l := heldLane(d, "e")
	write := func(states ...DeliveryState) (well []bool) {
		var group []record
		for _, state := range states {
			group = append(group, record{lane: l, result: Result{State: state, Attempts: 1, Now: *now}})
		}
		for _, r := range d.collectResults(group) {
			well = append(well, r.Well)
		}
		d.markSettled(group)
		return well
	}
	for i, c := range []struct {
		later  time.Duration
		states []DeliveryState
		want   []bool
	}{
		{0, []DeliveryState{Delivered, Delivered}, []bool{false, true}},
		{time.Second - 1, []DeliveryState{Delivered}, []bool{true}},
		{1, []DeliveryState{Delivered}, []bool{false}},
		{0, []DeliveryState{Delivered, Pending}, []bool{true, false}},
		{0, []DeliveryState{Delivered}, []bool{false}},
		{0, []DeliveryState{Delivered}, []bool{true}},
		{-time.Hour, []DeliveryState{Delivered}, []bool{false}}, // the clock was set back
	} {
		*now = now.Add(c.later)
		if got := write(c.states...); !slices.Equal(got, c.want) {
			t.Errorf("%d: %v after %s: known to be well %v, want %v", i, c.states, c.later, got, c.want)
		}
	}
}
