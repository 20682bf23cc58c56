package alert

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
)

// fakeQueue has one endpoint's deliveries and remembers what came of them. The tests on a real database are in package
// store; this one can fail at will and lives in made-up time.
type fakeQueue struct {
	mu      sync.Mutex
	rows    []Delivery
	nextAt  map[int64]time.Time // of pending ones
	results []Result
	// broken makes that many recordings fail.
	broken int
	// breakAt makes the database go away for good when that many results are kept.
	breakAt int
	// away makes the database unreachable, taken has another worker hold the endpoint.
	away, taken bool
	silent      bool // nobody answers whether the hold stands
	held        bool
	stoodAt     time.Time // when the hold was last made sure of
	// looking is called whenever open deliveries are read.
	looking func() error
	// asked are the looks, takes how often the endpoint was taken, groups how many results each transaction had.
	asked  []look
	takes  int
	groups []int
	// endpoint is what the row of the endpoint says.
	endpoint Endpoint
}

// look is one reading of open deliveries.
type look struct {
	after int64
	limit int
}

func newFakeQueue(n int) *fakeQueue {
	q := &fakeQueue{nextAt: map[int64]time.Time{}}
	for i := range n {
		q.rows = append(
			q.rows,
			Delivery{Partner: "p", Endpoint: "e", Seq: int64(i + 1), Event: "evt_1", Body: []byte("{}")},
		)
		q.nextAt[int64(i+1)] = time.Time{}
	}
	return q
}

var errAway = errors.New("the database is away")

func (q *fakeQueue) set(change func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	change()
}

func (q *fakeQueue) DueEndpoints(context.Context) ([]EndpointRef, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var newest int64
	for seq, at := range q.nextAt {
		if !at.After(time.Now()) {
			newest = max(newest, seq)
		}
	}
	if newest == 0 {
		return nil, nil
	}
	return []EndpointRef{{Partner: "p", Endpoint: "e", Newest: newest}}, nil
}

func (q *fakeQueue) EnabledEndpoints(context.Context, []EndpointRef) ([]Endpoint, error) {
	secret, err := webhook.NewSecret(strings.NewReader(strings.Repeat("k", 32)))
	return []Endpoint{{ID: "e", Partner: "p", URL: "https://partner.example/", Keys: webhook.Keyring{{Key: secret}}}}, err
}

func (q *fakeQueue) NewHolds() Holds { return fakeHolds{q} }

// fakeHolds are the holds of the one dispatcher; another one has the endpoint while taken is set.
type fakeHolds struct{ q *fakeQueue }

func (h fakeHolds) TakeHold(_ context.Context, ids []EndpointID) ([]EndpointID, error) {
	h.q.mu.Lock()
	defer h.q.mu.Unlock()
	if h.q.away || h.q.silent {
		return nil, errAway
	}
	if h.q.taken {
		return nil, nil
	}
	if !h.q.held {
		h.q.takes++
	}
	h.q.held, h.q.stoodAt = true, time.Now()
	return ids, nil
}

func (h fakeHolds) ReleaseHold(context.Context, []EndpointID) error {
	h.q.set(func() { h.q.held = false })
	return nil
}

func (h fakeHolds) ConfirmHeld(ctx context.Context) error {
	for silent := true; silent && ctx.Err() == nil; {
		if h.q.set(func() { silent = h.q.silent }); silent {
			time.Sleep(100 * time.Millisecond)
		}
	}
	h.q.mu.Lock()
	defer h.q.mu.Unlock()
	if h.q.away || h.q.taken {
		h.q.held = false
		return errAway
	}
	h.q.stoodAt = time.Now()
	return nil
}

func (h fakeHolds) Close() error { return h.ReleaseHold(context.Background(), nil) }

