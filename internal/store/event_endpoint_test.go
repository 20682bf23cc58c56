package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store"
)

func mustJSON(t *testing.T, raw []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatal(err)
	}
}

// TestHeldUntilEnabled: what happens while an endpoint is disabled arrives, in order, when it is enabled again.
func TestHeldUntilEnabled(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		r := newReceiver(t, nil)
		e := m.endpoint(t, r)
		m.run(t, testOptions)
		first := m.publish(t, alert.LeakDetected, "ana")
		wait(t, "the first event", func() bool { return m.countWhere(t, "delivery", "state = 'delivered'") == 1 })
		if _, err := m.endpoints.DisableEndpoint(ctx, m.partner, e.ID); err != nil {
			t.Fatal(err)
		}
		want := []string{string(first.ID)}
		for range 20 {
			want = append(want, string(m.publish(t, alert.LeakDetected, "ana").ID))
		}
		m.awaitTwoLooks(t)
		if n := len(r.received()); n != 1 {
			t.Fatalf("%d events reached a disabled endpoint", n-1)
		}
		list, err := m.Alerts.Deliveries(ctx, m.partner, alert.EventID(want[5]))
		if err != nil || len(list) != 1 || list[0].State != alert.Held {
			t.Fatalf("%v %v", list, err)
		}
		if e, err = m.endpoints.EnableEndpoint(
			ctx,
			m.partner,
			e.ID,
		); err != nil || e.State != alert.Enabled ||
			e.Reason != "" {
			t.Fatal(e, err)
		}
		wait(t, "what was held", func() bool { return len(r.received()) == len(want) })
		var got []string
		for _, x := range r.received() {
			got = append(got, x.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
	})
}

// TestGoneDisables: a 410 disables at once, keeps the event, and is forgiven by enabling.
func TestGoneDisables(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		var gone atomic.Bool
		gone.Store(true)
		r := newReceiver(t, func(client.WebhookEvent, int) int {
			if gone.Load() {
				return http.StatusGone
			}
			return http.StatusOK
		})
		e := m.endpoint(t, r)
		m.run(t, testOptions)
		event := m.publish(t, alert.LeakDetected, "ana")
		wait(t, "the endpoint to be disabled", func() bool {
			now, err := m.Alerts.EndpointByID(ctx, m.partner, e.ID)
			return err == nil && now.State == alert.Disabled && now.Reason == alert.Gone
		})
		m.publish(t, alert.LeakDetected, "bia")
		m.awaitTwoLooks(t)
		r.mu.Lock()
		asked, of := r.tries[string(event.ID)], len(r.tries)
		r.mu.Unlock()
		if asked != 1 || of != 1 {
			t.Errorf("a receiver that said 410 was asked %d times, for %d events", asked, of)
		}
		health, err := m.Alerts.EndpointHealth(ctx, m.partner, e.ID)
		if err != nil || health.Backlog+health.Held != 2 || health.Held == 0 || health.Last.Status != http.StatusGone {
			t.Errorf("the health of one that said 410: %+v, %v", health, err)
		}
		gone.Store(false)
		if _, err := m.endpoints.EnableEndpoint(ctx, m.partner, e.ID); err != nil {
			t.Fatal(err)
		}
		wait(t, "both events", func() bool { return len(r.received()) == 2 })
	})
}

