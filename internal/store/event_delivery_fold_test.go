package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestEveryTryIsListed: wherever a try is kept it is listed once, in order: without and with text, repeated, held
// meanwhile, said twice, and recorded by two workers.
func TestEveryTryIsListed(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		e := m.endpoint(t, newReceiver(t, nil))
		var events []alert.Event
		for i := range 6 {
			events = append(events, m.publish(t, alert.LeakDetected, fmt.Sprint("pessoa", i)))
		}
		begin := m.clock.Now().Truncate(time.Microsecond)
		took := 0
		result := func(d alert.Delivery, status int, text string) alert.Result {
			took++
			return alert.Result{
				Delivery: d,
				At:       begin.Add(time.Duration(took) * time.Second),
				State:    alert.Delivered,
				Attempts: 1,
				Now:      m.clock.Now(),
				Outcome: &webhook.Outcome{
					Status:   status,
					Answer:   text,
					Duration: time.Duration(took) * time.Millisecond,
				},
			}
		}
		record := func(worker string, list ...alert.Result) {
			t.Helper()
			if err := m.Alerts.RecordResults(ctx, worker, list); err != nil {
				t.Fatal(err)
			}
		}
		list := claim(t, m.Store, m.partner, e.ID, 10)
		group := []alert.Result{
			result(list[0], 204, ""),
			result(list[1], 200, "ok"),
			result(list[2], 201, ""),
			result(list[4], 299, ""),
		}
		record("w", group...)
		record("w", group...)                 // reported as failed, though it was not
		record("v", result(list[2], 202, "")) // two workers sent the same
		if _, err := m.endpoints.DisableEndpoint(ctx, m.partner, e.ID); err != nil {
			t.Fatal(err)
		}
		record("w", result(list[3], 203, "")) // it was under way when the endpoint was disabled
		if _, err := m.endpoints.EnableEndpoint(ctx, m.partner, e.ID); err != nil {
			t.Fatal(err)
		}
		if n, err := m.Alerts.RequeueDeliveries(
			ctx,
			m.partner,
			alert.Selection{Event: events[0].ID},
		); err != nil ||
			n != 1 {
			t.Fatal(n, err)
		}
		again := claim(t, m.Store, m.partner, e.ID, 10)
		if len(again) != 2 || !again[0].Tried || again[1].Tried {
			t.Fatalf("pending after a replay: %v", again)
		}
		record("w", result(again[0], 204, ""))
		want := []string{
			"delivered 1: 204/1ms 204/7ms",
			"delivered 1: 200/2ms/ok",
			"delivered 1: 201/3ms 202/5ms",
			"delivered 1: 203/6ms",
			"delivered 1: 299/4ms",
			"pending 0:",
		}
		for i, event := range events {
			if got := m.history(t, event.ID); got != want[i] {
				t.Errorf("event %d: %s, want %s", i, got, want[i])
			}
		}
		if n := m.count(t, "attempt"); n != 3 {
			t.Errorf("%d tries have a row of their own", n)
		}
	})
}

// history spells out a delivery's state and tries.
func (m *mailer) history(t *testing.T, event alert.EventID) string {
	t.Helper()
	history := alert.NewHistory(m.Store.Alerts, m.Store.Partners)
	list, tries, err := history.Deliveries(context.Background(), m.partner, event)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	text := fmt.Sprintf("%s %d:", list[0].State, list[0].Attempts)
	for _, a := range tries {
		if a.At.IsZero() || a.Endpoint != list[0].Endpoint {
			t.Errorf("a try without time or endpoint: %v", a)
		}
		if text += fmt.Sprintf(" %d/%s", a.Status, a.Duration); a.Answer != "" {
			text += "/" + a.Answer
		}
	}
	return text
}

// TestFarApartResults: results whose events are far from each other are recorded all the same, each with its own try.
func TestFarApartResults(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		e := m.endpoint(t, newReceiver(t, nil))
		var batch []alert.Event
		for i := range 300 {
			event := alert.NewEvent(
				m.partner,
				alert.LeakDetected,
				partner.UserHash(fmt.Sprint("pessoa", i)),
				m.clock.Now(),
				map[string]int{"n": i},
			)
			batch = append(batch, event)
		}
		if err := m.Alerts.AddEvents(ctx, m.partner, batch...); err != nil {
			t.Fatal(err)
		}
		list := claim(t, m.Store, m.partner, e.ID, 300)
		var results []alert.Result
		for _, i := range []int{299, 3, 0, 150, 1, 151} {
			results = append(results, alert.Result{
				Delivery: list[i], At: m.clock.Now(), State: alert.Delivered, Attempts: 1, Now: m.clock.Now(),
				Outcome: &webhook.Outcome{Status: 200, Duration: time.Duration(i+1) * time.Microsecond},
			})
		}
		if err := m.Alerts.RecordResults(ctx, "w", results); err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 1, 3, 150, 151, 299} {
			got := m.history(t, batch[i].ID)
			want := fmt.Sprintf("delivered 1: 200/%s", time.Duration(i+1)*time.Microsecond)
			if got != want {
				t.Errorf("event %d: %s, want %s", i, got, want)
			}
		}
		if n := m.countWhere(t, "delivery", "state = 'delivered'"); n != 6 {
			t.Errorf("%d are delivered", n)
		}
	})
}

// TestWellResults: a success takes the mark of failing from its endpoint, unless it is said to have none.
func TestWellResults(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		e := m.endpoint(t, newReceiver(t, nil))
		for i := range 2 {
			event := alert.NewEvent(
				m.partner,
				alert.LeakDetected,
				partner.UserHash(fmt.Sprint("pessoa", i)),
				m.clock.Now(),
				map[string]int{"n": i},
			)
			if err := m.Alerts.AddEvents(ctx, m.partner, event); err != nil {
				t.Fatal(err)
			}
		}
		if err := storetest.Write(ctx, m.env, `UPDATE endpoint SET failing_since = 2000`); err != nil {
			t.Fatal(err)
		}
		list := claim(t, m.Store, m.partner, e.ID, 2)
		for i, well := range []bool{true, false} {
			if err := m.Alerts.RecordResults(ctx, "w", []alert.Result{
				{
					Delivery: list[i],
					At:       m.clock.Now(),
					State:    alert.Delivered,
					Attempts: 1,
					Now:      m.clock.Now(),
					Well:     well,
					Outcome:  &webhook.Outcome{Status: 200},
				},
			}); err != nil {
				t.Fatal(err)
			}
			if failing := m.countWhere(t, "endpoint", "failing_since <> 0"); (failing == 1) != well {
				t.Errorf("known to be well %t: %d fail", well, failing)
			}
		}
	})
}