func (q *fakeQueue) OpenDeliveries(
	_ context.Context,
	_ partner.ID,
	_ EndpointID,
	after int64,
	limit int,
) ([]Open, error) {
	q.set(func() { q.asked = append(q.asked, look{after, limit}) })
	if q.looking != nil {
		if err := q.looking(); err != nil {
			return nil, err
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var open []Open
	for _, d := range q.rows {
		at, pending := q.nextAt[d.Seq]
		if due := !at.After(time.Now()); pending && d.Seq > after && len(open) < limit && (due || d.Ordered) {
			open = append(open, Open{Delivery: d, Due: due})
		}
	}
	return open, nil
}

func (q *fakeQueue) WithBodies(_ context.Context, _ partner.ID, list []Delivery) ([]Delivery, error) {
	return list, nil
}

func (q *fakeQueue) RecordResults(_ context.Context, _ string, results []Result) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.broken > 0 {
		q.broken--
		return errAway
	}
	if q.breakAt > 0 && len(q.results) >= q.breakAt {
		return errAway
	}
	q.groups = append(q.groups, len(results))
	for _, r := range results {
		if delete(q.nextAt, r.Delivery.Seq); r.State == Pending {
			q.nextAt[r.Delivery.Seq] = r.NextAt
		}
	}
	q.results = append(q.results, results...)
	return nil
}

func (q *fakeQueue) UpdateEndpoint(
	_ context.Context,
	_ partner.ID,
	_ EndpointID,
	change func(*Endpoint) error,
) (Endpoint, error) {
	e := q.endpoint
	if err := change(&e); err != nil {
		return Endpoint{}, err
	}
	q.endpoint = e
	return e, nil
}

func (q *fakeQueue) DueSignal() <-chan struct{} { return nil }

// count returns how many tries were recorded, and how many deliveries arrived.
func (q *fakeQueue) count() (tried, arrived int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.results {
		if r.State == Delivered {
			arrived++
		}
	}
	return len(q.results), arrived
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}, nil
	}
}

func dispatch(q Queue, rt roundTrip, slots int) (stop func()) {
	d := NewDispatcher(q, &http.Client{Transport: rt}, time.Now, slog.New(slog.DiscardHandler), DispatcherOptions{
		NextTry: plainSchedule, Gate: webhook.GateRule{Concurrent: slots, Breaker: slowBreaker},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.Run(ctx); close(done) }()
	return func() { cancel(); <-done }
}

// TestRecordingIsRepeated: while the database is away nothing more is sent than may be on its way to disk, and nothing
// is forgotten.
func TestRecordingIsRepeated(t *testing.T) {
	for _, c := range []struct{ events, slots, unrecorded int }{{100, 1, 6}, {100, 4, 24}, {1000, 16, 96}} {
		synctest.Test(t, func(t *testing.T) {
			q := newFakeQueue(c.events)
			q.broken = 5
			var sent atomic.Int64
			stop := dispatch(q, func(r *http.Request) (*http.Response, error) {
				sent.Add(1)
				return answer(http.StatusOK)(r)
			}, c.slots)
			time.Sleep(300 * time.Millisecond) // the database is still away
			if n := int(sent.Load()); n != c.unrecorded || n != Unrecorded(c.slots) {
				t.Errorf("%d slots: %d were sent before the first was recorded", c.slots, n)
			}
			time.Sleep(time.Minute)
			stop()
			if tried, arrived := q.count(); tried != c.events || arrived != c.events || int(sent.Load()) != c.events {
				t.Errorf("%d slots: %d sent, %d tried, %d arrived", c.slots, sent.Load(), tried, arrived)
			}
		})
	}
}

// TestStopLetsGo: a stop lets attempts finish for a while, cuts those that do not, begins no other, and leaves the
// endpoint to whoever wants it.
func TestStopLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(50)
		stop := dispatch(q, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done() // hangs
			return nil, r.Context().Err()
		}, 3)
		time.Sleep(time.Second)
		before := time.Now()
		stop()
		if took := time.Since(before); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("stopping took %s", took)
		}
		if tried, arrived := q.count(); arrived != 0 || tried != 3 || len(q.nextAt) != 50 || q.held {
			t.Errorf("%d tried, %d arrived, %d left; held: %t", tried, arrived, len(q.nextAt), q.held)
		}
		for _, r := range q.results {
			if r.State != Pending || r.Attempts != 0 {
				t.Errorf("a delivery that a stop cut is %s with %d tries", r.State, r.Attempts)
			}
		}
	})
}

// TestStopWithoutDatabase: a stop ends although results that no sender waits for cannot be recorded.
func TestStopWithoutDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(1000)
		q.breakAt = 5
		stop := dispatch(q, answer(http.StatusOK), 16)
		time.Sleep(20 * time.Second)
		q.set(func() { q.away = true })
		before := time.Now()
		stop()
		if took := time.Since(before); took > 20*time.Second {
			t.Errorf("stopping took %s", took)
		}
		if tried, _ := q.count(); tried < 5 || tried >= 1000 {
			t.Errorf("%d recorded: the database was meant to be away", tried)
		}
	})
}

