package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subscription"
	"github.com/vigiahq/vigia/internal/web/api"
)

const emailKind = byte(identifier.Email)

const simItem = `{"start_date":"2026-02-01","expiry_date":"","plan_id":"ouro","is_group_plan":false,"group_size":"","benefit_holder":"",` +
	`"beneficiary":{"primary_card":"1","user_card":"2","name":"Ana Souza","cpf":%q,"birth_date":"1990-05-17","gender":"F",` +
	`"email":"ana@exemplo.com.br","phone_number":"5511987654321","address":{"zipcode":"01001000","street":"Rua A","number":"1",` +
	`"neighborhood":"Centro","city":"São Paulo","state":"SP"}}}`

// simCPF is the n-th CPF of nobody, with right check digits.
func simCPF(n int) string {
	s := fmt.Sprintf("%09d", 300_000_000+n)
	for range 2 {
		sum := 0
		for i := range len(s) {
			sum += int(s[i]-'0') * (len(s) + 1 - i)
		}
		s += fmt.Sprint((11 - sum%11) % 11 % 10)
	}
	return s
}

// flaky is the store with calls that fail: undone, or done. Once its owner is dead all of them fail undone.
type flaky struct {
	store.Areas
	life *life
	dead *atomic.Bool
}

// The areas under names that do not hide their methods of the same name.
type (
	thePartners      = store.Partners
	thePlans         = store.Plans
	theSubscriptions = store.Subscriptions
	theMonitoring    = store.Monitoring
	theAlerts        = store.Alerts
	theJobs          = store.Jobs
	theBreaches      = store.Breaches
)

type (
	flakyPartners struct {
		thePartners
		f flaky
	}
	flakyPlans struct {
		thePlans
		f flaky
	}
	flakySubscriptions struct {
		theSubscriptions
		f flaky
	}
	flakyMonitoring struct {
		theMonitoring
		f flaky
	}
	flakyAlerts struct {
		theAlerts
		f flaky
	}
	flakyJobs struct {
		theJobs
		f flaky
	}
	flakyBreaches struct {
		theBreaches
		f flaky
	}
)

func (f flaky) partners() flakyPartners           { return flakyPartners{f.Partners, f} }
func (f flaky) plans() flakyPlans                 { return flakyPlans{f.Plans, f} }
func (f flaky) subscriptions() flakySubscriptions { return flakySubscriptions{f.Subscriptions, f} }
func (f flaky) monitoring() flakyMonitoring       { return flakyMonitoring{f.Monitoring, f} }
func (f flaky) alerts() flakyAlerts               { return flakyAlerts{f.Alerts, f} }
func (f flaky) jobs() flakyJobs                   { return flakyJobs{f.Jobs, f} }
func (f flaky) breaches() flakyBreaches           { return flakyBreaches{f.Breaches, f} }

// rules are those of the API that a simulation uses, over calls that fail.
func (f flaky) rules() api.Rules {
	l := f.life
	return api.Rules{
		Subscriptions: subscription.NewRegistry(f.subscriptions(), f.plans(), f.partners(), l.now),
		Monitoring:    cyber.NewMonitoring(f.monitoring(), f.partners(), l.library, l.tp.keys.Fingerprint, l.now),
	}
}

var errDrawn = errors.New("drawn by the simulation")

func chanced[T any](f flaky, name string, do func() (T, error)) (T, error) {
	var zero T
	if f.dead.Load() {
		return zero, store.ErrUnavailable.Because(errDrawn)
	}
	switch f.life.draw(name) {
	case notDone:
		return zero, store.ErrUnavailable.Because(errDrawn)
	case doneAndLost:
		if _, err := do(); err != nil {
			return zero, err
		}
		return zero, store.ErrUnavailable.Because(errDrawn)
	default:
		return do()
	}
}

