package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

var killOptions = alert.DispatcherOptions{
	Poll: 50 * time.Millisecond,
	Gate: webhook.GateRule{
		Concurrent: 4,
		Breaker: webhook.BreakerRule{
			Failures:    8,
			Cooldown:    20 * time.Millisecond,
			MaxCooldown: 100 * time.Millisecond,
		},
	},
	NextTry: func(attempts int, now time.Time, _ time.Duration) (time.Time, bool) {
		return now.Add(time.Duration(attempts) * 100 * time.Millisecond), true
	},
}

// TestWorkerProcess is the worker that TestKilledWorkers starts and kills: this test binary, called again with an
// address.
func TestWorkerProcess(t *testing.T) {
	address, folder := os.Getenv("VIGIA_TEST_WORKER"), os.Getenv("VIGIA_TEST_FOLDER")
	if address == "" {
		return
	}
	ctx := context.Background()
	db, err := sqldb.OpenDatabase(ctx, address, sqldb.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	root, err := seal.OpenRoot(filepath.Join(folder, "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := store.OpenKeys(ctx, db, root, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s := store.NewStore(db, keys, time.Now, leak.Judge{})
	client := loopback.NewClient(webhook.ClientOptions{Timeout: 400 * time.Millisecond})
	opts := killOptions
	opts.Worker = os.Getenv("VIGIA_TEST_NAME")
	opts.Observe = func(webhook.Action, webhook.Outcome) { fmt.Println(opts.Worker) }
	fmt.Println("ready")
	alert.NewDispatcher(s.Alerts, client, time.Now, slog.New(slog.DiscardHandler), opts).Run(ctx)
}

// moody is a receiver that treats three attempts in ten badly: it fails, hangs, sends elsewhere, or takes its time.
type moody struct {
	*httptest.Server
	elsewhere atomic.Int64

	mu sync.Mutex
	// moods are those of the next attempts. Of every forty each comes once, in an order of chance: whether it was bad
	// often enough is no matter of luck.
	moods []int
	// taken counts the good answers per event.
	taken     map[string]int
	bad, hung int
}

func newMoody(t *testing.T) *moody {
	t.Helper()
	m := &moody{taken: map[string]int{}}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			m.elsewhere.Add(1)
			return
		}
		mood := m.mood()
		switch {
		case mood < 4:
			w.WriteHeader(http.StatusInternalServerError)
		case mood < 6: // hangs until the caller goes
			_, _ = http.MaxBytesReader(w, r.Body, 1<<20).Read(make([]byte, 1<<16))
			<-r.Context().Done()
		case mood < 9:
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		default:
			m.take(w, r, mood < 12)
			return
		}
		m.mu.Lock()
		m.bad++
		if mood >= 4 && mood < 6 {
			m.hung++
		}
		m.mu.Unlock()
	}))
	t.Cleanup(m.Close)
	return m
}

// mood is how the next attempt is treated.
func (m *moody) mood() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.moods) == 0 {
		m.moods = rand.Perm(40)
	}
	mood := m.moods[0]
	m.moods = m.moods[1:]
	return mood
}

// take says yes, slowly if asked to. A caller that is gone by then was not told.
func (m *moody) take(w http.ResponseWriter, r *http.Request, slowly bool) {
	_, _ = http.MaxBytesReader(w, r.Body, 1<<20).Read(make([]byte, 1<<16))
	if slowly {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Duration(rand.IntN(200)) * time.Millisecond):
		}
	}
	m.mu.Lock()
	m.taken[r.Header.Get("webhook-id")]++
	m.mu.Unlock()
}

func (m *moody) received() (distinct, repeats, bad int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.taken {
		repeats += n - 1
	}
	return len(m.taken), repeats, m.bad
}

