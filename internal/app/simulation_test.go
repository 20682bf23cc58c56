package app_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/web/api"
)

// TestSimulation lives through many short lives of the service, each drawn from a number: two partners enrol people and
// watch addresses over a network that loses requests and answers, breaches are published and matched, and alerts are
// pushed to receivers that fail, by workers that die. Each call of the store may fail without having been done, or fail
// and be done all the same. The rules, the partner API, the dispatcher and the SQL are the real ones, the clock is not:
// an hour takes milliseconds.
//
// After a minute the faults end and all has to come right: what was acknowledged is there once, every leak of a watched
// address was found once and told once under one id, a person's alerts arrived in order, and no partner saw a thing of
// the other.
//
// The number decides what is asked and which calls fail, by their name and their time; which goroutine goes first is
// left to the runtime. VIGIA_TEST_SEED runs one number.
func TestSimulation(t *testing.T) {
	tp := newTemplate(t)
	if text := os.Getenv("VIGIA_TEST_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		tp.live(t, seed)
		return
	}
	limit, until := uint64(100_000), time.Now().Add(20*time.Minute)
	if os.Getenv("VIGIA_TEST_LONG") == "" { // a fast machine tries no number that a slow one has not
		limit, until = 40, time.Now().Add(4*time.Second)
	}
	start := time.Now()
	var next, done atomic.Uint64
	for worker := range 2 {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			for !t.Failed() && time.Now().Before(until) || done.Load() < 2 {
				seed := next.Add(1)
				if seed > limit {
					return
				}
				tp.live(t, seed)
				done.Add(1)
			}
		})
	}
	t.Cleanup(func() {
		tp.mu.Lock()
		defer tp.mu.Unlock()
		t.Logf("%d seeds, %.1f a second: %v", done.Load(), float64(done.Load())/time.Since(start).Seconds(), tp.seen)
	})
}

// template is what every life begins with: two partners with a plan and an endpoint, and two segments that wait to be
// published.
type template struct {
	folder, file string
	keys         *seal.Keys
	partners     [2]simPartner
	files        *library.Files
	digest       [simBreaches]string
	metrics      *telemetry.Metrics
	// seen counts what happened over all lives, to show that something did.
	mu   sync.Mutex
	seen map[string]int
}

type simPartner struct {
	id   partner.ID
	key  string
	host string
}

const (
	simBreaches  = 2
	simAddresses = 8
	simPeople    = 3
	// calm is when the faults end.
	calm = time.Minute
)

func simAddress(n int) string { return fmt.Sprintf("pessoa%d@exemplo.com.br", n) }
func simBreach(n int) string  { return fmt.Sprintf("loja-%d", n) }

func leaked(address, breach int) bool { return address%(breach+2) == 0 }

