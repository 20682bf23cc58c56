package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// settableMachine is a machine whose clock is ahead of the real one by what it was set to.
type settableMachine struct{ ahead atomic.Int64 }

func (m *settableMachine) clock() machine {
	return machine{
		wall:    func() time.Time { return time.Now().Round(0).Add(time.Duration(m.ahead.Load())) },
		elapsed: elapsedTime,
	}
}

// TestClockThatIsSet: the clock of the machine jumps two days ahead. Nothing ends by that, on neither engine; it is
// logged, and on the embedded database noted for doctor.
func TestClockThatIsSet(t *testing.T) {
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			ctx := context.Background()
			c := config.Common{Data: filepath.Join(t.TempDir(), "data")}
			if engine == sqldb.PostgreSQL {
				c.Database = storetest.NewAddress(t, engine, "")
			}
			m := &settableMachine{}
			a, err := openOnMachine(ctx, c, sqldb.Options{MaxConns: 4}, m.clock())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = a.Close() })
			id := enrolUntilToday(t, a)
			var log bytes.Buffer
			watch := clockWatch{server: &Server{app: a, log: slog.New(slog.NewTextHandler(&log, nil))}, clock: a.clock}
			watch.runOnce(ctx)
			m.ahead.Store(int64(48 * time.Hour))
			watch.runOnce(ctx)
			if n, err := a.Subscriptions.SweepExpired(ctx); err != nil || n != 0 {
				t.Errorf("%d subscriptions ended by a clock that was set (%v)", n, err)
			}
			page, err := a.Subscriptions.ListActive(ctx, id, 1, 10)
			if err != nil || page.Total != 1 || len(page.Items) != 1 {
				t.Errorf("%d of %d subscriptions are listed, want 1 of 1 (%v)", len(page.Items), page.Total, err)
			}
			if got := log.String(); strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, "seconds=172800") {
				t.Errorf("the log says %q", got)
			}
			noted, err := a.Store.Upkeep.ClockSkew(ctx)
			if err != nil || engine == sqldb.SQLite && noted.Round(time.Minute) != 48*time.Hour {
				t.Errorf("%v is noted for doctor (%v)", noted, err)
			}
			m.ahead.Store(0)
			watch.runOnce(ctx)
			if noted, err := a.Store.Upkeep.ClockSkew(ctx); err != nil || noted.Abs() > time.Second {
				t.Errorf("%v is noted for doctor when the clock is right again (%v)", noted, err)
			}
		})
	}
}