// TestKilledWorkers: events go to a receiver that is bad for 30 % of attempts while of two worker processes the one
// that sends is killed again and again. None is lost, no other id appears, and a kill repeats no more than its worker
// may have sent without a record on disk. VIGIA_TEST_LONG makes it 10,000 events and 50 kills.
func TestKilledWorkers(t *testing.T) {
	events, kills := 300, 3
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		events, kills = 10_000, 50
	}
	eachMailer(t, func(t *testing.T, m *mailer) {
		r := newMoody(t)
		if _, err := m.endpoints.CreateEndpoint(context.Background(), m.partner, r.URL+"/", nil, loopback); err != nil {
			t.Fatal(err)
		}
		published := map[string]bool{}
		var batch []alert.Event
		for i := range events {
			e := alert.NewEvent(
				m.partner,
				alert.LeakDetected,
				partner.UserHash(fmt.Sprint("pessoa", i%(events/4))),
				time.Now(),
				map[string]int{"n": i},
			)
			published[string(e.ID)] = true
			batch = append(batch, e)
		}
		if err := m.Alerts.AddEvents(context.Background(), m.partner, batch...); err != nil {
			t.Fatal(err)
		}
		workers, said := map[string]*exec.Cmd{}, &reports{ready: map[string]bool{}}
		for kill := range 2 {
			workers[fmt.Sprint("w", kill)] = startWorker(t, m, fmt.Sprint("w", kill), said)
		}
		var waits []time.Duration // from each kill to the next sender
		for kill := 1; kill <= kills; kill++ {
			progress(t, r, kill*events/(kills+2)+rand.IntN(30)) // at another moment of the work each time
			var victim string
			wait(t, "a worker that sends beside one that is ready", func() bool {
				ready := false
				victim, ready = said.sender(workers)
				return workers[victim] != nil && ready
			})
			killed := time.Now()
			if err := workers[victim].Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = workers[victim].Wait() // it was killed, so it says so
			delete(workers, victim)
			wait(t, "another sender", func() bool { name, _ := said.sender(workers); return workers[name] != nil })
			waits = append(waits, time.Since(killed))
			name := fmt.Sprint("w", kill+1)
			workers[name] = startWorker(t, m, name, said)
		}
		// Two seconds is what most kills take. A machine that is at something else may be late after one of them; where
		// a lock or a lease has to run out, all are late.
		if slices.Sort(waits); waits[len(waits)/2] > 2*time.Second {
			t.Errorf("killed workers' endpoints were taken up after %s", waits)
		}
		progress(t, r, events)
		wait(t, "the last results", func() bool { return m.countWhere(t, "delivery", "state <> 'delivered'") == 0 })
		distinct, repeats, bad := r.received()
		t.Logf(
			"%d events, %d kills: %d bad answers, %d repeats, taken up after at most %s",
			events,
			kills,
			bad,
			repeats,
			waits[len(waits)-1],
		)
		if distinct != events || r.elsewhere.Load() != 0 {
			t.Errorf("%d of %d events arrived, %d requests followed a redirect", distinct, events, r.elsewhere.Load())
		}
		r.mu.Lock() // an attempt that its sender gave up may come to the receiver only now
		for id := range r.taken {
			if !published[id] {
				t.Errorf("%s was never published", id)
			}
		}
		// An answer that a starved machine brings after the time-out is repeated too, and the sender has noted that:
		// such time-outs are those that the receiver did not make by hanging.
		late := max(0, m.countWhere(t, "attempt", "failure = 'timeout'")-r.hung)
		r.mu.Unlock()
		if most := kills * alert.Unrecorded(killOptions.Gate.Concurrent); repeats > most+late {
			t.Errorf(
				"%d repeats of %d events: %d kills explain %d, late answers %d",
				repeats,
				events,
				kills,
				most,
				late,
			)
		}
		if bad < events/6 {
			t.Errorf("the receiver was bad only %d times", bad)
		}
	})
}

// progress waits for that many events. There is no limit but that something arrives every now and then.
func progress(t *testing.T, r *moody, want int) {
	t.Helper()
	last, since := 0, time.Now()
	for {
		got, _, _ := r.received()
		if got >= want {
			return
		}
		if got != last {
			last, since = got, time.Now()
		}
		if time.Since(since) > time.Minute {
			t.Fatalf("nothing arrives any more after %d of %d events", got, want)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// reports are what workers say on their outputs: that they are ready, and their name for every attempt.
type reports struct {
	mu    sync.Mutex
	last  string
	ready map[string]bool
}

// sender is who made the last attempt, and whether another is ready to take over.
func (r *reports) sender(workers map[string]*exec.Cmd) (name string, ready bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range workers {
		ready = ready || other != r.last && r.ready[other]
	}
	return r.last, ready
}

// listen reads what a worker says until it ends.
func (r *reports) listen(name string, from io.Reader) {
	for lines := bufio.NewScanner(from); lines.Scan(); {
		r.mu.Lock()
		if lines.Text() == "ready" {
			r.ready[name] = true
		} else {
			r.last = lines.Text()
		}
		r.mu.Unlock()
	}
}

func startWorker(t *testing.T, m *mailer, name string, said *reports) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWorkerProcess$")
	cmd.Env = append(
		os.Environ(),
		"VIGIA_TEST_WORKER="+m.env.Address,
		"VIGIA_TEST_FOLDER="+m.env.Folder,
		"VIGIA_TEST_NAME="+name,
	)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go said.listen(name, out)
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone already
		_ = cmd.Wait()
	})
	return cmd
}
