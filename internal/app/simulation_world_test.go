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

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/once"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subscription"
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
	*store.Store
	life *life
	dead *atomic.Bool
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

func (f flaky) KeyByLookup(ctx context.Context, lookup []byte) (k partner.Key, p partner.Partner, err error) {
	err = act(f, "KeyByLookup", func() error { k, p, err = f.Store.KeyByLookup(ctx, lookup); return err })
	return k, p, err
}

func (f flaky) Once(ctx context.Context, id partner.ID, c once.Claim, work func(context.Context) (once.Answer, error)) (a once.Answer, replayed bool, err error) {
	err = act(f, "Once", func() error { a, replayed, err = f.Store.Once(ctx, id, c, work); return err })
	if replayed {
		f.life.note("answer replayed")
	}
	return a, replayed, err
}

func (f flaky) Plans(ctx context.Context, id partner.ID) ([]plan.Plan, error) {
	return chanced(f, "Plans", func() ([]plan.Plan, error) { return f.Store.Plans(ctx, id) })
}

func (f flaky) NewBatch(ctx context.Context, id partner.ID) (subscription.Batch, error) {
	return chanced(f, "NewBatch", func() (subscription.Batch, error) {
		b, err := f.Store.NewBatch(ctx, id)
		return flakyBatch{b, f}, err
	})
}

type flakyBatch struct {
	subscription.Batch
	flaky flaky
}

func (b flakyBatch) Keep(ctx context.Context, register []plan.Plan, dryRun bool) ([]int, error) {
	return chanced(b.flaky, "Keep", func() ([]int, error) { return b.Batch.Keep(ctx, register, dryRun) })
}

func (f flaky) InsertAsset(ctx context.Context, id partner.ID, a cyber.NewAsset, limit int) (bool, error) {
	return chanced(f, "InsertAsset", func() (bool, error) { return f.Store.InsertAsset(ctx, id, a, limit) })
}

func (f flaky) DueEndpoints(ctx context.Context, worker string) ([]alert.EndpointRef, error) {
	return chanced(f, "DueEndpoints", func() ([]alert.EndpointRef, error) { return f.Store.DueEndpoints(ctx, worker) })
}

func (f flaky) TakeEndpoints(ctx context.Context, worker string, until time.Time, ids []alert.EndpointID) ([]alert.Endpoint, error) {
	return chanced(f, "TakeEndpoints", func() ([]alert.Endpoint, error) { return f.Store.TakeEndpoints(ctx, worker, until, ids) })
}

func (f flaky) KeepEndpoints(ctx context.Context, worker string, until time.Time, keep []alert.EndpointID) ([]alert.EndpointID, error) {
	return chanced(f, "KeepEndpoints", func() ([]alert.EndpointID, error) { return f.Store.KeepEndpoints(ctx, worker, until, keep) })
}

func (f flaky) OpenDeliveries(ctx context.Context, id partner.ID, e alert.EndpointID, after int64, limit int) ([]alert.Open, error) {
	return chanced(f, "OpenDeliveries", func() ([]alert.Open, error) { return f.Store.OpenDeliveries(ctx, id, e, after, limit) })
}

func (f flaky) WithBodies(ctx context.Context, id partner.ID, list []alert.Delivery) ([]alert.Delivery, error) {
	return chanced(f, "WithBodies", func() ([]alert.Delivery, error) { return f.Store.WithBodies(ctx, id, list) })
}

func (f flaky) RecordResults(ctx context.Context, worker string, results []alert.Result) error {
	return act(f, "RecordResults", func() error { return f.Store.RecordResults(ctx, worker, results) })
}

func (f flaky) UpdateEndpoint(ctx context.Context, id partner.ID, e alert.EndpointID, change func(*alert.Endpoint) error) (alert.Endpoint, error) {
	return chanced(f, "UpdateEndpoint", func() (alert.Endpoint, error) { return f.Store.UpdateEndpoint(ctx, id, e, change) })
}

