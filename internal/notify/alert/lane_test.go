package alert

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
)

// standing makes a dispatcher that is not run, with the clock and the log in the test's hands.
func standing(q Queue, slots int) (d *Dispatcher, now *time.Time, log *bytes.Buffer) {
	at := noon
	now, log = &at, &bytes.Buffer{}
	d = NewDispatcher(
		q,
		&http.Client{Transport: answer(http.StatusOK)},
		func() time.Time { return *now },
		slog.New(slog.NewTextHandler(log, nil)),
		DispatcherOptions{
			NextTry: plainSchedule, Gate: webhook.GateRule{Concurrent: slots, Breaker: slowBreaker},
		},
	)
	return d, now, log
}

// slots are options with that many for an endpoint.
func slots(n int) DispatcherOptions {
	return DispatcherOptions{Gate: webhook.GateRule{Concurrent: n}}.withDefaults()
}

// heldLane is a lane of a dispatcher whose hold lasts a day, with batches as small as its slots are few.
func heldLane(d *Dispatcher, id EndpointID) *lane {
	l := newEndpointLane(EndpointRef{Partner: "p", Endpoint: id}, d.opts)
	l.batch = d.opts.Gate.Concurrent
	l.ours, d.heldUntil = true, d.now().Add(24*time.Hour)
	d.lanes[id] = l
	return l
}

func woken(d *Dispatcher) bool {
	select {
	case <-d.more:
		return true
	default:
		return false
	}
}

// TestWorkersHaveNames: two dispatchers are never taken for one, and a name that was given is kept.
func TestWorkersHaveNames(t *testing.T) {
	one, two := DispatcherOptions{}.withDefaults().Worker, DispatcherOptions{}.withDefaults().Worker
	if one == "" || one == two || (DispatcherOptions{Worker: "w"}).withDefaults().Worker != "w" {
		t.Errorf("%q and %q", one, two)
	}
}

// TestLaneCountsPersons: a person is in memory until the last of their deliveries is forgotten.
func TestLaneCountsPersons(t *testing.T) {
	l := newEndpointLane(EndpointRef{}, slots(4))
	l.queueDeliveries([]Delivery{{Seq: 1, Person: "a"}, {Seq: 2, Person: "a"}})
	next := func() bool {
		l.startPass()
		return l.canTakeDelivery(Open{Delivery: Delivery{Seq: 3, Person: "a"}, Due: true})
	}
	l.dropDeliveries([]Delivery{{Seq: 1, Person: "a"}})
	if next() {
		t.Error("a later delivery passes one that is in memory")
	}
	l.dropDeliveries([]Delivery{{Seq: 2, Person: "a"}, {Seq: 2, Person: "a"}})
	if !next() || len(l.persons) != 0 {
		t.Errorf("%v is remembered of persons of whom nothing is in memory", l.persons)
	}
}

// TestForgetBlocks: of what is on disk only what waits for its next try in order is waited for.
func TestForgetBlocks(t *testing.T) {
	for _, c := range []struct {
		r    Result
		free bool
	}{
		{Result{State: Pending, Ordered: true}, false},
		{Result{State: Pending}, true},
		{Result{State: Delivered, Ordered: true}, true},
		{Result{State: DeliveryFailed, Ordered: true}, true},
	} {
		l := newEndpointLane(EndpointRef{}, slots(4))
		c.r.Delivery = Delivery{Seq: 1, Person: "a"}
		l.queueDeliveries([]Delivery{c.r.Delivery})
		l.recorded = []Result{c.r}
		l.forgetSettled()
		if got := l.canTakeDelivery(Open{Delivery: Delivery{Seq: 2, Person: "a"}, Due: true}); got != c.free {
			t.Errorf("after %s, ordered %t: free %t", c.r.State, c.r.Ordered, got)
		}
	}
}