// TestDeadEndpoint: failures disable an endpoint only when there was nothing else for five days, and enabling brings
// also what had used up its tries.
func TestDeadEndpoint(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		var broken atomic.Bool
		broken.Store(true)
		r := newReceiver(t, func(client.WebhookEvent, int) int {
			if broken.Load() {
				return http.StatusBadGateway
			}
			return http.StatusOK
		})
		e := m.endpoint(t, r)
		opts := testOptions
		opts.NextTry = func(attempts int, now time.Time, _ time.Duration) (time.Time, bool) { return now, attempts < 3 }
		opts.Gate.Breaker.Failures = 1000
		m.run(t, opts)
		state := func() alert.Endpoint {
			t.Helper()
			now, err := m.Alerts.EndpointByID(ctx, m.partner, e.ID)
			if err != nil {
				t.Fatal(err)
			}
			return now
		}
		failed := func(event alert.Event) func() bool {
			return func() bool {
				list, err := m.Alerts.Deliveries(ctx, m.partner, event.ID)
				return err == nil && list[0].State == alert.DeliveryFailed && list[0].Attempts == 3
			}
		}
		first := m.publish(t, alert.LeakDetected, "ana")
		wait(t, "the first to fail", failed(first))
		m.clock.Advance(alert.DeadAfter - time.Hour)
		second := m.publish(t, alert.LeakDetected, "ana")
		wait(t, "the second to fail", failed(second))
		if s := state(); s.State != alert.Enabled || s.FailingSince.IsZero() {
			t.Fatalf("%s after less than five days, failing since %s", s.State, s.FailingSince)
		}
		m.clock.Advance(2 * time.Hour)
		m.publish(t, alert.LeakDetected, "ana")
		wait(
			t,
			"the endpoint to be disabled",
			func() bool { s := state(); return s.State == alert.Disabled && s.Reason == alert.Failing },
		)
		broken.Store(false)
		if _, err := m.endpoints.EnableEndpoint(ctx, m.partner, e.ID); err != nil {
			t.Fatal(err)
		}
		wait(t, "all three events", func() bool { return len(r.received()) == 3 })
		wait(t, "a success to end the trouble", func() bool { return state().FailingSince.IsZero() })
	})
}

// TestSuccessForgivesFailure: an endpoint that works now and then is never dead.
func TestSuccessForgivesFailure(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		var works atomic.Bool
		r := newReceiver(t, func(client.WebhookEvent, int) int {
			if works.Load() {
				return http.StatusOK
			}
			return http.StatusBadGateway
		})
		e := m.endpoint(t, r)
		opts := testOptions
		opts.NextTry = func(_ int, now time.Time, _ time.Duration) (time.Time, bool) { return now, false }
		m.run(t, opts)
		for i := range 4 {
			works.Store(i%2 == 1)
			event := m.publish(t, alert.LeakDetected, "")
			wait(t, "the event to be settled", func() bool {
				list, err := m.Alerts.Deliveries(context.Background(), m.partner, event.ID)
				return err == nil && list[0].State != alert.Pending
			})
			m.clock.Advance(alert.DeadAfter - time.Hour)
		}
		now, err := m.Alerts.EndpointByID(context.Background(), m.partner, e.ID)
		if err != nil || now.State != alert.Enabled {
			t.Error(now.State, err)
		}
	})
}

// TestRotation: for 24 hours both keys sign, then the new one alone; both schemes.
func TestRotation(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		r := newReceiver(t, nil)
		before := m.endpoint(t, r)
		after, err := m.endpoints.RotateKeys(ctx, m.partner, before.ID, webhook.RotationOverlap)
		if err != nil || after.Secret() == before.Secret() {
			t.Fatal("no new secret", err)
		}
		m.run(t, testOptions)
		old := []string{before.Secret(), before.PublicKeys(m.clock.Now())[0]}
		current := []string{after.Secret(), after.PublicKeys(m.clock.Now())[0]}
		accepts := func(key string) bool {
			t.Helper()
			r.trust(m.clock, key)
			r.mu.Lock()
			bad := len(r.bad)
			r.mu.Unlock()
			event := m.publish(t, alert.LeakDetected, "")
			wait(t, "an attempt", func() bool {
				list, err := m.Alerts.Deliveries(ctx, m.partner, event.ID)
				return err == nil && list[0].State == alert.Delivered
			})
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.bad) == bad
		}
		for _, key := range append(old, current...) {
			if !accepts(key) {
				t.Errorf("%.6s does not verify during the overlap", key)
			}
		}
		m.clock.Advance(webhook.RotationOverlap + time.Minute)
		for _, key := range current {
			if !accepts(key) {
				t.Errorf("%.6s does not verify after the overlap", key)
			}
		}
		for _, key := range old {
			if accepts(key) {
				t.Errorf("%.6s still verifies after the overlap", key)
			}
		}
		keys, err := m.endpoints.PublicKeys(ctx, before.ID)
		if err != nil || len(keys) != 1 || keys[0] != current[1] {
			t.Errorf("public keys after the overlap: %v %v", keys, err)
		}
		if _, err := m.endpoints.RotateKeys(ctx, m.partner, before.ID, 0); err != nil {
			t.Fatal(err)
		}
		if accepts(current[0]) {
			t.Error("a stolen secret still verifies")
		}
	})
}

