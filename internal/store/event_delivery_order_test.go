package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

func userOf(t *testing.T, e client.WebhookEvent) string {
	t.Helper()
	raw, err := json.Marshal(e.Body)
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		Data struct {
			User string `json:"userHash"`
		} `json:"data"`
	}
	mustJSON(t, raw, &body)
	return body.Data.User
}

// TestOrderPerPerson: a receiver that fails every event's first try still gets each person's events in order, while
// several dispatchers share the work.
func TestOrderPerPerson(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		r := newReceiver(t, func(_ client.WebhookEvent, try int) int {
			if try == 1 {
				return http.StatusInternalServerError
			}
			return http.StatusNoContent
		})
		m.endpoint(t, r)
		const persons, each = 7, 12
		want := map[string][]string{}
		var batch []alert.Event
		for i := range persons * each {
			user := fmt.Sprintf("pessoa-%d", i%persons)
			e := alert.NewEvent(m.partner, alert.LeakDetected, partner.UserHash(user), m.clock.Now(), struct{}{})
			want[user] = append(want[user], string(e.ID))
			batch = append(batch, e)
		}
		// Half at once, so that runs of one person are claimed together; half one by one, while others are under way.
		if err := m.Alerts.AddEvents(context.Background(), m.partner, batch[:len(batch)/2]...); err != nil {
			t.Fatal(err)
		}
		opts := testOptions
		opts.Gate.Breaker.Failures = 1000
		for range 3 {
			m.run(t, opts)
		}
		for _, e := range batch[len(batch)/2:] {
			if err := m.Alerts.AddEvents(context.Background(), m.partner, e); err != nil {
				t.Fatal(err)
			}
		}
		wait(t, "all events", func() bool { return len(r.received()) >= len(batch) })
		got := map[string][]string{}
		for _, e := range r.received() {
			got[userOf(t, e)] = append(got[userOf(t, e)], e.ID)
		}
		for user, ids := range want {
			if fmt.Sprint(got[user]) != fmt.Sprint(ids) {
				t.Errorf("%s got\n%v\nin order\n%v", user, got[user], ids)
			}
		}
	})
}

// TestStubbornEventIsPassed: one event that always fails holds up its person's next one for two tries, and nobody else.
func TestStubbornEventIsPassed(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		var stubborn sync.Map
		var atFollower int
		arrived := make(chan struct{})
		arrive := sync.OnceFunc(func() { close(arrived) })
		r := newReceiver(t, func(e client.WebhookEvent, try int) int {
			if _, ok := stubborn.Load(e.ID); !ok {
				arrive()
				return http.StatusNoContent
			}
			if try == 2 { // after it the follower's turn comes: the other person's event has to be there before
				select {
				case <-arrived:
				case <-time.After(time.Minute): // the test fails below
				}
			}
			return http.StatusServiceUnavailable
		})
		m.endpoint(t, r)
		bad := m.publish(t, alert.LeakDetected, "ana")
		stubborn.Store(string(bad.ID), true)
		next, other := m.publish(t, alert.StatusChanged, "ana"), m.publish(t, alert.StatusChanged, "bia")
		opts := testOptions
		opts.NextTry = func(attempts int, now time.Time, _ time.Duration) (time.Time, bool) {
			if attempts < 2 {
				return now.Add(200 * time.Millisecond), true
			}
			return now.Add(time.Hour), true
		}
		m.run(t, opts)
		wait(t, "the two that can arrive", func() bool { return len(r.received()) == 2 })
		r.mu.Lock()
		atFollower = r.tries[string(bad.ID)]
		r.mu.Unlock()
		got := r.received()
		if got[0].ID != string(other.ID) || got[1].ID != string(next.ID) || atFollower != 2 {
			t.Errorf("got %s then %s after %d tries of the first", got[0].ID, got[1].ID, atFollower)
		}
	})
}