func act(f flaky, name string, do func() error) error {
	_, err := chanced(f, name, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (w flakyPartners) KeyByDigest(ctx context.Context, digest []byte) (k partner.Key, p partner.Partner, err error) {
	err = act(w.f, "KeyByDigest", func() error { k, p, err = w.thePartners.KeyByDigest(ctx, digest); return err })
	return k, p, err
}

func (f flaky) Once(
	ctx context.Context,
	id partner.ID,
	c partner.RequestClaim,
	work func(*api.Rules) (partner.Answer, error),
) (a partner.Answer, replayed bool, err error) {
	err = act(f, "Once", func() error {
		a, replayed, err = f.Answers.AnswerOnce(ctx, id, c, func(tx store.Tx) (partner.Answer, error) {
			in := flaky{tx.Areas, f.life, f.dead}.rules()
			return work(&in)
		})
		return err
	})
	if replayed {
		f.life.note("answer replayed")
	}
	return a, replayed, err
}

func (w flakyPlans) ListPlans(ctx context.Context, id partner.ID) ([]plan.Plan, error) {
	return chanced(w.f, "Plans", func() ([]plan.Plan, error) { return w.thePlans.ListPlans(ctx, id) })
}

func (w flakySubscriptions) NewSealer(ctx context.Context, id partner.ID) (subscription.Sealer, error) {
	return chanced(w.f, "NewSealer", func() (subscription.Sealer, error) { return w.theSubscriptions.NewSealer(ctx, id) })
}

func (w flakySubscriptions) Enrol(
	ctx context.Context, id partner.ID, rows []subscription.Row, register []plan.Plan, dryRun bool,
) (subscription.Enrolled, error) {
	return chanced(w.f, "Enrol", func() (subscription.Enrolled, error) {
		return w.theSubscriptions.Enrol(ctx, id, rows, register, dryRun)
	})
}

func (w flakyMonitoring) InsertAssets(
	ctx context.Context, id partner.ID, list []cyber.NewAsset, limit int,
) ([]cyber.AddedAsset, error) {
	return chanced(w.f, "InsertAssets", func() ([]cyber.AddedAsset, error) {
		return w.theMonitoring.InsertAssets(ctx, id, list, limit)
	})
}

func (w flakyAlerts) DueEndpoints(ctx context.Context) ([]alert.EndpointRef, error) {
	return chanced(w.f, "DueEndpoints", func() ([]alert.EndpointRef, error) { return w.theAlerts.DueEndpoints(ctx) })
}

func (w flakyAlerts) EnabledEndpoints(ctx context.Context, list []alert.EndpointRef) ([]alert.Endpoint, error) {
	return chanced(
		w.f,
		"EnabledEndpoints",
		func() ([]alert.Endpoint, error) { return w.theAlerts.EnabledEndpoints(ctx, list) },
	)
}

func (w flakyAlerts) OpenDeliveries(
	ctx context.Context,
	id partner.ID,
	e alert.EndpointID,
	after int64,
	limit int,
) ([]alert.Open, error) {
	return chanced(
		w.f,
		"OpenDeliveries",
		func() ([]alert.Open, error) { return w.theAlerts.OpenDeliveries(ctx, id, e, after, limit) },
	)
}

func (w flakyAlerts) WithBodies(ctx context.Context, id partner.ID, list []alert.Delivery) ([]alert.Delivery, error) {
	return chanced(w.f, "WithBodies", func() ([]alert.Delivery, error) { return w.theAlerts.WithBodies(ctx, id, list) })
}

func (w flakyAlerts) RecordResults(ctx context.Context, worker string, results []alert.Result) error {
	return act(w.f, "RecordResults", func() error { return w.theAlerts.RecordResults(ctx, worker, results) })
}

func (w flakyAlerts) UpdateEndpoint(
	ctx context.Context,
	id partner.ID,
	e alert.EndpointID,
	change func(*alert.Endpoint) error,
) (alert.Endpoint, error) {
	return chanced(
		w.f,
		"UpdateEndpoint",
		func() (alert.Endpoint, error) { return w.theAlerts.UpdateEndpoint(ctx, id, e, change) },
	)
}

func (w flakyJobs) ClaimJobs(ctx context.Context, worker string, kinds []string, limit int) ([]job.Job, error) {
	return chanced(
		w.f,
		"ClaimJobs",
		func() ([]job.Job, error) { return w.theJobs.ClaimJobs(ctx, worker, kinds, limit) },
	)
}

func (w flakyJobs) SaveJob(ctx context.Context, worker string, id job.ID, progress any) error {
	return act(w.f, "SaveJob", func() error { return w.theJobs.SaveJob(ctx, worker, id, progress) })
}

func (w flakyJobs) FinishJob(ctx context.Context, worker string, j job.Job, state job.State, reason string) error {
	return act(w.f, "FinishJob", func() error { return w.theJobs.FinishJob(ctx, worker, j, state, reason) })
}

func (w flakyBreaches) BreachByName(ctx context.Context, name string) (leak.Record, error) {
	return chanced(w.f, "BreachByName", func() (leak.Record, error) { return w.theBreaches.BreachByName(ctx, name) })
}

func (w flakyBreaches) InsertBreach(ctx context.Context, r leak.Record) error {
	return act(w.f, "InsertBreach", func() error { return w.theBreaches.InsertBreach(ctx, r) })
}

func (w flakyBreaches) PublishBreach(ctx context.Context, name string, p leak.Publication) error {
	return act(w.f, "PublishBreach", func() error { return w.theBreaches.PublishBreach(ctx, name, p) })
}

func (w flakyBreaches) CorporaEpoch(ctx context.Context) (int64, error) {
	return chanced(w.f, "CorporaEpoch", func() (int64, error) { return w.theBreaches.CorporaEpoch(ctx) })
}

func (w flakyBreaches) ListSegments(ctx context.Context) (list []leak.Segment, epoch int64, err error) {
	err = act(w.f, "Segments", func() error { list, epoch, err = w.theBreaches.ListSegments(ctx); return err })
	return list, epoch, err
}

func (w flakyBreaches) ListProbes(
	ctx context.Context,
	after leak.Place,
	limit int,
) (list []leak.Probes, last leak.Place, err error) {
	err = act(w.f, "Probes", func() error { list, last, err = w.theBreaches.ListProbes(ctx, after, limit); return err })
	return list, last, err
}

func (w flakyBreaches) ProbesSince(
	ctx context.Context,
	since time.Time,
	after leak.Place,
	limit int,
) (list []leak.Probes, last leak.Place, err error) {
	err = act(
		w.f,
		"ProbesSince",
		func() error { list, last, err = w.theBreaches.ProbesSince(ctx, since, after, limit); return err },
	)
	return list, last, err
}

func (w flakyBreaches) ListWatchers(ctx context.Context, asked leak.Probes) ([]leak.Watcher, error) {
	return chanced(w.f, "ListWatchers", func() ([]leak.Watcher, error) { return w.theBreaches.ListWatchers(ctx, asked) })
}

func (w flakyBreaches) ListUntold(
	ctx context.Context,
	breach string,
	id partner.ID,
	watchers []leak.Watcher,
) ([]leak.Candidate, error) {
	return chanced(w.f, "ListUntold", func() ([]leak.Candidate, error) {
		return w.theBreaches.ListUntold(ctx, breach, id, watchers)
	})
}

func (w flakyBreaches) TellHits(ctx context.Context, id partner.ID, hits []leak.Hit) (int, error) {
	return chanced(w.f, "TellHits", func() (int, error) { return w.theBreaches.TellHits(ctx, id, hits) })
}

func (w flakyBreaches) ListDueLooks(ctx context.Context, after leak.DuePlace, limit int) ([]leak.DueLook, error) {
	return chanced(w.f, "DueLooks", func() ([]leak.DueLook, error) {
		return w.theBreaches.ListDueLooks(ctx, after, limit)
	})
}

func (w flakyBreaches) SettleLooks(
	ctx context.Context,
	id partner.ID,
	epoch int64,
	looked []cyber.AssetID,
	hits []leak.Hit,
) (int, error) {
	return chanced(w.f, "SettleLooks", func() (int, error) {
		return w.theBreaches.SettleLooks(ctx, id, epoch, looked, hits)
	})
}

// told is the part of an alert's body that says whom it is about.
type told struct {
	Type string `json:"type"`
	Data struct {
		User     string `json:"userHash"`
		Findings []struct {
			ID string `json:"id"`
		} `json:"findings"`
	} `json:"data"`
}

// farEnd stands for the network to the partners and their ends: what is sent may not arrive, may be refused, or may be
// taken without the sender hearing of it.
type farEnd struct {
	life *life
	dead *atomic.Bool
}

func (r farEnd) RoundTrip(req *http.Request) (*http.Response, error) {
	l := r.life
	if r.dead.Load() {
		return nil, errDrawn
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var about told
	if err := json.Unmarshal(body, &about); err != nil {
		return nil, err
	}
	id := req.Header.Get("webhook-id")
	time.Sleep(30 * time.Millisecond)
	l.mu.Lock()
	l.tries[id]++
	try := l.tries[id]
	l.mu.Unlock()
	// By the person and the try, because the id is drawn elsewhere.
	way := l.draw(fmt.Sprint("to ", req.URL.Host, about.Data.User, about.Type, try))
	if way == done && l.draw("mood of "+req.URL.Host) != done {
		l.note("alert refused")
		return answerOf(http.StatusInternalServerError), nil
	}
	if way != notDone {
		l.mu.Lock()
		l.received = append(l.received, receipt{req.URL.Host, id, about.Data.User, string(body), maps.Clone(l.tries)})
		l.mu.Unlock()
	}
	if way != done {
		return nil, errDrawn
	}
	return answerOf(http.StatusNoContent), nil
}

func answerOf(status int) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(nil))}
}