// enrolUntilToday enrols a person until the end of today.
func enrolUntilToday(t *testing.T, a *App) partner.ID {
	t.Helper()
	ctx := context.Background()
	p, _, err := a.Partners.CreatePartner(ctx, "Banco Exemplo", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Store.Plans.InsertPlan(
		ctx,
		p.ID,
		plan.Plan{ID: "ouro", Partner: p.ID, Name: "Ouro", Coverage: plan.DemoCoverage(), CreatedAt: a.Now()},
	); err != nil {
		t.Fatal(err)
	}
	today := subscription.DayInBrazil(a.Now())
	sub := &subscription.Subscription{Plan: "ouro", Start: today, Expiry: today}
	sub.Beneficiary.CPF, sub.Beneficiary.Name = "12345678909", "Ana Exemplo"
	if _, err := storetest.Enrol(ctx, a.Store.Subscriptions, p.ID, sub); err != nil {
		t.Fatal(err)
	}
	return p.ID
}

// TestConstantSkewIsTold: a machine that is a day ahead of the database from the start on is told of at the start, and
// nothing goes by its clock.
func TestConstantSkewIsTold(t *testing.T) {
	ctx := context.Background()
	c := config.Common{
		Data:     filepath.Join(t.TempDir(), "data"),
		Database: storetest.NewAddress(t, sqldb.PostgreSQL, ""),
	}
	m := &settableMachine{}
	m.ahead.Store(int64(24 * time.Hour))
	a, err := openOnMachine(ctx, c, sqldb.Options{MaxConns: 4}, m.clock())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	var log bytes.Buffer
	watch := clockWatch{server: &Server{app: a, log: slog.New(slog.NewTextHandler(&log, nil))}, clock: a.clock}
	watch.runOnce(ctx)
	if got := log.String(); !strings.Contains(got, "level=WARN") || !strings.Contains(got, "seconds=86400") {
		t.Errorf("the log says %q", got)
	}
	var last int64
	if err := a.Store.ConnectionPools()["all"].QueryRowContext(ctx, `SELECT max(applied_at) FROM schema_migration`).Scan(&last); err != nil {
		t.Fatal(err)
	}
	if ahead := time.Until(time.UnixMicro(last)); ahead > time.Minute {
		t.Errorf("the first migration was stored %v ahead", ahead)
	}
	if ahead := time.Until(a.Now()); ahead.Abs() > time.Minute {
		t.Errorf("the app is %v ahead", ahead)
	}
}

// TestClockFollowsTheDatabase: the first answer of the database is taken, also a slow one; later ones are followed when
// they are quick, and a jump only when it lasts.
func TestClockFollowsTheDatabase(t *testing.T) {
	ctx := context.Background()
	var passed time.Duration
	start := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	c := newClock(
		machine{
			wall:    func() time.Time { return start.Add(time.Hour) },
			elapsed: func() time.Duration { return passed },
		},
	)
	ask := func(server time.Duration, took time.Duration) (time.Duration, bool) {
		t.Helper()
		change, followed, err := c.follow(ctx, func(context.Context) (time.Time, error) {
			passed += took
			return start.Add(server), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return change, followed
	}
	want := func(what string, now time.Duration) {
		t.Helper()
		if got := c.now().Sub(start); got != now {
			t.Errorf("%s: the clock is at %v, want %v", what, got, now)
		}
	}
	ask(0, 2*time.Second)
	want("a slow first answer", time.Second)
	passed += 9 * time.Second
	want("time that has passed", 10*time.Second)
	ask(10*time.Second+100*time.Millisecond, 0)
	want("a small difference", 10*time.Second)
	ask(15*time.Second, 2*time.Second)
	want("a slow later answer", 12*time.Second)
	ask(15*time.Second, 0)
	want("drift", 15*time.Second)
	for range clockDoubts - 1 {
		if change, followed := ask(48*time.Hour+15*time.Second, 0); followed || change != 48*time.Hour {
			t.Error("a jump is followed at once:", change)
		}
	}
	want("a jump", 15*time.Second)
	ask(15*time.Second, 0)
	for range clockDoubts {
		ask(time.Hour+15*time.Second, 0)
	}
	want("a jump that lasts", time.Hour+15*time.Second)
	if _, _, err := c.follow(
		ctx,
		func(context.Context) (time.Time, error) { return time.Time{}, errors.New("no answer") },
	); err == nil {
		t.Error("a failure is kept back")
	}
	want("a database that does not answer", time.Hour+15*time.Second)
}

// TestSkewedClocks: of two replicas on one PostgreSQL one's clock is ten minutes fast and the other's ten minutes slow.
// They agree on the time: no lease is broken, nothing due waits, nobody is taken for gone, and a key ends for both.
func TestSkewedClocks(t *testing.T) {
	ctx := context.Background()
	address := storetest.NewAddress(t, sqldb.PostgreSQL, "")
	c := config.Common{Data: filepath.Join(t.TempDir(), "data"), Database: address}
	var replicas [2]*App
	for i, skew := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		m := &settableMachine{}
		m.ahead.Store(int64(skew))
		a, err := openOnMachine(ctx, c, sqldb.Options{MaxConns: 4}, m.clock())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Close() })
		replicas[i] = a
	}
	fast, slow := replicas[0], replicas[1]
	if apart := fast.now().Sub(slow.now()).Abs(); apart > 2*time.Second {
		t.Fatalf("two replicas are %v apart", apart)
	}
	for _, pair := range [][2]*App{{fast, slow}, {slow, fast}} {
		one, other := pair[0], pair[1]
		if _, err := one.Store.Jobs.EnqueueJob(ctx, "test.kind", "subject", nil); err != nil {
			t.Fatal(err)
		}
		mine, err := other.Store.Jobs.ClaimJobs(ctx, "other", []string{"test.kind"}, 1)
		for try := 0; err == nil && len(mine) == 0 && try < 30; try++ { // the clocks agree to half a second each
			time.Sleep(100 * time.Millisecond)
			mine, err = other.Store.Jobs.ClaimJobs(ctx, "other", []string{"test.kind"}, 1)
		}
		if err != nil || len(mine) != 1 {
			t.Fatal("what one replica adds the other does not find due:", mine, err)
		}
		if stolen, err := one.Store.Jobs.ClaimJobs(
			ctx,
			"one",
			[]string{"test.kind"},
			1,
		); err != nil ||
			len(stolen) != 0 {
			t.Error("a lease was broken:", stolen, err)
		}
		if err := other.Store.Jobs.FinishJob(ctx, "other", mine[0], "done", ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := fast.Store.Upkeep.NoteReplica(ctx, store.Replica{ID: "fast"}, ReplicaGone); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"slow", "fast"} {
		all, err := map[string]*App{"slow": slow, "fast": fast}[name].Store.Upkeep.NoteReplica(
			ctx,
			store.Replica{ID: name},
			ReplicaGone,
		)
		if err != nil || len(all) != 2 {
			t.Errorf("the %s one counts %d replicas: %v", name, len(all), err)
		}
	}
	p, _, err := fast.Partners.CreatePartner(ctx, "Banco Exemplo", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := OpenOutgoing(config.Outgoing{WebhookAllow: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fast.Webhooks.CreateEndpoint(ctx, p.ID, "http://127.0.0.1:9/x", nil, out.Guard); err != nil {
		t.Fatal(err)
	}
	e := alert.NewEvent(p.ID, alert.WebhookTest, "", fast.now(), map[string]int{})
	if err := fast.Store.Alerts.AddEvents(ctx, p.ID, e); err != nil {
		t.Fatal(err)
	}
	due, err := slow.Store.Alerts.DueEndpoints(ctx)
	for try := 0; err == nil && len(due) == 0 && try < 30; try++ {
		time.Sleep(100 * time.Millisecond)
		due, err = slow.Store.Alerts.DueEndpoints(ctx)
	}
	if err != nil || len(due) != 1 {
		t.Error("a delivery that the fast one made is not due for the slow one:", due, err)
	}
}