// TestRetryAfterPassesTheTurn: a wait asked for by the receiver that is longer than the order rule allows lets the next
// one go.
func TestRetryAfterPassesTheTurn(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		r := newReceiver(t, nil)
		m.endpoint(t, r)
		first := m.publish(t, alert.LeakDetected, "ana")
		second := m.publish(t, alert.LeakDetected, "ana")
		r.answer = func(e client.WebhookEvent, _ int) int {
			if e.ID == string(first.ID) {
				return http.StatusTooManyRequests
			}
			return http.StatusNoContent
		}
		opts := testOptions
		opts.NextTry = func(_ int, now time.Time, _ time.Duration) (time.Time, bool) {
			return now.Add(2 * time.Hour), true
		}
		m.run(t, opts)
		wait(t, "the second event", func() bool { return len(r.received()) == 1 })
		if r.received()[0].ID != string(second.ID) {
			t.Error("another event came")
		}
	})
}

// TestReplayedDeliveriesKeepOrder: a person's deliveries that ran out of tries, and so were passed, are in the person's
// order again when they are sent again, whichever way that was asked for; those about nobody never wait for another.
func TestReplayedDeliveriesKeepOrder(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		start := m.clock.Now()
		e := m.endpoint(t, newReceiver(t, nil))
		first := m.publish(t, alert.LeakDetected, "ana")
		m.publish(t, alert.StatusChanged, "ana")
		m.publish(t, alert.FirstLooksChanged, "")
		for name, asked := range map[string]struct {
			selection alert.Selection
			want      []bool
		}{
			"what failed":         {alert.Selection{Failed: true}, []bool{true, true, false}},
			"what failed, of one": {alert.Selection{Failed: true, Endpoint: e.ID}, []bool{true, true, false}},
			"a window":            {alert.Selection{From: start, To: start.Add(time.Hour)}, []bool{true, true, false}},
			"an event":            {alert.Selection{Event: first.ID}, []bool{true}},
			"a window of one":     {alert.Selection{From: start, Endpoint: e.ID}, []bool{true, true, false}},
		} {
			for _, statement := range []string{
				`UPDATE delivery SET state = 'failed', ordered = FALSE, attempts = 9, finished_at = 1`,
				`DELETE FROM delivery`,
			} {
				if asked.selection.Failed && strings.HasPrefix(statement, "DELETE") {
					continue // nothing failed
				}
				m.exec(t, statement)
				n, err := m.Alerts.RequeueDeliveries(ctx, m.partner, asked.selection)
				if err != nil {
					t.Fatal(name, err)
				}
				open, err := m.Alerts.OpenDeliveries(ctx, m.partner, e.ID, 0, 10)
				if err != nil {
					t.Fatal(name, err)
				}
				var ordered []bool
				for _, o := range open {
					ordered = append(ordered, o.Ordered)
				}
				if n != int64(len(asked.want)) || !slices.Equal(ordered, asked.want) {
					t.Errorf("%s, %q: %d deliveries, ordered %v, want %v", name, statement, n, ordered, asked.want)
				}
			}
			m.exec(t, `DELETE FROM delivery`)
			if _, err := m.Alerts.RequeueDeliveries(ctx, m.partner, alert.Selection{From: start}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestEndpointsAreHeldByOne: of many workers that take an endpoint at once one gets it; it keeps it until it lets go,
// and whoever asks then has it.
func TestEndpointsAreHeldByOne(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		ids := []alert.EndpointID{"we_1", "we_2", "we_3", "we_4", "we_5"}
		holder := map[alert.EndpointID]int{}
		workers := make([]alert.Holds, 8)
		var mu sync.Mutex
		var wg sync.WaitGroup
		for w := range workers {
			workers[w] = m.Alerts.NewHolds()
			t.Cleanup(func() { _ = workers[w].Close() }) // most are closed already
			wg.Go(func() {
				taken, err := workers[w].TakeHold(ctx, ids)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, id := range taken {
					if by, ok := holder[id]; ok {
						t.Errorf("%s was taken by %d and %d", id, by, w)
					}
					holder[id] = w
				}
			})
		}
		wg.Wait()
		if len(holder) != len(ids) {
			t.Fatalf("%d of %d endpoints were taken", len(holder), len(ids))
		}
		late := m.Alerts.NewHolds()
		has := func(want int) {
			t.Helper()
			if taken, err := late.TakeHold(ctx, ids); err != nil || len(taken) != want {
				t.Errorf("the late one has %v instead of %d: %v", taken, want, err)
			}
		}
		has(0)
		for w, holds := range workers { // all stand, again and again
			if again, err := holds.TakeHold(ctx, ids); err != nil || holds.ConfirmHeld(ctx) != nil {
				t.Errorf("%d lost %v: %v", w, again, err)
			}
		}
		has(0)
		for w, holds := range workers {
			var mine []alert.EndpointID
			for _, id := range ids {
				if holder[id] == w {
					mine = append(mine, id)
				}
			}
			var err error
			if w%2 == 0 { // lets go
				err = holds.ReleaseHold(ctx, mine)
			} else { // ends
				err = holds.Close()
			}
			if err != nil {
				t.Error(err)
			}
		}
		has(len(ids))
		if err := late.Close(); err != nil {
			t.Error(err)
		}
		if taken, err := workers[0].TakeHold(ctx, ids); err != nil || len(taken) != len(ids) {
			t.Errorf("%v were taken after the last holder was gone: %v", taken, err)
		}
	})
}

// TestLateResults: of two workers that both tried a delivery, because one of them lost its hold, one failure counts,
// and a success stays one whoever tells it.
func TestLateResults(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		e := m.endpoint(t, newReceiver(t, nil))
		m.publish(t, alert.LeakDetected, "ana")
		d := claim(t, m.Store, m.partner, e.ID, 1)[0]
		for i, worker := range []string{"new", "old"} {
			failed := alert.Result{
				Delivery: d,
				At:       m.clock.Now(),
				Outcome:  &webhook.Outcome{Status: 500 + i},
				State:    alert.Pending,
				Attempts: 1,
				NextAt:   m.clock.Now(),
				Now:      m.clock.Now(),
			}
			if err := m.Alerts.RecordResults(ctx, worker, []alert.Result{failed}); err != nil {
				t.Fatal(err)
			}
		}
		next := claim(t, m.Store, m.partner, e.ID, 1)[0]
		failed := alert.Result{
			Delivery: next,
			At:       m.clock.Now(),
			Outcome:  &webhook.Outcome{Status: 502},
			State:    alert.Pending,
			Attempts: 2,
			NextAt:   m.clock.Now(),
			Now:      m.clock.Now(),
		}
		if err := m.Alerts.RecordResults(ctx, "new", []alert.Result{failed}); err != nil || next.Attempts != 1 {
			t.Fatal(next.Attempts, err)
		}
		// The old one's first word comes once more, after the second try of the new one.
		late := alert.Result{
			Delivery: d,
			At:       m.clock.Now(),
			Outcome:  &webhook.Outcome{Status: 503},
			State:    alert.Pending,
			Attempts: 1,
			NextAt:   m.clock.Now(),
			Now:      m.clock.Now(),
		}
		if err := m.Alerts.RecordResults(ctx, "old", []alert.Result{late}); err != nil {
			t.Fatal(err)
		}
		if list, err := m.Alerts.Deliveries(ctx, m.partner, d.Event); err != nil || list[0].Attempts != 2 {
			t.Errorf("tries are counted wrongly: %v %v", list, err)
		}
		arrived := alert.Result{
			Delivery: d,
			At:       m.clock.Now().Add(time.Millisecond),
			Outcome:  &webhook.Outcome{Status: 200, Answer: "ok"},
			State:    alert.Delivered,
			Attempts: 1,
			Now:      m.clock.Now(),
		}
		if err := m.Alerts.RecordResults(ctx, "old", []alert.Result{arrived}); err != nil {
			t.Fatal(err)
		}
		history := alert.NewHistory(m.Store.Alerts, m.Store.Partners)
		list, tries, err := history.Deliveries(ctx, m.partner, d.Event)
		if err != nil || len(list) != 1 || len(tries) != 5 {
			t.Fatalf("%v %v %v", list, tries, err)
		}
		difftest.Check(t, "the delivery's state", list[0].State, alert.Delivered)
		difftest.Check(t, "the status of the first try", tries[0].Status, 500)
		difftest.Check(t, "the answer to the last try", tries[4].Answer, "ok")
	})
}