func newTemplate(t *testing.T) *template {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	// In memory where there is such a folder: what the disk does is for other tests.
	folder, err := os.MkdirTemp("/dev/shm", "vigia-sim")
	if err != nil {
		folder = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	tp := &template{
		folder:  folder,
		file:    filepath.Join(folder, "template.db"),
		metrics: telemetry.NewMetrics(),
		seen:    map[string]int{},
	}
	root, err := seal.OpenOrCreateRoot(filepath.Join(folder, "keys.json"))
	must(err)
	clock := storetest.NewClock()
	e := storetest.ReopenStore(t, filepath.Join(folder, "first.db"), folder, root, clock)
	tp.keys = e.Keys
	for i := range tp.partners {
		p, cred, err := partner.NewRegistry(e.Store.Partners, clock.Now, nil).CreatePartner(ctx, fmt.Sprint("Banco ", i), partner.Live, partner.Settings{RatePerSecond: 1_000_000, Burst: 1_000_000})
		must(err)
		_, err = plan.NewCatalogue(e.Store.Plans, clock.Now).CreatePlan(ctx, plan.Plan{ID: "ouro", Partner: p.ID, Name: "Ouro"})
		must(err)
		host := fmt.Sprintf("banco%d.example", i)
		_, err = alert.NewEndpoints(e.Store.Alerts, clock.Now, nil).CreateEndpoint(ctx, p.ID, "https://"+host+"/", nil, anyAddress{})
		must(err)
		tp.partners[i] = simPartner{p.ID, cred.APIKey, host}
	}
	must(e.DB.CopyFileTo(ctx, tp.file))
	tp.files, err = library.OpenFiles(filepath.Join(folder, "corpora"), "")
	must(err)
	for b := range simBreaches {
		path := filepath.Join(folder, fmt.Sprintf("new-%d.seg", b))
		w, err := segment.CreateSegment(path, segment.Options{Width: segment.Bits64})
		must(err)
		for a := range simAddresses {
			if leaked(a, b) {
				must(w.AddKeys([]uint64{tp.keys.Fingerprint(emailKind, []byte(simAddress(a)))}))
			}
		}
		s, err := w.Commit(ctx)
		must(err)
		tp.digest[b] = s.Digest.String()
		must(tp.files.PublishFile(ctx, simBreach(b)+".seg", path))
	}
	return tp
}

type anyAddress struct{}

func (anyAddress) CheckTargetURL(context.Context, string) error { return nil }

// life is one run.
type life struct {
	*testing.T
	tp      *template
	seed    uint64
	begin   time.Time
	shift   atomic.Int64
	db      *sqldb.DB
	store   *store.Store
	handler *api.Server
	library *leak.Library

	mu sync.Mutex
	// enrolled and watched are what was acknowledged, by partner.
	enrolled [2]map[string]bool
	watched  [2]map[string]bool // user and address
	received []receipt
	tries    map[string]int // attempts by event
	counts   map[string]int
}

// receipt is an alert that a receiver took, and how often each event had been tried by then.
type receipt struct {
	host, id, user string
	body           string
	tried          map[string]int
}

func (l *life) now() time.Time {
	return storetest.Start.Add(time.Since(l.begin) + time.Duration(l.shift.Load()))
}

func (l *life) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[what]++
}

// fate is what becomes of a call.
type fate int

const (
	done fate = iota
	notDone
	doneAndLost
)

// draw decides by the seed, the name of a call and the time, not by its turn: so another order of goroutines meets the
// same faults.
func (l *life) draw(name string) fate {
	since := time.Since(l.begin)
	if since > calm {
		return done
	}
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, l.seed, "/", name, "/", since/(200*time.Millisecond))
	switch n := rand.New(rand.NewPCG(h.Sum64(), l.seed)).IntN(100); {
	case n < 10:
		l.note("not done")
		return notDone
	case n < 20:
		l.note("failed but done")
		return doneAndLost
	}
	return done
}

// live runs one seed in a bubble of its own, whose clock jumps when everybody waits.
func (tp *template) live(t *testing.T, seed uint64) {
	t.Helper()
	file := filepath.Join(tp.folder, fmt.Sprintf("%d.db", seed))
	text, err := os.ReadFile(tp.file)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		l := &life{T: t, tp: tp, seed: seed, begin: time.Now(), tries: map[string]int{}, counts: map[string]int{}}
		db, err := sqldb.OpenDatabase(context.Background(), file, sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		l.db, l.store = db, store.NewStore(db, tp.keys, l.now, leak.Judge{})
		l.run()
		l.verify()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		tp.mu.Lock()
		for k, n := range l.counts {
			tp.seen[k] += n
		}
		tp.mu.Unlock()
		if t.Failed() {
			t.Logf("to see it again: VIGIA_TEST_SEED=%d", seed)
		}
	})
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(file + suffix)
	}
}