// TestForbiddenTargets: an address that may not be called is refused when it is saved, and not called when a name moves
// there afterwards. A listener counts what reaches it.
func TestForbiddenTargets(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		canary, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var reached atomic.Int64
		go func() {
			for {
				c, err := canary.Accept()
				if err != nil {
					return
				}
				reached.Add(1)
				_ = c.Close()
			}
		}()
		t.Cleanup(func() { _ = canary.Close() })
		address := canary.Addr().String()
		strict := webhook.NewGuard(nil)
		for _, url := range []string{
			"http://" + address,
			"https://" + address,
			"https://localhost/",
			"https://user@example.com/",
			"https://[::ffff:127.0.0.1]/",
		} {
			if _, err := m.endpoints.CreateEndpoint(
				ctx,
				m.partner,
				url,
				nil,
				strict,
			); !errors.Is(err, webhook.ErrAddress) &&
				!errors.Is(err, webhook.ErrURL) {
				t.Errorf("%s was saved: %v", url, err)
			}
		}
		// Saved while the range was open, sent after it was closed.
		e, err := m.endpoints.CreateEndpoint(ctx, m.partner, "http://"+address, nil, loopback)
		if err != nil {
			t.Fatal(err)
		}
		opts := testOptions
		opts.NextTry = func(_ int, now time.Time, _ time.Duration) (time.Time, bool) { return now, false }
		m.runWith(t, strict, opts)
		event := m.publish(t, alert.LeakDetected, "")
		wait(t, "the delivery to fail", func() bool {
			list, err := m.Alerts.Deliveries(ctx, m.partner, event.ID)
			return err == nil && list[0].State == alert.DeliveryFailed
		})
		tries, err := m.Alerts.ListAttempts(ctx, m.partner, event.ID)
		if err != nil || len(tries) != 1 {
			t.Fatalf("%v %v", tries, err)
		}
		want := tries[0]
		want.Failure, want.Endpoint = webhook.FailureAddress, e.ID
		difftest.Check(t, "the try", tries[0], want)
		if outcome, _, err := m.endpoints.SendTestEvent(
			ctx,
			m.partner,
			e.ID,
			alert.WebhookTest,
			strict.NewClient(webhook.ClientOptions{}),
		); err != nil ||
			outcome.Failure != webhook.FailureAddress {
			t.Error(outcome, err)
		}
		if n := reached.Load(); n != 0 {
			t.Errorf("%d connections reached the canary", n)
		}
	})
}

// TestTest: a test goes to one endpoint at once, whatever its state, and leaves an event and an attempt.
func TestTest(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		var status atomic.Int64
		status.Store(http.StatusAccepted)
		r := newReceiver(t, func(client.WebhookEvent, int) int { return int(status.Load()) })
		other := newReceiver(t, nil)
		e := m.endpoint(t, r, "case.status_changed")
		m.endpoint(t, other)
		if _, err := m.endpoints.DisableEndpoint(ctx, m.partner, e.ID); err != nil {
			t.Fatal(err)
		}
		httpClient := loopback.NewClient(webhook.ClientOptions{})
		outcome, id, err := m.endpoints.SendTestEvent(ctx, m.partner, e.ID, alert.WebhookTest, httpClient)
		if err != nil || outcome.Status != http.StatusAccepted {
			t.Fatal(outcome, err)
		}
		got := r.received()
		if len(got) != 1 || len(r.bad) > 0 {
			t.Fatalf("%v %v", got, r.bad)
		}
		received := []string{got[0].ID, string(got[0].Body.Type), fmt.Sprintf("%s", got[0].Body.Data)}
		difftest.Check(t, "the test", received, []string{string(id), "webhook.test", "{}"})
		status.Store(http.StatusTeapot)
		_, failed, err := m.endpoints.SendTestEvent(ctx, m.partner, e.ID, alert.WebhookTest, httpClient)
		if err != nil {
			t.Fatal(err)
		}
		for event, want := range map[alert.EventID]alert.DeliveryState{
			id:     alert.Delivered,
			failed: alert.DeliveryFailed,
		} {
			list, err := m.Alerts.Deliveries(ctx, m.partner, event)
			if err != nil || len(list) != 1 || list[0].State != want {
				t.Errorf("%v, want %s, %v", list, want, err)
			}
		}
		if n := len(other.received()); n != 0 {
			t.Error("a test reached an endpoint it was not meant for")
		}
	})
}

