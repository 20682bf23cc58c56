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

	"vigia/internal/partner"
	"vigia/internal/webhook"
)

// fakeQueue hands out one endpoint's deliveries once and remembers what came of them. The tests on a real database are in package
// store; this one can fail at will and lives in made-up time.
type fakeQueue struct {
	mu      sync.Mutex
	waiting []Delivery
	results []Result
	// broken makes that many recordings fail.
	broken int
	// breakAt makes the database go away for good when that many results are kept.
	breakAt int
}

func newFakeQueue(n int) *fakeQueue {
	q := &fakeQueue{}
	for i := range n {
		q.waiting = append(q.waiting, Delivery{Partner: "p", Endpoint: "e", Seq: int64(i + 1), Event: "evt_1", Body: []byte("{}")})
	}
	return q
}

func (q *fakeQueue) DueEndpoints(context.Context) ([]EndpointRef, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil, nil
	}
	return []EndpointRef{{Partner: "p", Endpoint: "e"}}, nil
}

func (q *fakeQueue) ClaimDeliveries(_ context.Context, _ string, until time.Time, wants []Want) ([]Batch, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(wants[0].Limit, len(q.waiting))
	list := q.waiting[:n]
	q.waiting = q.waiting[n:]
	for i := range list {
		list[i].Until = until
	}
	secret, err := webhook.NewSecret(strings.NewReader(strings.Repeat("k", 32)))
	return []Batch{{Endpoint: Endpoint{ID: "e", Partner: "p", URL: "https://partner.example/", Keys: webhook.Keyring{{Key: secret}}}, Deliveries: list}}, err
}

func (q *fakeQueue) RecordResults(_ context.Context, _ string, results []Result) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.broken > 0 {
		q.broken--
		return errors.New("the database is away")
	}
	if q.breakAt > 0 && len(q.results) >= q.breakAt {
		return errors.New("the database is away")
	}
	q.results = append(q.results, results...)
	return nil
}

func (q *fakeQueue) UpdateEndpoint(context.Context, partner.ID, EndpointID, func(*Endpoint) error) (Endpoint, error) {
	return Endpoint{}, errAlive
}

func (q *fakeQueue) Due() <-chan struct{} { return nil }

// count returns how many deliveries were tried, how many went back untried, and how many arrived.
func (q *fakeQueue) count() (tried, back, arrived int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.results {
		switch {
		case r.Outcome == nil:
			back++
		case r.State == Delivered:
			arrived++
			tried++
		default:
			tried++
		}
	}
	return tried, back, arrived
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
		NextTry: plainSchedule, Gate: webhook.GateRule{Concurrent: slots, Breaker: webhook.DefaultBreaker},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.Run(ctx); close(done) }()
	return func() { cancel(); <-done }
}

// TestRecordingIsRepeated: while the database is away nothing more is sent than there are senders, and nothing is forgotten.
func TestRecordingIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(100)
		q.broken = 5
		var sent atomic.Int64
		stop := dispatch(q, func(r *http.Request) (*http.Response, error) {
			sent.Add(1)
			return answer(http.StatusOK)(r)
		}, 2)
		time.Sleep(300 * time.Millisecond) // the database is still away
		if n := sent.Load(); n != 2 {
			t.Errorf("%d were sent before the first was recorded", n)
		}
		time.Sleep(time.Minute)
		stop()
		if tried, back, arrived := q.count(); tried != 100 || back != 0 || arrived != 100 {
			t.Errorf("%d tried, %d back, %d arrived", tried, back, arrived)
		}
	})
}

// TestStopGivesBack: a stop lets attempts finish for a while, cuts those that do not, and gives the rest back untried.
func TestStopGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(50)
		stop := dispatch(q, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done() // hangs
			return nil, r.Context().Err()
		}, 3)
		time.Sleep(time.Second)
		before := time.Now()
		stop()
		if took := time.Since(before); took > 6*time.Second {
			t.Errorf("stopping took %s", took)
		}
		tried, back, arrived := q.count()
		if arrived != 0 || tried != 3 || tried+back+len(q.waiting) != 50 {
			t.Errorf("%d tried, %d back, %d arrived, %d never claimed", tried, back, arrived, len(q.waiting))
		}
		for _, r := range q.results {
			if r.State != Pending || r.Attempts != 0 {
				t.Errorf("a delivery that a stop cut is %s with %d tries", r.State, r.Attempts)
			}
		}
	})
}

// TestStopWithoutDatabase: a stop ends although what goes back untried cannot be recorded.
func TestStopWithoutDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(40)
		q.breakAt = 5 // where the breaker opens: nobody waits for what is given back then
		stop := dispatch(q, answer(http.StatusInternalServerError), 1)
		time.Sleep(20 * time.Second)
		before := time.Now()
		stop()
		if took := time.Since(before); took > 20*time.Second {
			t.Errorf("stopping took %s", took)
		}
		if tried, back, _ := q.count(); tried != 5 || back != 0 {
			t.Errorf("%d tried, %d back: the database was meant to be away", tried, back)
		}
	})
}

// TestBreakerHoldsBack: after five failures in a row the rest goes back without a try, and a probe follows half a minute later.
func TestBreakerHoldsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(40)
		stop := dispatch(q, answer(http.StatusInternalServerError), 1)
		time.Sleep(20 * time.Second)
		tried, back, _ := q.count()
		if tried != 5 || back == 0 {
			t.Errorf("%d tried, %d back", tried, back)
		}
		time.Sleep(20 * time.Second)
		if again, _, _ := q.count(); again != 6 {
			t.Errorf("%d tries after the first probe was due", again)
		}
		stop()
	})
}

// TestOldClaimsAreNotBegun: a claim that could run out during an attempt goes back.
func TestOldClaimsAreNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(20)
		stop := dispatch(q, func(r *http.Request) (*http.Response, error) {
			time.Sleep(14 * time.Second)
			return answer(http.StatusOK)(r)
		}, 1)
		time.Sleep(2 * time.Minute)
		stop()
		for _, r := range q.results {
			if r.Outcome != nil && r.At.Add(15*time.Second).After(r.Delivery.Until) {
				t.Errorf("an attempt began %s before its claim ended", r.Delivery.Until.Sub(r.At))
			}
		}
		if tried, _, _ := q.count(); tried == 0 {
			t.Error("nothing was tried")
		}
	})
}