func (l *life) run() {
	quiet := slog.New(slog.DiscardHandler)
	f := flaky{l.store.Areas, l, new(atomic.Bool)}
	l.library = leak.NewLibrary(f.breaches(), l.tp.files, l.tp.keys, quiet)
	l.handler = api.NewServer(api.Options{
		Gate: partner.NewKeyGate(f.partners(), l.now), Ledger: f, Rules: f.rules(),
		Log: quiet, Metrics: l.tp.metrics, Now: l.now,
	})
	ctx, stop := context.WithCancel(context.Background())
	var workers, clients sync.WaitGroup
	workers.Go(func() { l.dispatch(ctx, quiet) })
	workers.Go(func() { l.work(ctx, f) })
	workers.Go(func() {
		for ctx.Err() == nil {
			if err := l.library.LoadPublished(ctx); err == nil {
				_, _ = l.library.SettleDueLooks(ctx) // looked at again in a moment
			}
			sleep(ctx, 2*time.Second)
		}
	})
	for p := range l.tp.partners {
		l.enrolled[p], l.watched[p] = map[string]bool{}, map[string]bool{}
		clients.Go(func() { l.client(p) })
	}
	clients.Go(func() { l.publish(f) })
	clients.Wait()
	l.settle()
	stop()
	workers.Wait()
	if err := l.library.Close(); err != nil {
		l.Error(err)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// client enrols and watches; what is not answered with a yes is sent again with the same key until it is.
func (l *life) client(p int) {
	chance := rand.New(rand.NewPCG(l.seed, uint64(p)))
	for n := range 6 {
		time.Sleep(time.Duration(chance.Int64N(int64(4 * time.Second))))
		if chance.IntN(2) == 0 {
			var items []string
			for range 1 + chance.IntN(3) {
				cpf := simCPF(chance.IntN(40)) // both partners draw from the same people, and may draw one twice
				items = append(items, fmt.Sprintf(simItem, cpf))
				l.enrolled[p][cpf] = true
			}
			l.insist(p, "/v1/subscriptions", "["+strings.Join(items, ",")+"]", n)
			continue
		}
		user, address := fmt.Sprint("pessoa-", chance.IntN(simPeople)), chance.IntN(simAddresses)
		l.insist(
			p,
			"/v1/cyber/monitoring",
			fmt.Sprintf(`{"value":%q,"type":"email","userHash":%q}`, simAddress(address), user),
			n,
		)
		l.watched[p][user+" "+simAddress(address)] = true
	}
}

func (l *life) insist(p int, path, body string, n int) {
	for try := range 1000 {
		req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		req.Header.Set("x-api-key", l.tp.partners[p].key)
		req.Header.Set("content-type", "application/json")
		req.Header.Set("idempotency-key", fmt.Sprint("pedido-", n))
		got := httptest.NewRecorder()
		way := l.draw("network " + l.tp.partners[p].host)
		if way != notDone {
			l.handler.ServeHTTP(got, req)
		}
		switch {
		case way != done: // nobody was reached, or the answer got lost
		case got.Code == http.StatusOK:
			return
		case got.Code == http.StatusServiceUnavailable, got.Code == http.StatusConflict:
			l.note("refused for now")
		default:
			l.Errorf("seed %d: %s: %d %s", l.seed, path, got.Code, got.Body)
			return
		}
		time.Sleep(time.Duration(300+100*(try%5)) * time.Millisecond)
	}
	l.Errorf("seed %d: %s was never answered", l.seed, path)
}

// publish brings both breaches, as an import does at its end.
func (l *life) publish(f flaky) {
	chance := rand.New(rand.NewPCG(l.seed, 99))
	for b := range simBreaches {
		time.Sleep(time.Duration(chance.Int64N(int64(12 * time.Second))))
		l.shift.Add(int64(b) * int64(5*time.Minute)) // the clock jumps: what was watched before is old by now
		record := leak.Record{State: leak.Importing, Breach: cyber.Breach{
			Name:    simBreach(b),
			Title:   "Loja",
			Date:    storetest.Start.AddDate(0, -1, 0),
			Kind:    cyber.SourceBreach,
			Exposes: []cyber.Exposed{cyber.ExposedEmail},
			AddedAt: l.now(),
		}}
		for _, step := range []func() error{
			func() error { return f.breaches().InsertBreach(context.Background(), record) },
			func() error {
				return f.breaches().PublishBreach(context.Background(), record.Name, leak.Publication{File: record.Name + ".seg", Digest: l.tp.digest[b]})
			},
		} {
			for err := step(); err != nil && !errors.Is(err, leak.ErrBreachExists); err = step() {
				time.Sleep(250 * time.Millisecond)
			}
		}
	}
}

// dispatch runs the dispatcher and, now and then until the calm, kills it: from one moment to the next nothing it does
// counts.
func (l *life) dispatch(ctx context.Context, quiet *slog.Logger) {
	chance := rand.New(rand.NewPCG(l.seed, 7))
	for ctx.Err() == nil {
		dead := new(atomic.Bool)
		d := alert.NewDispatcher(
			flaky{l.store.Areas, l, dead}.alerts(),
			&http.Client{Transport: farEnd{l, dead}},
			l.now,
			quiet,
			alert.DispatcherOptions{
				Poll: 2 * time.Second, Gate: webhook.GateRule{Concurrent: 2, Breaker: webhook.DefaultBreaker},
				NextTry: func(attempts int, now time.Time, _ time.Duration) (time.Time, bool) {
					return now.Add(time.Duration(min(attempts, 5)) * 2 * time.Second), true
				},
			},
		)
		run, kill := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() { d.Run(run); close(ended) }()
		if left := calm - time.Since(l.begin); left > 0 {
			sleep(ctx, 5*time.Second+time.Duration(chance.Int64N(int64(20*time.Second))))
			l.note("worker killed")
			dead.Store(ctx.Err() == nil)
		} else {
			<-ctx.Done()
		}
		kill()
		<-ended
	}
}

// work claims and runs jobs the way a server does. Half of the failures are a death: the job is left to its lease.
func (l *life) work(ctx context.Context, f flaky) {
	m := leak.NewMatcher(f.breaches(), l.tp.files, l.tp.keys, l.now)
	for round := 0; ctx.Err() == nil; round++ {
		worker := fmt.Sprint("w", round)
		jobs, _ := f.jobs().ClaimJobs(ctx, worker, []string{leak.KindMatch}, 4) // what failed is claimed later
		for _, j := range jobs {
			err := m.MatchBreach(
				ctx,
				&job.Run{
					Job:  j,
					Save: func(ctx context.Context, p any) error { return f.jobs().SaveJob(ctx, worker, j.ID, p) },
				},
			)
			switch {
			case err == nil:
				_ = f.jobs().FinishJob(ctx, worker, j, job.Done, "") // a job that could not be finished is done again
			case l.draw("death") != done:
				l.note("job abandoned")
			default:
				_ = f.jobs().FinishJob(ctx, worker, j, job.Ready, err.Error())
			}
		}
		sleep(ctx, 3*time.Second)
	}
}

// settle waits until nothing is left to do.
func (l *life) settle() {
	ctx := context.Background()
	time.Sleep(calm - time.Since(l.begin))
	var left string
	for range 2000 {
		time.Sleep(2 * time.Second)
		pending, err := l.store.Breaches.ListDueLooks(ctx, leak.DuePlace{}, 1)
		jobs, jerr := l.store.Jobs.ListJobs(ctx, leak.KindMatch, 10)
		due, derr := l.undelivered()
		if err != nil || jerr != nil || derr != nil {
			l.Fatal(err, jerr, derr)
		}
		if len(pending) == 0 && due == 0 && len(jobs) == simBreaches &&
			!slices.ContainsFunc(jobs, func(j job.Job) bool { return j.State != job.Done }) {
			return
		}
		left = fmt.Sprintf("%d addresses to settle, %d deliveries, jobs %+v", len(pending), due, jobs)
	}
	l.Errorf("seed %d: an hour after the last fault there is still work left: %s", l.seed, left)
}