// TestWorthALook: the database is asked when it may know more than the lane does.
func TestWorthALook(t *testing.T) {
	for name, c := range map[string]struct {
		more   bool
		newest int64
		now    time.Time
		queued int
		want   bool
	}{
		"nothing new":                     {false, 5, noon, 0, false},
		"a new one":                       {false, 6, noon, 1, true},
		"the pass goes on":                {true, 5, noon, 1, true},
		"it was a while ago":              {false, 5, noon.Add(time.Second), 0, true},
		"it was not so long":              {false, 5, noon.Add(time.Second - 1), 0, false},
		"older than was seen":             {false, 4, noon, 0, false},
		"a while ago, and work is queued": {false, 5, noon.Add(passTime - 1), 1, false},
		"a pass ago, and work is queued":  {false, 5, noon.Add(passTime), 1, true},
	} {
		l := lane{more: c.more, seen: 5, lookAgain: noon.Add(time.Second), passAt: noon, queued: c.queued}
		if got := l.worthALook(c.newest, c.now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if l := (lane{seen: 5, queued: 1}); !l.worthALook(5, noon) {
		t.Error("what was left out because of its person is not looked for")
	}
}

// TestFullLaneIsNotHungry: deliveries are read when a lane has fewer than a batch of them.
func TestFullLaneIsNotHungry(t *testing.T) {
	d, _, _ := standing(newFakeQueue(0), 2)
	l := heldLane(d, "e")
	due := []EndpointRef{{Partner: "p", Endpoint: "e", Newest: 9}}
	l.queueDeliveries([]Delivery{{Seq: 1}})
	if hungry, _ := d.findHungryLanes(due); len(hungry) != 1 {
		t.Error("a lane with one of two is not fed")
	}
	l.queueDeliveries([]Delivery{{Seq: 2}})
	if hungry, _ := d.findHungryLanes(due); len(hungry) != 0 {
		t.Error("a full lane is fed")
	}
}

// TestIdleLanesAreForgotten: of endpoints that nothing is due for a few are remembered, and those in use.
func TestIdleLanesAreForgotten(t *testing.T) {
	d, _, _ := standing(newFakeQueue(0), 2)
	for i := range 300 {
		d.lanes[EndpointID(fmt.Sprint(i))] = newEndpointLane(EndpointRef{}, slots(2))
	}
	busy := d.lanes["7"]
	busy.queueDeliveries([]Delivery{{Seq: 1}})
	busy.takeChain() // under way
	for range 3 {
		d.findHungryLanes([]EndpointRef{{Endpoint: "e"}})
	}
	if len(d.lanes) != 66 || d.lanes["7"] != busy || d.lanes["e"] == nil {
		t.Errorf(
			"%d lanes are left, want 64 beside twice those that are due; the busy one: %t",
			len(d.lanes),
			d.lanes["7"] == busy,
		)
	}
}

// TestPassGoesOn: a look goes on where the last one ended, and begins anew after three seconds, for what is tried
// again.
func TestPassGoesOn(t *testing.T) {
	q := newFakeQueue(30)
	d, now, _ := standing(q, 4)
	l := heldLane(d, "e")
	feed := func(later time.Duration) {
		t.Helper()
		*now = now.Add(later)
		if err := d.readDueDeliveries(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	feed(0)
	if !l.more || l.cursor != 4 || l.queued != 4 {
		t.Errorf("%d queued, more %t, cursor %d", l.queued, l.more, l.cursor)
	}
	feed(time.Second)
	feed(2*time.Second - 1)
	feed(1)
	feed(0)
	var after []int64
	for _, a := range q.asked {
		after = append(after, a.after)
	}
	// The pass that began anew goes over the twelve that are in memory, twice as far each time.
	if want := []int64{0, 4, 8, 0, 4, 12, 16}; !slices.Equal(after, want) {
		t.Errorf("looks began after %v, want %v", after, want)
	}
}

// TestNextPassSeesWhoIsFree: when a pass has seen everything the next look is a new pass, at once.
func TestNextPassSeesWhoIsFree(t *testing.T) {
	q := newFakeQueue(2)
	q.rows[0].Person, q.rows[1].Person = "a", "a"
	d, _, _ := standing(q, 4)
	l := heldLane(d, "e")
	l.queueDeliveries(q.rows[:1])
	first := l.takeChain()
	if err := d.readDueDeliveries(t.Context(), l); err != nil || l.queued != 0 || l.more || !l.skipped {
		t.Fatalf("%d queued, more %t, skipped %t: %v", l.queued, l.more, l.skipped, err)
	}
	delete(q.nextAt, 1)
	d.markSettled([]record{{result: Result{Delivery: first[0], State: Delivered}, lane: l}})
	if !woken(d) || !l.lookAgain.IsZero() {
		t.Error("nobody looks for what was left out")
	}
	l.forgetSettled()
	if err := d.readDueDeliveries(t.Context(), l); err != nil || l.queued != 1 {
		t.Errorf("%d queued: %v", l.queued, err)
	}
}

// TestLookGoesFurther: behind many that wait for their person's earlier one the look goes on, twice as far each time.
func TestLookGoesFurther(t *testing.T) {
	q := newFakeQueue(4 + 8 + 1)
	for i := range q.rows[:4+8] {
		q.rows[i].Person, q.rows[i].Ordered = "a", true
	}
	q.nextAt[1] = time.Now().Add(time.Hour) // waits for its next try
	q.looking = func() error {
		if len(q.asked) > 10 {
			return errAway
		}
		return nil
	}
	d, _, _ := standing(q, 4)
	l := heldLane(d, "e")
	if err := d.readDueDeliveries(t.Context(), l); err != nil || l.queued != 1 || l.more {
		t.Errorf("%d queued, more %t: %v", l.queued, l.more, err)
	}
	if want := []look{{0, 4}, {4, 8}, {12, 16}}; !slices.Equal(q.asked, want) {
		t.Errorf("%v, want %v", q.asked, want)
	}
}

// TestBatchGrows: a receiver that keeps up gets larger batches, up to a bound; one that does not keeps what it has.
func TestBatchGrows(t *testing.T) {
	for name, c := range map[string]struct{ batch, arrived, rows, want int }{
		"half arrived":            {8, 4, 100, 16},
		"less than half arrived":  {8, 3, 100, 8},
		"nothing more is waiting": {8, 8, 7, 8},
		"as large as it gets":     {400, 400, 1000, 512},
	} {
		q := newFakeQueue(c.rows)
		d, _, _ := standing(q, 4)
		l := heldLane(d, "e")
		l.batch, l.arrived = c.batch, c.arrived
		if err := d.readDueDeliveries(t.Context(), l); err != nil || l.batch != c.want || l.arrived != 0 {
			t.Errorf("%s: a batch of %d, want %d: %v", name, l.batch, c.want, err)
		}
	}
}

// TestSendersAreBounded: as many senders as the endpoint has slots and the process has senders, and none when all is
// sent.
func TestSendersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, now, _ := standing(newFakeQueue(0), 2)
		*now = time.Now()
		d.opts.MaxSenders = 3
		secret, err := webhook.NewSecret(strings.NewReader(strings.Repeat("k", 32)))
		if err != nil {
			t.Fatal(err)
		}
		var under sync.WaitGroup
		under.Add(1)
		d.client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			under.Wait()
			return answer(http.StatusOK)(r)
		})}
		one, two := heldLane(d, "1"), heldLane(d, "2")
		for i, l := range []*lane{one, two} {
			l.endpoint = Endpoint{URL: "https://partner.example/", Keys: webhook.Keyring{{Key: secret}}}
			for n := range 5 {
				l.queueDeliveries(
					[]Delivery{
						{Endpoint: EndpointID(fmt.Sprint(i + 1)), Seq: int64(n), Event: "evt_1", Body: []byte("{}")},
					},
				)
			}
		}
		go d.recordAll(t.Context())
		d.startIdleSenders(t.Context())
		synctest.Wait()
		if one.active > 2 || two.active > 2 || one.active+two.active != 3 || d.sending != 3 {
			t.Errorf("%d and %d senders, %d in all", one.active, two.active, d.sending)
		}
		under.Done()
		d.senders.Wait()
		d.startIdleSenders(t.Context()) // the lane that found only one sender
		d.senders.Wait()
		close(d.results)
		if one.active != 0 || two.active != 0 || d.sending != 0 || one.queued+two.queued != 0 {
			t.Errorf("%d and %d senders, %d in all, when all is sent", one.active, two.active, d.sending)
		}
	})
}