func (f flaky) ClaimJobs(ctx context.Context, worker string, kinds []string, limit int) ([]job.Job, error) {
	return chanced(f, "ClaimJobs", func() ([]job.Job, error) { return f.Store.ClaimJobs(ctx, worker, kinds, limit) })
}

func (f flaky) SaveJob(ctx context.Context, worker string, id job.ID, progress any) error {
	return act(f, "SaveJob", func() error { return f.Store.SaveJob(ctx, worker, id, progress) })
}

func (f flaky) FinishJob(ctx context.Context, worker string, j job.Job, state job.State, reason string) error {
	return act(f, "FinishJob", func() error { return f.Store.FinishJob(ctx, worker, j, state, reason) })
}

func (f flaky) BreachByName(ctx context.Context, name string) (leak.Record, error) {
	return chanced(f, "BreachByName", func() (leak.Record, error) { return f.Store.BreachByName(ctx, name) })
}

func (f flaky) InsertBreach(ctx context.Context, r leak.Record) error {
	return act(f, "InsertBreach", func() error { return f.Store.InsertBreach(ctx, r) })
}

func (f flaky) PublishBreach(ctx context.Context, name, file, digest string, tally leak.Tally) error {
	return act(f, "PublishBreach", func() error { return f.Store.PublishBreach(ctx, name, file, digest, tally) })
}

func (f flaky) CorporaEpoch(ctx context.Context) (int64, error) {
	return chanced(f, "CorporaEpoch", func() (int64, error) { return f.Store.CorporaEpoch(ctx) })
}

func (f flaky) Segments(ctx context.Context) (list []leak.Segment, epoch int64, err error) {
	err = act(f, "Segments", func() error { list, epoch, err = f.Store.Segments(ctx); return err })
	return list, epoch, err
}

func (f flaky) Fingerprints(ctx context.Context, after int64, limit int) ([]int64, error) {
	return chanced(f, "Fingerprints", func() ([]int64, error) { return f.Store.Fingerprints(ctx, after, limit) })
}

func (f flaky) FingerprintsSince(ctx context.Context, since time.Time, after int64, limit int) ([]int64, error) {
	return chanced(f, "FingerprintsSince", func() ([]int64, error) { return f.Store.FingerprintsSince(ctx, since, after, limit) })
}

func (f flaky) KeepHits(ctx context.Context, breach string, fingerprints []int64) (int64, error) {
	return chanced(f, "KeepHits", func() (int64, error) { return f.Store.KeepHits(ctx, breach, fingerprints) })
}

func (f flaky) TellHits(ctx context.Context, breach string, limit int) (int, error) {
	return chanced(f, "TellHits", func() (int, error) { return f.Store.TellHits(ctx, breach, limit) })
}

func (f flaky) PendingAssets(ctx context.Context, limit int) ([]leak.Pending, error) {
	return chanced(f, "PendingAssets", func() ([]leak.Pending, error) { return f.Store.PendingAssets(ctx, limit) })
}

func (f flaky) SettleAsset(ctx context.Context, id partner.ID, asset cyber.AssetID, seen cyber.Sighting) error {
	return act(f, "SettleAsset", func() error { return f.Store.SettleAsset(ctx, id, asset, seen) })
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
	err = l.db.Reader().QueryRow(`SELECT count(*) FROM delivery WHERE state <> 'delivered'`).Scan(&n)
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
	page, err := l.store.ActivePage(context.Background(), who.id, 0, 1000)
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
		assets, err := l.store.AssetsOfUser(ctx, who.id, partner.UserHash(user))
		if err != nil {
			l.Fatal(err)
		}
		value := map[cyber.AssetID]string{}
		for _, a := range assets {
			value[a.ID] = a.Value
			got = append(got, a.Value)
		}
		findings, err := l.store.FindingsOfUser(ctx, who.id, partner.UserHash(user))
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
	stretch, err := l.store.EventsAfter(ctx, who.id, alert.Everything, 0, 1000)
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
				l.Errorf("seed %d: %s got %s before %s, which had been tried %d times", l.seed, a.user, later, earlier, b.tried[earlier])
			}
		}
	}
}
