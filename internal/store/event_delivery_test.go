package store_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

var loopback = webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})

// receiver is a partner's end: it verifies what comes in and remembers it.
type receiver struct {
	*httptest.Server
	// answer decides on a request; nil means 204.
	answer func(e client.WebhookEvent, try int) int

	mu    sync.Mutex
	clock *runningClock
	keys  []string
	got   []client.WebhookEvent
	// tries counts the requests of each event.
	tries map[string]int
	bad   []error
}

func newReceiver(t *testing.T, answer func(e client.WebhookEvent, try int) int) *receiver {
	t.Helper()
	r := &receiver{answer: answer, tries: map[string]int{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		r.mu.Lock()
		e, err := client.VerifyWebhook(r.keys, req.Header, body, r.clock.Now())
		if err != nil {
			r.bad = append(r.bad, err)
		}
		r.tries[e.ID]++
		try := r.tries[e.ID]
		r.mu.Unlock()
		status := http.StatusNoContent
		if r.answer != nil {
			status = r.answer(e, try)
		}
		r.mu.Lock()
		if status < 300 {
			r.got = append(r.got, e)
		}
		r.mu.Unlock()
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) trust(clock *runningClock, keys ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock, r.keys = clock, keys
}

func (r *receiver) received() []client.WebhookEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]client.WebhookEvent(nil), r.got...)
}

// runningClock is the system's clock, moved by what a test says.
type runningClock struct{ shift atomic.Int64 }

func (c *runningClock) Now() time.Time           { return time.Now().Add(time.Duration(c.shift.Load())) }
func (c *runningClock) Advance(by time.Duration) { c.shift.Add(int64(by)) }

// mailer is a store with endpoints, on a clock that runs.
type mailer struct {
	*store.Store
	env       *storetest.Env
	clock     *runningClock
	endpoints *alert.Endpoints
	partner   partner.ID
}

// eachMailer runs fn on both engines.
func eachMailer(t *testing.T, fn func(t *testing.T, m *mailer)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		p, _ := e.NewPartner(t, partner.Sandbox)
		clock := &runningClock{}
		s := store.NewStore(e.DB, e.Keys, clock.Now, leak.Judge{})
		fn(
			t,
			&mailer{
				Store:     s,
				env:       e,
				clock:     clock,
				endpoints: alert.NewEndpoints(s.Alerts, clock.Now, nil),
				partner:   p.ID,
			},
		)
	})
}

func (m *mailer) endpoint(t *testing.T, r *receiver, types ...string) alert.Endpoint {
	t.Helper()
	e, err := m.endpoints.CreateEndpoint(context.Background(), m.partner, r.URL, types, loopback)
	if err != nil {
		t.Fatal(err)
	}
	r.trust(m.clock, e.Secret())
	return e
}

// awaitTwoLooks returns when the dispatcher has looked for due deliveries twice: two events of another partner, one
// published after the other had arrived, are there.
func (m *mailer) awaitTwoLooks(t *testing.T) {
	t.Helper()
	beside, _ := m.env.NewPartner(t, partner.Live)
	other := *m
	other.partner = beside.ID
	r := newReceiver(t, nil)
	other.endpoint(t, r)
	for n := range 2 {
		other.publish(t, alert.LeakDetected, "outra pessoa")
		wait(t, "another partner's event", func() bool { return len(r.received()) == n+1 })
	}
}

// publish adds an event about user.
func (m *mailer) publish(t *testing.T, kind alert.Type, user string) alert.Event {
	t.Helper()
	e := alert.NewEvent(m.partner, kind, partner.UserHash(user), m.clock.Now(), struct{}{})
	if err := m.Alerts.AddEvents(context.Background(), m.partner, e); err != nil {
		t.Fatal(err)
	}
	return e
}

// quick is a schedule of milliseconds.
func quick(attempts int, now time.Time, after time.Duration) (time.Time, bool) {
	return now.Add(max(after, time.Duration(attempts)*20*time.Millisecond)), attempts < webhook.MaxAttempts
}

// testOptions leave a starved machine time enough that no attempt is cut and no claim runs out.
var testOptions = alert.DispatcherOptions{
	Hold:    2 * time.Minute,
	Poll:    50 * time.Millisecond,
	NextTry: quick,
	Gate: webhook.GateRule{
		Concurrent: 4,
		Breaker:    webhook.BreakerRule{Failures: 20, Cooldown: 50 * time.Millisecond, MaxCooldown: time.Second},
	},
}