// TestLowLaneAsksForMore: a sender that leaves less than a batch behind asks for a look if there is more.
func TestLowLaneAsksForMore(t *testing.T) {
	for _, c := range []struct {
		more       bool
		left       int
		wantsALook bool
	}{{true, 1, true}, {true, 2, false}, {false, 1, false}} {
		d, _, _ := standing(newFakeQueue(0), 2)
		l := heldLane(d, "e")
		for n := range c.left + 1 {
			l.queueDeliveries([]Delivery{{Seq: int64(n)}})
		}
		l.more = c.more
		if d.nextChain(l); woken(d) != c.wantsALook {
			t.Errorf("more %t, %d left: asked %t", c.more, l.queued, !c.wantsALook)
		}
		l.skipped = true
		if d.markSettled([]record{{lane: l}}); woken(d) != (c.left < 2) {
			t.Errorf("%d left: what was left out is asked for: %t", l.queued, c.left >= 2)
		}
	}
}

// TestPersonsOrder: the next alert about a person waits until the one before has arrived, and then follows.
func TestPersonsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(3)
		for i := range q.rows {
			q.rows[i].Person, q.rows[i].Ordered, q.rows[i].Event = "a", true, EventID(fmt.Sprint(i+1))
		}
		var mu sync.Mutex
		var sent []string
		sentSoFar := func() string {
			mu.Lock()
			defer mu.Unlock()
			return fmt.Sprint(sent)
		}
		stop := dispatch(q, func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, r.Header.Get("webhook-id"))
			if len(sent) == 1 {
				return answer(http.StatusInternalServerError)(r)
			}
			return answer(http.StatusOK)(r)
		}, 4)
		time.Sleep(4 * time.Second)
		if got := sentSoFar(); got != "[1]" {
			t.Errorf("%v were sent while the first waits for its next try", got)
		}
		time.Sleep(1500 * time.Millisecond)
		looks := 0
		q.set(func() { looks = len(q.asked) })
		if got := sentSoFar(); got != "[1 1 2 3]" || looks > 30 {
			t.Errorf("%v were sent with %d looks", got, looks)
		}
		stop()
	})
}