// slowBreaker leaves a dead endpoint alone for longer than dispatchers keep one that they send nothing to.
var slowBreaker = webhook.BreakerRule{Failures: 5, Cooldown: 30 * time.Second, MaxCooldown: 10 * time.Minute}

// TestBreakerHoldsBack: after five failures in a row the rest is not tried, and a probe follows half a minute later.
// Meanwhile another worker may have the endpoint.
func TestBreakerHoldsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(40)
		stop := dispatch(q, answer(http.StatusInternalServerError), 1)
		time.Sleep(20 * time.Second)
		if tried, _ := q.count(); tried != 5 {
			t.Errorf("%d tried", tried)
		}
		q.set(func() {
			if q.held {
				t.Error("the endpoint is held though nothing is sent to it")
			}
		})
		time.Sleep(20 * time.Second)
		if again, _ := q.count(); again != 6 {
			t.Errorf("%d tries after the first probe was due", again)
		}
		stop()
	})
}

// TestNothingBeginsWithoutHold: when nobody answers whether the hold on an endpoint stands, nothing is sent after its
// time, until somebody does.
func TestNothingBeginsWithoutHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(100)
		var last atomic.Pointer[time.Time]
		stop := dispatch(q, func(r *http.Request) (*http.Response, error) {
			now := time.Now()
			last.Store(&now)
			time.Sleep(time.Second)
			return answer(http.StatusOK)(r)
		}, 1)
		time.Sleep(15 * time.Second)
		if tried, _ := q.count(); tried < 14 {
			t.Errorf("%d tried in 15 s: the hold did not last", tried)
		}
		q.set(func() {
			if q.takes != 1 {
				t.Errorf("an endpoint in use was taken %d times instead of being held", q.takes)
			}
		})
		var until time.Time
		q.set(func() { q.silent, until = true, q.stoodAt.Add(4*time.Second) })
		time.Sleep(time.Minute)
		before, _ := q.count()
		if last.Load().After(until) {
			t.Errorf("an attempt began %s after the hold had ended", last.Load().Sub(until))
		}
		q.set(func() { q.silent = false })
		time.Sleep(10 * time.Second)
		if after, _ := q.count(); after < before+5 {
			t.Error("nothing is sent though the database is back")
		}
		stop()
	})
}

// TestLostEndpointIsLeft: when another worker has an endpoint, what was read for it is forgotten; when it is free again
// the rest is sent.
func TestLostEndpointIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(40)
		var sent atomic.Int64
		stop := dispatch(q, func(r *http.Request) (*http.Response, error) {
			sent.Add(1)
			time.Sleep(time.Second)
			return answer(http.StatusOK)(r)
		}, 2)
		time.Sleep(5 * time.Second)
		q.set(func() { q.taken = true })
		time.Sleep(2 * time.Second)
		before := sent.Load()
		time.Sleep(20 * time.Second)
		if n := sent.Load(); n != before {
			t.Errorf("%d were sent to an endpoint that another holds", n-before)
		}
		q.set(func() { q.taken = false })
		time.Sleep(30 * time.Second)
		stop()
		if _, arrived := q.count(); arrived != 40 || sent.Load() != 40 {
			t.Errorf("%d arrived, %d sent", arrived, sent.Load())
		}
	})
}

// TestLookIsGivenUp: a lane that is emptied while its deliveries are read takes none of them, and the look ends however
// many there are.
func TestLookIsGivenUp(t *testing.T) {
	q := newFakeQueue(3 * maxLook)
	d := NewDispatcher(q, nil, time.Now, slog.New(slog.DiscardHandler), DispatcherOptions{NextTry: plainSchedule})
	l := newEndpointLane(EndpointRef{Partner: "p", Endpoint: "e"}, slots(4))
	l.batch = 4
	l.ours, d.heldUntil = true, time.Now().Add(time.Hour)
	l.queueDeliveries(q.rows[:1])
	looks := 0
	q.looking = func() error {
		if looks++; looks == 1 {
			d.dropUntried(l, l.takeChain())
		}
		if looks > 10 {
			return errors.New("it looks and looks")
		}
		return nil
	}
	if err := d.readDueDeliveries(t.Context(), l); err != nil || l.queued != 0 || looks != 1 {
		t.Errorf("%d looks, %d queued: %v", looks, l.queued, err)
	}
	if err := d.readDueDeliveries(t.Context(), l); err != nil || l.queued != 4 {
		t.Errorf("%d queued by the next look: %v", l.queued, err)
	}
}