func (l *life) undelivered() (n int, err error) {
	err = l.db.ReadPool().QueryRow(`SELECT count(*) FROM delivery WHERE state <> 'delivered'`).Scan(&n)
	return n, err
}

// verify holds the end against what was asked.
func (l *life) verify() {
	for p, who := range l.tp.partners {
		l.verifyEnrolled(p, who)
		events := l.verifyFindings(p, who)
		l.verifyAlerts(who, events)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts["alerts taken"] += len(l.received)
}

// verifyEnrolled: everything acknowledged is there once, and nothing else.
func (l *life) verifyEnrolled(p int, who simPartner) {
	page, err := l.store.Subscriptions.ActivePage(context.Background(), who.id, 0, 1000)
	if err != nil {
		l.Fatal(err)
	}
	var got []string
	for _, s := range page.Items {
		got = append(got, s.Beneficiary.CPF)
	}
	slices.Sort(got)
	if want := slices.Sorted(maps.Keys(l.enrolled[p])); !slices.Equal(got, want) {
		l.Errorf("seed %d: partner %d has\n%v\nand was told that it has\n%v", l.seed, p, got, want)
	}
	l.counts["subscriptions"] += len(got)
}

// verifyFindings: each watched address is there once, with one finding per breach that it is in, and each finding is in
// one alert.
func (l *life) verifyFindings(p int, who simPartner) (events []string) {
	ctx := context.Background()
	found := map[string]int{} // finding ids, to be told once
	for person := range simPeople {
		user := fmt.Sprint("pessoa-", person)
		var want, got []string
		for a := range simAddresses {
			if !l.watched[p][user+" "+simAddress(a)] {
				continue
			}
			want = append(want, simAddress(a))
			for b := range simBreaches {
				if leaked(a, b) {
					want = append(want, simAddress(a)+" "+simBreach(b))
				}
			}
		}
		assets, err := l.store.Monitoring.AssetsOfUser(ctx, who.id, partner.UserHash(user))
		if err != nil {
			l.Fatal(err)
		}
		value := map[cyber.AssetID]string{}
		for _, a := range assets {
			value[a.ID] = a.Value
			got = append(got, a.Value)
		}
		findings, err := l.store.Monitoring.FindingsOfUser(ctx, who.id, partner.UserHash(user))
		if err != nil {
			l.Fatal(err)
		}
		for _, f := range findings {
			found[string(f.ID)] = 0
			got = append(got, value[f.Asset]+" "+f.Breach.Name)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			l.Errorf("seed %d: %s of partner %d has\n%v\nand should have\n%v", l.seed, user, p, got, want)
		}
	}
	stretch, err := l.store.Alerts.EventsAfter(ctx, who.id, alert.Everything, 0, 1000)
	if err != nil {
		l.Fatal(err)
	}
	for _, e := range stretch.Events {
		events = append(events, string(e.ID))
		var about told
		if err := json.Unmarshal(e.Body, &about); err != nil {
			l.Fatal(err)
		}
		for _, f := range about.Data.Findings {
			if _, known := found[f.ID]; !known {
				l.Errorf("seed %d: partner %d was told of a finding that is not its own", l.seed, p)
			}
			found[f.ID]++
		}
	}
	for id, n := range found {
		if n != 1 {
			l.Errorf("seed %d: finding %s of partner %d was told %d times", l.seed, id, p, n)
		}
	}
	l.counts["findings"] += len(found)
	return events
}

// verifyAlerts: every event arrived, under its own id and with one body, at its own partner and at no other; and a
// person's in order, unless the earlier one had been tried twice.
func (l *life) verifyAlerts(who simPartner, events []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bodies, first := map[string]string{}, map[string]int{}
	for i, r := range l.received {
		if r.host != who.host {
			continue
		}
		if before, seen := bodies[r.id]; seen && before != r.body {
			l.Errorf("seed %d: %s came with two bodies", l.seed, r.id)
		} else if !seen {
			bodies[r.id], first[r.id] = r.body, i
		}
	}
	if got, want := slices.Sorted(maps.Keys(bodies)), slices.Sorted(slices.Values(events)); !slices.Equal(got, want) {
		l.Errorf("seed %d: %s received\n%s\nof\n%s", l.seed, who.host, strings.Join(got, " "), strings.Join(want, " "))
		return
	}
	for i, earlier := range events {
		for _, later := range events[i+1:] {
			a, b := l.received[first[earlier]], l.received[first[later]]
			if a.user == b.user && first[later] < first[earlier] && b.tried[earlier] < 2 {
				l.Errorf(
					"seed %d: %s got %s before %s, which had been tried %d times",
					l.seed,
					a.user,
					later,
					earlier,
					b.tried[earlier],
				)
			}
		}
	}
}
