package store_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"vigia/client"
	"vigia/internal/alert"
	"vigia/internal/partner"
	"vigia/internal/webhook"
)

func userOf(t *testing.T, e client.Event) string {
	t.Helper()
	var data struct {
		User string `json:"userHash"`
	}
	mustJSON(t, e.Data, &data)
	return data.User
}

// TestOrderPerPerson: a receiver that fails every event's first try still gets each person's events in order, while several
// dispatchers share the work.
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
			e, err := alert.New(m.partner, alert.LeakDetected, partner.UserHash(user), m.clock.Now(), map[string]string{"userHash": user})
			if err != nil {
				t.Fatal(err)
			}
			want[user] = append(want[user], string(e.ID))
			batch = append(batch, e)
		}
		// Half at once, so that runs of one person are claimed together; half one by one, while others are under way.
		if err := m.AddEvents(context.Background(), m.partner, batch[:len(batch)/2]...); err != nil {
			t.Fatal(err)
		}
		opts := testOptions
		opts.Gate.Breaker.Failures = 1000
		for range 3 {
			m.run(t, opts)
		}
		for _, e := range batch[len(batch)/2:] {
			if err := m.AddEvents(context.Background(), m.partner, e); err != nil {
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
		r := newReceiver(t, func(e client.Event, _ int) int {
			if _, ok := stubborn.Load(e.ID); ok {
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

// TestRetryAfterPassesTheTurn: a wait asked for by the receiver that is longer than the order rule allows lets the next one go.
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

// TestClaimsAreExclusive: claims of many workers at once never overlap, and a claim that ran out is taken up.
func TestClaimsAreExclusive(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		r := newReceiver(t, nil)
		e := m.endpoint(t, r)
		for range 40 {
			m.publish(t, alert.LeakDetected, "")
		}
		seen := map[int64]string{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		// A claim passes by an endpoint that another claimer holds, so how many claims it takes depends on who is held up: they
		// go on until all is claimed, and a few rounds more for whoever would claim twice.
		deadline := time.Now().Add(time.Minute)
		rest := func() int { mu.Lock(); defer mu.Unlock(); return 40 - len(seen) }
		for w := range 8 {
			wg.Go(func() {
				worker := fmt.Sprint("w", w)
				for extra := 0; extra < 5 && time.Now().Before(deadline); {
					if rest() == 0 {
						extra++
					}
					batches, err := m.ClaimDeliveries(ctx, worker, m.clock.Now().Add(time.Minute), []alert.Want{{Partner: m.partner, Endpoint: e.ID, Limit: 3}})
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					for _, b := range batches {
						for _, d := range b.Deliveries {
							if by, taken := seen[d.Seq]; taken {
								t.Errorf("%d was claimed by %s and %s", d.Seq, by, worker)
							}
							seen[d.Seq] = worker
						}
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(seen) != 40 {
			t.Fatalf("%d of 40 were claimed", len(seen))
		}
		if due, err := m.DueEndpoints(ctx); err != nil || len(due) != 0 {
			t.Errorf("due while all is claimed: %v %v", due, err)
		}
		m.clock.Advance(time.Minute + time.Second)
		batches, err := m.ClaimDeliveries(ctx, "late", m.clock.Now().Add(time.Minute), []alert.Want{{Partner: m.partner, Endpoint: e.ID, Limit: 100}})
		if err != nil || len(batches) != 1 || len(batches[0].Deliveries) != 40 {
			t.Errorf("claims that ran out: %v", err)
		}
	})
}

// TestLateResults: a worker whose claim ran out cannot put a delivery back that another holds, but a success stays one.
func TestLateResults(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		e := m.endpoint(t, newReceiver(t, nil))
		m.publish(t, alert.LeakDetected, "ana")
		claim := func(worker string) alert.Delivery {
			t.Helper()
			b, err := m.ClaimDeliveries(ctx, worker, m.clock.Now().Add(time.Minute), []alert.Want{{Partner: m.partner, Endpoint: e.ID, Limit: 1}})
			if err != nil || len(b) != 1 {
				t.Fatal(b, err)
			}
			return b[0].Deliveries[0]
		}
		old := claim("old")
		m.clock.Advance(2 * time.Minute)
		claim("new")
		failed := alert.Result{
			Delivery: old, At: m.clock.Now(), Outcome: &webhook.Outcome{Status: 500}, State: alert.Pending, Attempts: 1, NextAt: m.clock.Now(), Now: m.clock.Now(),
		}
		if err := m.RecordResults(ctx, "old", []alert.Result{failed}); err != nil {
			t.Fatal(err)
		}
		if due, err := m.DueEndpoints(ctx); err != nil || len(due) != 0 {
			t.Errorf("the old worker put back what the new one holds: %v %v", due, err)
		}
		arrived := alert.Result{Delivery: old, At: m.clock.Now().Add(time.Millisecond), Outcome: &webhook.Outcome{Status: 200, Answer: "ok"}, State: alert.Delivered, Attempts: 1, Now: m.clock.Now()}
		if err := m.RecordResults(ctx, "old", []alert.Result{arrived}); err != nil {
			t.Fatal(err)
		}
		history := alert.NewHistory(m.Store)
		list, tries, err := history.Deliveries(ctx, m.partner, old.Event)
		if err != nil || len(list) != 1 || list[0].State != alert.Delivered || len(tries) != 2 || tries[0].Status != 500 || tries[1].Answer != "ok" {
			t.Errorf("%v %v %v", list, tries, err)
		}
	})
}