// TestEndpointSecretsAtRest: neither address nor keys nor answers are readable in the tables, and all open after a key
// rotation.
func TestEndpointSecretsAtRest(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		r := newReceiver(t, nil)
		e, err := m.endpoints.CreateEndpoint(ctx, m.partner, r.URL+"/?token=segredo-do-parceiro", nil, loopback)
		if err != nil {
			t.Fatal(err)
		}
		r.trust(m.clock, e.Secret())
		if _, _, err := m.endpoints.SendTestEvent(
			ctx,
			m.partner,
			e.ID,
			alert.WebhookTest,
			loopback.NewClient(webhook.ClientOptions{}),
		); err != nil {
			t.Fatal(err)
		}
		var url, keys []byte
		err = m.env.DB.ReadPool().QueryRowContext(ctx, `SELECT url, keys FROM endpoint`).Scan(&url, &keys)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(url), "segredo") || strings.Contains(string(keys), "whsec_") {
			t.Error("the address or the keys are readable")
		}
		m.env.RotateKey(t)
		for progress, done := (store.RewriteProgress{}), false; !done; {
			if done, err = m.Upkeep.RewriteSealed(ctx, &progress, 2); err != nil {
				t.Fatal(err)
			}
		}
		again, err := m.Alerts.EndpointByID(ctx, m.partner, e.ID)
		if err != nil || again.URL != e.URL || again.Secret() != e.Secret() {
			t.Error(again.URL, err)
		}
	})
}

// TestDeleteEndpoint: deliveries and attempts go, events stay, and another partner's endpoint is not found.
func TestDeleteEndpoint(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		r := newReceiver(t, nil)
		e := m.endpoint(t, r)
		m.run(t, testOptions)
		event := m.publish(t, alert.LeakDetected, "ana")
		wait(t, "the event", func() bool {
			list, err := m.Alerts.Deliveries(ctx, m.partner, event.ID)
			return err == nil && list[0].State == alert.Delivered
		})
		if err := m.endpoints.DeleteEndpoint(ctx, "pt_other", e.ID); !errors.Is(err, alert.ErrEndpointNotFound) {
			t.Error("another partner deleted it:", err)
		}
		if err := m.endpoints.DeleteEndpoint(ctx, m.partner, e.ID); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"delivery", "attempt", "endpoint"} {
			if n := m.count(t, table); n != 0 {
				t.Errorf("%d rows left in %s", n, table)
			}
		}
		if n := m.count(t, "event"); n != 1 {
			t.Errorf("%d events are left", n)
		}
		if err := m.endpoints.DeleteEndpoint(ctx, m.partner, e.ID); !errors.Is(err, alert.ErrEndpointNotFound) {
			t.Error("deleted twice:", err)
		}
	})
}

func (m *mailer) count(t *testing.T, table string) int {
	t.Helper()
	return m.countWhere(t, table, "1 = 1")
}

func (m *mailer) countWhere(t *testing.T, table, condition string) (n int) {
	t.Helper()
	query := `SELECT count(*) FROM ` + table + ` WHERE ` + condition
	err := m.env.DB.ReadPool().QueryRowContext(context.Background(), query).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