// TestFailingSince: an endpoint has been failing since its first counted failure, until something arrives.
func TestFailingSince(t *testing.T) {
	d, _, _ := standing(newFakeQueue(0), 2)
	l := heldLane(d, "e")
	settle := func(state DeliveryState, attempts int, at time.Time) {
		d.markSettled(
			[]record{
				{result: Result{State: state, Attempts: attempts, Delivery: Delivery{Attempts: 1}, Now: at}, lane: l},
			},
		)
	}
	if settle(Pending, 1, noon); !l.endpoint.FailingSince.IsZero() {
		t.Error("an attempt that our own stop cut counts as a failure")
	}
	settle(Pending, 2, noon.Add(time.Hour))
	settle(DeliveryFailed, 2, noon.Add(2*time.Hour))
	if since := l.endpoint.FailingSince; !since.Equal(noon.Add(time.Hour)) || l.arrived != 0 {
		t.Errorf("failing since %s, %d arrived", since, l.arrived)
	}
	l.pausedUntil = noon.Add(time.Hour)
	if settle(
		Delivered,
		2,
		noon,
	); !l.endpoint.FailingSince.IsZero() || l.arrived != 1 || !l.pausedUntil.IsZero() ||
		!woken(d) {
		t.Errorf("failing since %s, %d arrived, paused until %s", l.endpoint.FailingSince, l.arrived, l.pausedUntil)
	}
}

// TestConclude: what an attempt means for the endpoint: the receiver that wants no more and the one that is dead are
// switched off, unless another worker has just reached it.
func TestConclude(t *testing.T) {
	dead := Endpoint{ID: "e", State: Enabled, FailingSince: noon.AddDate(0, 0, -5)}
	for name, c := range map[string]struct {
		row    Endpoint
		state  DeliveryState
		action webhook.Action
		want   string
		logged string
	}{
		"gone":                            {Endpoint{State: Enabled}, Pending, webhook.Disable, "disabled gone", "endpoint disabled"},
		"dead":                            {dead, Pending, webhook.Retry, "disabled failing", "endpoint disabled"},
		"dead, but reached by another":    {Endpoint{State: Enabled}, Pending, webhook.Retry, "enabled ", ""},
		"dead, but switched off by hand":  {Endpoint{State: Disabled, Reason: ByOperator}, Pending, webhook.Retry, "disabled operator", ""},
		"gone, but switched off by hand":  {Endpoint{State: Disabled, Reason: ByOperator}, Pending, webhook.Disable, "disabled operator", ""},
		"all tries used up, and not dead": {Endpoint{State: Enabled}, DeliveryFailed, webhook.Retry, "enabled ", "delivery failed for good"},
		"arrived":                         {dead, Delivered, webhook.Delivered, "enabled ", ""},
		"cut by our own stop":             {dead, Pending, webhook.Release, "enabled ", ""},
	} {
		q := newFakeQueue(0)
		q.endpoint = c.row
		d, _, log := standing(q, 2)
		l := heldLane(d, "e")
		l.queueDeliveries([]Delivery{{Seq: 1}})
		e := dead
		if c.state == DeliveryFailed {
			e.FailingSince = noon
		}
		d.applyAction(t.Context(), e, Result{State: c.state, Now: noon}, c.action)
		if got := fmt.Sprintf("%s %s", q.endpoint.State, q.endpoint.Reason); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if text := log.String(); !strings.Contains(text, c.logged) || c.logged == "" && text != "" {
			t.Errorf("%s: logged %q, want %q", name, text, c.logged)
		}
		if cleared := l.queued == 0; cleared != (c.logged == "endpoint disabled") {
			t.Errorf("%s: what was read for the endpoint is forgotten: %t", name, cleared)
		}
	}
}

// TestTroubleIsLogged: an operator sees that deliveries cannot be read; a stop is no trouble.
func TestTroubleIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(3)
		d, _, log := standing(q, 2)
		d.now = time.Now
		ctx, stop := context.WithCancel(t.Context())
		q.looking = func() error {
			stop()
			return ctx.Err()
		}
		if d.Run(ctx); log.Len() != 0 {
			t.Errorf("a stop was logged: %s", log)
		}
		d, _, log = standing(q, 2)
		d.now = time.Now
		ctx, stop = context.WithCancel(t.Context())
		q.looking = func() error { return errAway }
		time.AfterFunc(time.Second, stop)
		if d.Run(ctx); !strings.Contains(log.String(), errAway.Error()) {
			t.Errorf("that deliveries cannot be read was not logged: %s", log)
		}
	})
}