// claim returns what whoever holds an endpoint would send.
func claim(t *testing.T, s *store.Store, id partner.ID, endpoint alert.EndpointID, limit int) []alert.Delivery {
	t.Helper()
	ctx := context.Background()
	open, err := s.Alerts.OpenDeliveries(ctx, id, endpoint, 0, limit)
	if err != nil {
		t.Fatal(err)
	}
	var due []alert.Delivery
	for _, o := range open {
		if o.Due {
			due = append(due, o.Delivery)
		}
	}
	list, err := s.Alerts.WithBodies(ctx, id, due)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// run starts a dispatcher and returns how to stop it.
func (m *mailer) run(t *testing.T, opts alert.DispatcherOptions) (stop func()) {
	t.Helper()
	return m.runWith(t, loopback, opts)
}

func (m *mailer) runWith(t *testing.T, guard *webhook.Guard, opts alert.DispatcherOptions) (stop func()) {
	t.Helper()
	httpClient := guard.NewClient(webhook.ClientOptions{Timeout: time.Minute})
	d := alert.NewDispatcher(m.Alerts, httpClient, m.clock.Now, slog.New(slog.NewTextHandler(t.Output(), nil)), opts)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.Run(ctx); close(done) }()
	var once sync.Once
	stop = func() { once.Do(func() { cancel(); <-done; httpClient.CloseIdleConnections() }) }
	t.Cleanup(stop)
	return stop
}

// wait polls until cond holds.
func wait(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestEventReachesItsEndpoint(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		all, some := newReceiver(t, nil), newReceiver(t, nil)
		m.endpoint(t, all)
		m.endpoint(t, some, "case.status_changed")
		m.run(t, testOptions)
		leak := m.publish(t, alert.LeakDetected, "ana")
		moved := m.publish(t, alert.CaseStatusChanged, "ana")
		wait(t, "the events", func() bool { return len(all.received()) == 2 && len(some.received()) == 1 })
		got := all.received()
		if got[0].ID != string(leak.ID) || got[1].ID != string(moved.ID) || some.received()[0].ID != string(moved.ID) {
			t.Errorf("got %v", got)
		}
		if len(all.bad)+len(some.bad) > 0 {
			t.Error(all.bad, some.bad)
		}
	})
}

// TestRevivedEndpointGetsAllThatWaits: when an endpoint that was given up answers again, deliveries that were tried in
// vain are due at once; those of other endpoints keep their time.
func TestRevivedEndpointGetsAllThatWaits(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		back := m.endpoint(t, newReceiver(t, func(client.WebhookEvent, int) int { return 200 }))
		m.endpoint(t, newReceiver(t, func(client.WebhookEvent, int) int { return 200 }))
		for i := range 5 {
			m.publish(t, alert.LeakDetected, fmt.Sprint("p", i))
		}
		m.exec(
			t,
			fmt.Sprintf(
				`UPDATE delivery SET attempts = 4, next_at = %d WHERE seq > 1`,
				m.clock.Now().Add(time.Hour).UnixMicro(),
			),
		)
		open, err := m.Store.Alerts.OpenDeliveries(ctx, m.partner, back.ID, 0, 10)
		if err != nil || len(open) == 0 {
			t.Fatal(open, err)
		}
		now := m.clock.Now()
		result := alert.Result{
			Delivery: open[0].Delivery,
			At:       now,
			Outcome:  &webhook.Outcome{Status: 200},
			State:    alert.Delivered,
			Attempts: 1,
			Now:      now,
			Revived:  true,
		}
		if err := m.Store.Alerts.RecordResults(ctx, "test", []alert.Result{result}); err != nil {
			t.Fatal(err)
		}
		late := fmt.Sprintf("state = 'pending' AND next_at > %d", m.clock.Now().UnixMicro())
		ours := m.countWhere(t, "delivery", late+" AND endpoint_id = '"+string(back.ID)+"'")
		all := m.countWhere(t, "delivery", late)
		if ours != 0 || all != 4 {
			t.Errorf("%d still wait at the revived endpoint, %d at both", ours, all)
		}
	})
}
