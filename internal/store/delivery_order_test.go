package store_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/webhook"
)

func userOf(t *testing.T, e client.Event) string {
	t.Helper()
	var data struct {
		User string `json:"userHash"`
	}
	mustJSON(t, e.Data, &data)
	return data.User
}

// TestOrderPerPerson: a receiver that fails every event's first try still gets each person's events in order, while
// several dispatchers share the work.
func TestOrderPerPerson(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		r := newReceiver(t, func(_ client.Event, try int) int {
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
			e, err := alert.New(m.partner, alert.LeakDetected, partner.UserHash(user), m.clock.Now(), struct{}{})
			if err != nil {
				t.Fatal(err)
			}
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
		var r *receiver
		r = newReceiver(t, func(e client.Event, try int) int {
			if _, ok := stubborn.Load(e.ID); ok {
				// After the second try it is the follower's turn: the other person's event has to be there before.
				for since := time.Now(); try == 2 && len(r.received()) == 0 && time.Since(since) < 30*time.Second; {
					time.Sleep(5 * time.Millisecond)
				}
				return http.StatusServiceUnavailable
			}
			return http.StatusNoContent
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
		r.answer = func(e client.Event, _ int) int {
			if e.ID == string(first.ID) {
				return http.StatusTooManyRequests
			}
			return http.StatusNoContent
		}
		opts := testOptions
		opts.NextTry = func(_ int, now time.Time, _ time.Duration) (time.Time, bool) { return now.Add(2 * time.Hour), true }
		m.run(t, opts)
		wait(t, "the second event", func() bool { return len(r.received()) == 1 })
		if r.received()[0].ID != string(second.ID) {
			t.Error("another event came")
		}
	})
}

// TestEndpointsAreHeldByOne: of many workers that take an endpoint at once one gets it; it keeps it for as long as it
// says so, and what was let go of or ran out is taken up.
//
//vigia:shows eight workers take five endpoints at once: one has each, until it lets go or its time is over
//vigia:broken the guard of the upsert left out
func TestEndpointsAreHeldByOne(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		var ids []alert.EndpointID
		for range 5 {
			ids = append(ids, m.endpoint(t, newReceiver(t, nil)).ID)
		}
		slices.Sort(ids)
		m.publish(t, alert.LeakDetected, "ana")
		holder := map[alert.EndpointID]string{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				worker := fmt.Sprint("w", w)
				taken, err := m.Alerts.TakeEndpoints(ctx, worker, m.clock.Now().Add(time.Hour), ids)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, e := range taken {
					if by := holder[e.ID]; by != "" {
						t.Errorf("%s was taken by %s and %s", e.ID, by, worker)
					}
					holder[e.ID] = worker
				}
			})
		}
		wg.Wait()
		if len(holder) != len(ids) {
			t.Fatalf("%d of %d endpoints were taken", len(holder), len(ids))
		}
		dueTo := func(worker string) int {
			t.Helper()
			due, err := m.Alerts.DueEndpoints(ctx, worker)
			if err != nil {
				t.Fatal(err)
			}
			return len(due)
		}
		by := holder[ids[0]]
		if dueTo("late") != 0 || dueTo(by) == 0 {
			t.Error("held endpoints are due to others, or not to who holds them")
		}
		var mine []alert.EndpointID
		for _, id := range ids {
			if holder[id] == by {
				mine = append(mine, id)
			}
		}
		m.clock.Advance(50 * time.Minute)
		kept, err := m.Alerts.KeepEndpoints(ctx, by, m.clock.Now().Add(time.Hour), ids[:1])
		if err != nil || !slices.Equal(kept, ids[:1]) {
			t.Errorf("kept %v: %v", kept, err)
		}
		if n := dueTo("late"); n != len(mine)-1 {
			t.Errorf("%d are due to others after %d were let go of", n, len(mine)-1)
		}
		m.clock.Advance(30 * time.Minute) // past the first hour, within the renewed one
		if taken, err := m.Alerts.TakeEndpoints(ctx, "late", m.clock.Now().Add(time.Hour), ids); err != nil || len(taken) != len(ids)-1 {
			t.Errorf("%d were taken: %v", len(taken), err)
		}
		m.clock.Advance(40 * time.Minute)
		if taken, err := m.Alerts.TakeEndpoints(ctx, "late", m.clock.Now().Add(time.Hour), ids); err != nil || len(taken) != len(ids) {
			t.Errorf("%d were taken after the hold had run out: %v", len(taken), err)
		}
		if kept, err := m.Alerts.KeepEndpoints(ctx, by, m.clock.Now().Add(time.Hour), ids[:1]); err != nil || len(kept) != 0 {
			t.Errorf("%v was kept though another has it: %v", kept, err)
		}
	})
}

// TestLateResults: a worker whose hold ran out cannot put a delivery back that another has, but a success stays one.
func TestLateResults(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		e := m.endpoint(t, newReceiver(t, nil))
		m.publish(t, alert.LeakDetected, "ana")
		take := func(worker string) alert.Delivery {
			t.Helper()
			list := claim(t, m.Store, worker, m.clock.Now().Add(time.Minute), e.ID, 1)
			if len(list) != 1 {
				t.Fatal(list)
			}
			return list[0]
		}
		old := take("old")
		m.clock.Advance(2 * time.Minute)
		take("new")
		failed := alert.Result{
			Delivery: old, At: m.clock.Now(), Outcome: &webhook.Outcome{Status: 500}, State: alert.Pending, Attempts: 1, NextAt: m.clock.Now(), Now: m.clock.Now(),
		}
		if err := m.Alerts.RecordResults(ctx, "old", []alert.Result{failed}); err != nil {
			t.Fatal(err)
		}
		if list, err := m.Alerts.Deliveries(ctx, m.partner, old.Event); err != nil || list[0].Attempts != 0 {
			t.Errorf("the old worker put back what the new one has: %v %v", list, err)
		}
		arrived := alert.Result{Delivery: old, At: m.clock.Now().Add(time.Millisecond), Outcome: &webhook.Outcome{Status: 200, Answer: "ok"}, State: alert.Delivered, Attempts: 1, Now: m.clock.Now()}
		if err := m.Alerts.RecordResults(ctx, "old", []alert.Result{arrived}); err != nil {
			t.Fatal(err)
		}
		history := alert.NewHistory(m.Store.Alerts, m.Store.Partners)
		list, tries, err := history.Deliveries(ctx, m.partner, old.Event)
		if err != nil || len(list) != 1 || list[0].State != alert.Delivered || len(tries) != 2 || tries[0].Status != 500 || tries[1].Answer != "ok" {
			t.Errorf("%v %v %v", list, tries, err)
		}
	})
}
