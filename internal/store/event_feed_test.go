package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func newEvents(t *testing.T, m *mailer, n int) []alert.Event {
	t.Helper()
	list := make([]alert.Event, n)
	for i := range list {
		e := alert.NewEvent(
			m.partner,
			alert.LeakDetected,
			partner.UserHash(fmt.Sprint("p", i)),
			m.clock.Now(),
			map[string]int{"n": i},
		)
		list[i] = e
	}
	return list
}

// TestCursorOfAReplacedHistory: after an older backup was restored, a cursor behind an event that it does not have is
// refused, also when other events have its number by then; an older cursor goes on.
func TestCursorOfAReplacedHistory(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		feed := alert.NewEventFeed(m.Store.Alerts)
		add := func(n int) {
			t.Helper()
			err := m.env.DB.InTransaction(
				ctx,
				func(tx *sqldb.Tx) error { return m.AddEventsForTest(ctx, tx, m.partner, newEvents(t, m, n)...) },
			)
			if err != nil {
				t.Fatal(err)
			}
		}
		read := func(cursor string, limit int) alert.Page {
			t.Helper()
			page, err := feed.ReadPage(ctx, m.partner, alert.Everything, cursor, limit)
			if err != nil {
				t.Fatal(err)
			}
			return page
		}
		add(20)
		old, stale := read("", 10).Next, read("", 100).Next
		if again := read(stale, 100).Next; again != stale {
			t.Errorf("a quiet feed's cursor becomes %q", again)
		}
		for _, statement := range []string{ // the backup had 12
			`DELETE FROM delivery WHERE seq > 12`, `DELETE FROM event WHERE seq > 12`, `UPDATE event_counter
			SET last = 12`, `DELETE FROM event_pull`,
		} {
			err := m.env.DB.InTransaction(
				ctx,
				func(tx *sqldb.Tx) error { _, err := tx.ExecContext(ctx, statement); return err },
			)
			if err != nil {
				t.Fatal(statement, err)
			}
		}
		refused := func() {
			t.Helper()
			page, err := feed.ReadPage(ctx, m.partner, alert.Everything, stale, 100)
			if !errors.Is(err, alert.ErrCursor) {
				t.Errorf("a stale cursor brings %d events: %v", len(page.Events), err)
			}
		}
		refused()
		add(8)
		refused()
		add(5)
		refused()
		if n := len(read(old, 100).Events); n != 15 {
			t.Errorf("a cursor that the backup knows brings %d events of 15", n)
		}
	})
}

// TestCursorSkipsNothing: readers that follow the cursor while many writers commit, and some roll back, see every event
// once and in the same order.
func TestCursorSkipsNothing(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		feed := alert.NewEventFeed(m.Store.Alerts)
		const writers, rounds = 6, 15
		var mu sync.Mutex
		written := map[string]bool{}
		var writing, reading sync.WaitGroup
		for range writers {
			writing.Go(func() {
				for range rounds {
					events := newEvents(t, m, 1+rand.IntN(3))
					fail := rand.IntN(4) == 0
					err := m.env.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
						if err := m.AddEventsForTest(ctx, tx, m.partner, events...); err != nil {
							return err
						}
						for range rand.IntN(50) { // others come in between
							runtime.Gosched()
						}
						if fail {
							return errFailed
						}
						return nil
					})
					if err != nil {
						if !errors.Is(err, errFailed) {
							t.Error(err)
						}
						continue
					}
					mu.Lock()
					for _, e := range events {
						written[string(e.ID)] = true
					}
					mu.Unlock()
				}
			})
		}
		done := make(chan struct{})
		seen := make([][]string, 3)
		for i := range seen {
			reading.Go(func() {
				cursor, stopping := "", false
				for {
					page, err := feed.ReadPage(ctx, m.partner, alert.Everything, cursor, 1+rand.IntN(7))
					if err != nil {
						t.Error(err)
						return
					}
					for _, e := range page.Events {
						seen[i] = append(seen[i], string(e.ID))
					}
					if page.Skipped {
						t.Error("a page claims to have skipped something")
					}
					if stopping && !page.HasMore {
						return
					}
					cursor = page.Next
					select {
					case <-done:
						stopping = stopping || !page.HasMore
					default:
					}
				}
			})
		}
		writing.Wait()
		close(done)
		reading.Wait()
		for i := range seen {
			if len(seen[i]) != len(written) || fmt.Sprint(seen[i]) != fmt.Sprint(seen[0]) {
				t.Errorf(
					"reader %d saw %d of %d events, or in another order than reader 0",
					i,
					len(seen[i]),
					len(written),
				)
			}
		}
		for _, id := range seen[0] {
			if !written[id] {
				t.Errorf("%s was rolled back and read", id)
			}
		}
		var last int64
		if err := m.env.DB.ReadPool().QueryRowContext(ctx, `SELECT last FROM event_counter WHERE partner_id = $1`,
			m.partner.Number(),
		).Scan(&last); err != nil || last != int64(len(written)) {
			t.Errorf("the counter is at %d after %d events: %v", last, len(written), err)
		}
	})
}

var errFailed = errors.New("failed on purpose")

// breakable makes inserts into a table fail while the table's name stands in broken.
func breakable(t *testing.T, m *mailer, table string) {
	t.Helper()
	statements := []string{`CREATE TRIGGER break_` + table + ` BEFORE INSERT ON ` + table + `
		WHEN EXISTS (SELECT 1 FROM broken WHERE name = '` + table + `') BEGIN SELECT RAISE(ABORT, 'broken'); END`}
	if m.env.DB.EngineName() == sqldb.PostgreSQL {
		statements = []string{
			`CREATE FUNCTION break_` + table + `() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF EXISTS (SELECT 1 FROM broken
				WHERE name = '` + table + `') THEN RAISE EXCEPTION 'broken'; END IF; RETURN NEW; END $$`,
			`CREATE TRIGGER break_` + table + ` BEFORE INSERT ON ` + table +
				` FOR EACH ROW EXECUTE FUNCTION break_` + table + `()`,
		}
	}
	for _, s := range statements {
		m.exec(t, s)
	}
}

func (m *mailer) exec(t *testing.T, statement string) {
	t.Helper()
	ctx := context.Background()
	err := m.env.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOutbox: with a failure forced at each step in turn, by the database itself and between the statements, cause,
// event and deliveries are there together or not at all.
func TestOutbox(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		m.endpoint(t, newReceiver(t, nil))
		m.endpoint(t, newReceiver(t, nil))
		m.exec(t, `CREATE TABLE cause (id TEXT PRIMARY KEY)`)
		m.exec(t, `CREATE TABLE broken (name TEXT PRIMARY KEY)`)
		m.exec(t, `INSERT INTO broken (name) VALUES ('')`)
		tables := []string{"cause", "event_counter", "event", "delivery"}
		for _, table := range tables {
			breakable(t, m, table)
		}
		faults := append(append([]string{}, tables...), "before the commit", "")
		forced, kept := 0, 0
		for round := range 500 / (len(faults) - 1) {
			for _, fault := range faults {
				m.exec(t, `UPDATE broken SET name = '`+fault+`'`)
				err := m.env.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
					if _, err := tx.ExecContext(
						ctx,
						`INSERT INTO cause (id) VALUES ($1)`,
						fmt.Sprint(round, fault),
					); err != nil {
						return err
					}
					if err := m.AddEventsForTest(ctx, tx, m.partner, newEvents(t, m, 1)...); err != nil {
						return err
					}
					if fault == "before the commit" {
						return errFailed
					}
					return nil
				})
				if (err == nil) != (fault == "") {
					t.Fatalf("fault %q: %v", fault, err)
				}
				if fault == "" {
					kept++
				} else {
					forced++
				}
			}
		}
		c, e, d := m.count(t, "cause"), m.count(t, "event"), m.count(t, "delivery")
		if c != kept || e != kept || d != 2*kept || forced < 500 {
			t.Errorf("%d causes, %d events, %d deliveries after %d of them and %d forced faults", c, e, d, kept, forced)
		}
	})
}

// TestReplay: one event, a window, all failed; also to an endpoint that came later; a test never.
// TestReplayOfWhatWaits replays an event whose delivery waits for its next try: who names it does not wait for the
// schedule. A window leaves it to the schedule.
func TestReplayOfWhatWaits(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		var mended atomic.Bool
		r := newReceiver(t, func(client.WebhookEvent, int) int {
			if mended.Load() {
				return http.StatusOK
			}
			return http.StatusInternalServerError
		})
		m.endpoint(t, r)
		opts := testOptions
		opts.NextTry = func(_ int, now time.Time, _ time.Duration) (time.Time, bool) { return now.Add(time.Hour), true }
		opts.Gate.Breaker.Failures = 1000
		m.run(t, opts)
		named, other := m.publish(t, alert.LeakDetected, "ana"), m.publish(t, alert.LeakDetected, "bia")
		wait(
			t,
			"both to fail",
			func() bool { return m.countWhere(t, "delivery", "state = 'pending' AND attempts = 1") == 2 },
		)
		mended.Store(true)
		history := alert.NewHistory(m.Store.Alerts, m.Store.Partners)
		if n, err := history.ReplayEvents(
			ctx,
			m.partner,
			alert.Selection{From: m.clock.Now().Add(-time.Minute)},
		); err != nil ||
			n != 0 {
			t.Errorf("a window made %d due that were waiting: %v", n, err)
		}
		if n, err := history.ReplayEvents(ctx, m.partner, alert.Selection{Event: named.ID}); err != nil || n != 1 {
			t.Fatalf("%d deliveries, want 1: %v", n, err)
		}
		wait(
			t,
			"the replayed one",
			func() bool { return len(r.received()) == 1 && r.received()[0].ID == string(named.ID) },
		)
		if n := m.countWhere(
			t,
			"delivery",
			"state = 'pending' AND attempts = 1 AND event_id = '"+string(other.ID)+"'",
		); n != 1 {
			t.Error("what was not named does not wait any more")
		}
	})
}

func TestReplay(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		history := alert.NewHistory(m.Store.Alerts, m.Store.Partners)
		var broken atomic.Bool
		broken.Store(true)
		r := newReceiver(t, func(client.WebhookEvent, int) int {
			if broken.Load() {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		first := m.endpoint(t, r)
		opts := testOptions
		opts.NextTry = func(_ int, now time.Time, _ time.Duration) (time.Time, bool) { return now, false }
		opts.Gate.Breaker.Failures = 1000
		m.run(t, opts)
		start := m.clock.Now()
		events := []alert.Event{
			m.publish(t, alert.LeakDetected, "ana"),
			m.publish(t, alert.CaseStatusChanged, "ana"),
			m.publish(t, alert.LeakDetected, "bia"),
		}
		wait(t, "all to fail", func() bool {
			for _, e := range events {
				if list, err := m.Alerts.Deliveries(
					ctx,
					m.partner,
					e.ID,
				); err != nil ||
					list[0].State != alert.DeliveryFailed {
					return false
				}
			}
			return true
		})
		broken.Store(false)
		replay := func(want int64, s alert.Selection) {
			t.Helper()
			if n, err := history.ReplayEvents(ctx, m.partner, s); err != nil || n != want {
				t.Errorf("%d deliveries, want %d: %v", n, want, err)
			}
		}
		replay(1, alert.Selection{Event: events[1].ID})
		wait(
			t,
			"the one replayed",
			func() bool { return len(r.received()) == 1 && r.received()[0].ID == string(events[1].ID) },
		)
		replay(2, alert.Selection{Failed: true})
		wait(t, "the failed ones", func() bool { return len(r.received()) == 3 })
		wait(t, "them to be recorded", func() bool { return m.countWhere(t, "delivery", "state = 'delivered'") == 3 })

		later := newReceiver(t, nil)
		second := m.endpoint(t, later, "monitoring.leak_detected")
		if _, _, err := m.endpoints.SendTestEvent(
			ctx,
			m.partner,
			second.ID,
			alert.WebhookTest,
			loopback.NewClient(webhook.ClientOptions{}),
		); err != nil {
			t.Fatal(err)
		}
		replay(2, alert.Selection{From: start, Endpoint: second.ID})
		wait(
			t,
			"old events at the new endpoint",
			func() bool { return len(later.received()) == 3 },
		) // the test and the two leaks
		replay(0, alert.Selection{From: start.Add(-time.Hour), To: start, Endpoint: first.ID})
		replay(
			3,
			alert.Selection{From: start.Add(-time.Second), To: m.clock.Now().Add(time.Second), Endpoint: first.ID},
		)
		wait(t, "the window", func() bool { return len(r.received()) == 6 })
		ids := map[string]int{}
		for _, e := range r.received() {
			ids[e.ID]++
		}
		if len(ids) != 3 {
			t.Errorf("repeats have other ids: %v", ids)
		}

		for name, bad := range map[string]alert.Selection{
			"nothing":            {},
			"two ways":           {Failed: true, Event: events[0].ID},
			"a window backwards": {From: start, To: start.Add(-time.Hour)},
		} {
			if _, err := history.ReplayEvents(ctx, m.partner, bad); !errors.Is(err, alert.ErrReplay) {
				t.Errorf("%s: %v", name, err)
			}
		}
		// An event about nobody, such as a test, is repeated by its own id.
		test := m.publish(t, alert.WebhookTest, "")
		wait(t, "the test", func() bool {
			return m.countWhere(t, "delivery", "state = 'delivered' AND event_id = '"+string(test.ID)+"'") > 0
		})
		if n, err := history.ReplayEvents(
			ctx,
			m.partner,
			alert.Selection{Event: test.ID, Endpoint: first.ID},
		); err != nil ||
			n != 1 {
			t.Errorf("a test was repeated %d times: %v", n, err)
		}
		_, err := history.ReplayEvents(ctx, m.partner, alert.Selection{Event: "evt_other"})
		if !errors.Is(err, alert.ErrEventNotFound) {
			t.Error(err)
		}
		_, err = history.ReplayEvents(ctx, m.partner, alert.Selection{Failed: true, Endpoint: "whe_other"})
		if !errors.Is(err, alert.ErrEndpointNotFound) {
			t.Error(err)
		}
	})
}

// TestRetention: events of the last days stay, older ones go with everything that hangs on them, and a cursor from
// before is told.
func TestRetention(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		feed := alert.NewEventFeed(m.Store.Alerts)
		held := m.endpoint(t, newReceiver(t, nil))
		if _, err := m.endpoints.DisableEndpoint(ctx, m.partner, held.ID); err != nil {
			t.Fatal(err)
		}
		r := newReceiver(t, nil)
		m.endpoint(t, r)
		m.run(t, testOptions)
		for range 3 {
			m.publish(t, alert.LeakDetected, "ana")
		}
		page, err := feed.ReadPage(ctx, m.partner, alert.Everything, "", 1)
		if err != nil || len(page.Events) != 1 || !page.HasMore {
			t.Fatal(page, err)
		}
		wait(t, "the old events", func() bool { return m.countWhere(t, "delivery", "state = 'delivered'") == 3 })
		m.clock.Advance(alert.KeepEvents - time.Hour) // the clock runs on while a starved machine delivers
		young := m.publish(t, alert.LeakDetected, "ana")
		wait(t, "the young event", func() bool { return m.countWhere(t, "delivery", "state = 'delivered'") == 4 })
		if n, err := m.Alerts.SweepEvents(ctx, alert.KeepEvents); err != nil || n != 0 {
			t.Fatalf("%d events swept too early: %v", n, err)
		}
		m.clock.Advance(2 * time.Hour)
		if n, err := m.Alerts.SweepEvents(ctx, alert.KeepEvents); err != nil || n != 3 {
			t.Fatalf("%d events swept: %v", n, err)
		}
		e, d, a := m.count(t, "event"), m.count(t, "delivery"), m.countWhere(t, "delivery", "tried IS NOT NULL")
		if e != 1 || d != 2 || a != 1 {
			t.Errorf("left: %d events, %d deliveries, %d attempts", e, d, a)
		}
		after, err := feed.ReadPage(ctx, m.partner, alert.Everything, page.Next, 10)
		if err != nil || len(after.Events) != 1 {
			t.Fatalf("%v %v", after, err)
		}
		difftest.Check(t, "the event behind the gap", after.Events[0].ID, young.ID)
		difftest.Check(t, "the page says that events were skipped", after.Skipped, true)
		fresh, err := feed.ReadPage(ctx, m.partner, alert.Everything, "", 10)
		if err != nil || len(fresh.Events) != 1 {
			t.Fatalf("%v %v", fresh, err)
		}
		want := fresh
		want.Skipped, want.Next = false, after.Next
		difftest.Check(t, "a page from the beginning", fresh, want)
	})
}

// TestReport: pushed, pulled and missing, per endpoint and in all.
func TestReport(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		history, feed := alert.NewHistory(m.Store.Alerts, m.Store.Partners), alert.NewEventFeed(m.Store.Alerts)
		report := func() string {
			t.Helper()
			r, err := history.ReportEvents(ctx, m.partner, alert.ReportOf{Show: 2})
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf(
				"%d events, %d pushed, %d pulled, %d missing, %d shown",
				r.Events,
				r.Pushed,
				r.Pulled,
				r.Missing,
				len(r.Oldest),
			)
			for _, e := range r.Endpoints {
				text += fmt.Sprintf("; %s %d %d %d %d", e.State, e.Delivered, e.Pending, e.Held, e.Failed)
			}
			return text
		}
		expect := func(want string) {
			t.Helper()
			if got := report(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
		expect("0 events, 0 pushed, 0 pulled, 0 missing, 0 shown")
		m.publish(t, alert.LeakDetected, "ana")
		m.publish(t, alert.LeakDetected, "bia")
		expect("2 events, 0 pushed, 0 pulled, 2 missing, 2 shown")
		r := newReceiver(t, nil)
		e := m.endpoint(t, r)
		for range 3 {
			m.publish(t, alert.LeakDetected, "ana")
		}
		expect("5 events, 0 pushed, 0 pulled, 5 missing, 2 shown; enabled 0 3 0 0")
		stop := m.run(t, testOptions)
		wait(t, "delivery", func() bool { return m.countWhere(t, "delivery", "state = 'delivered'") == 3 })
		stop()
		expect("5 events, 3 pushed, 0 pulled, 2 missing, 2 shown; enabled 3 0 0 0")
		page, err := feed.ReadPage(ctx, m.partner, alert.Everything, "", 1)
		if err != nil {
			t.Fatal(err)
		}
		expect(
			"5 events, 3 pushed, 0 pulled, 2 missing, 2 shown; enabled 3 0 0 0",
		) // a page is not received before its cursor comes back
		if _, err := feed.ReadPage(ctx, m.partner, alert.Everything, page.Next, 1); err != nil {
			t.Fatal(err)
		}
		expect("5 events, 3 pushed, 1 pulled, 1 missing, 1 shown; enabled 3 0 0 0")
		if _, err := m.endpoints.DisableEndpoint(ctx, m.partner, e.ID); err != nil {
			t.Fatal(err)
		}
		m.publish(t, alert.LeakDetected, "ana")
		expect("6 events, 3 pushed, 1 pulled, 2 missing, 2 shown; disabled 3 0 1 0")
		_, err = history.ReportEvents(ctx, "pt_other", alert.ReportOf{Show: 2})
		if !errors.Is(err, partner.ErrNotFound) {
			t.Error(err)
		}
	})
}

// TestReportInParts: a window is compared part by part, each event in one of them, and the last part says that it is.
func TestReportInParts(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx, history := context.Background(), alert.NewHistory(m.Store.Alerts, m.Store.Partners)
		for range 5 {
			m.publish(t, alert.LeakDetected, "ana")
		}
		for most, want := range map[int]string{1: "1 1 1 1 1", 2: "2 2 1", 4: "4 1", 5: "5", 6: "5", 0: "5"} {
			got := ""
			for of := (alert.ReportOf{Most: most, Show: 10}); ; {
				r, err := history.ReportEvents(ctx, m.partner, of)
				if err != nil || r.Missing != r.Events || len(r.Oldest) != int(r.Events) ||
					r.Until.IsZero() != (r.Next == 0) {
					t.Fatalf("%+v %v", r, err)
				}
				got += fmt.Sprint(r.Events, " ")
				if of.After = r.Next; r.Next == 0 {
					break
				}
			}
			if got != want+" " {
				t.Errorf("parts of %d: %s, want %s", most, got, want)
			}
		}
		now := time.Now()
		for name, c := range map[string]struct {
			of   alert.ReportOf
			want int64
		}{
			"before": {alert.ReportOf{To: now.Add(-48 * time.Hour)}, 0},
			"after":  {alert.ReportOf{From: now.Add(48 * time.Hour)}, 0},
			"around": {alert.ReportOf{From: now.Add(-48 * time.Hour), To: now.Add(48 * time.Hour)}, 5},
		} {
			if r, err := history.ReportEvents(ctx, m.partner, c.of); err != nil || r.Events != c.want {
				t.Errorf("%s: %d events, want %d (%v)", name, r.Events, c.want, err)
			}
		}
	})
}

// TestPullsCountByArea: who may read one area has the events of that one only, and its cursor stands behind the others'
// all the same.
func TestPullsCountByArea(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx, feed := context.Background(), alert.NewEventFeed(m.Store.Alerts)
		for name, c := range map[string]struct {
			of          alert.Areas
			events      int
			pulled      int64
			thenMissing alert.Type
		}{
			"cyber":         {alert.Areas{Cyber: true}, 3, 3, alert.SubscriptionEnded},
			"subscriptions": {alert.Areas{Subscriptions: true}, 1, 1, alert.LeakDetected},
			"neither":       {alert.Areas{}, 0, 0, alert.LeakDetected},
			"both":          {alert.Everything, 4, 4, ""},
		} {
			p, _ := m.env.NewPartner(t, partner.Sandbox)
			m.partner = p.ID
			m.publish(t, alert.LeakDetected, "ana")
			m.publish(t, alert.SubscriptionEnded, "ana")
			m.publish(t, alert.CaseStatusChanged, "ana")
			m.publish(t, alert.KeyExpiring, "ana")
			page, err := feed.ReadPage(ctx, m.partner, c.of, "", 10)
			if err != nil || len(page.Events) != c.events || page.HasMore {
				t.Fatal(name, page, err)
			}
			for range 2 { // the cursor is behind everything, and shows nothing twice
				again, err := feed.ReadPage(ctx, m.partner, c.of, page.Next, 10)
				if err != nil || len(again.Events) != 0 {
					t.Fatal(name, again, err)
				}
				want := again
				want.Next, want.Skipped = page.Next, false
				difftest.Check(t, name, again, want)
			}
			if all, err := feed.ReadPage(
				ctx,
				m.partner,
				alert.Everything,
				"",
				10,
			); err != nil ||
				all.Next != page.Next {
				t.Error(name, "the cursor does not stand behind the newest event:", all, err)
			}
			history := alert.NewHistory(m.Store.Alerts, m.Store.Partners)
			r, err := history.ReportEvents(ctx, m.partner, alert.ReportOf{Show: 1})
			if err != nil || r.Pulled != c.pulled || r.Missing != r.Events-c.pulled {
				t.Errorf("%s: %+v %v", name, r, err)
			}
			if c.thenMissing != "" && r.Oldest[0].Type != c.thenMissing {
				t.Errorf("%s: %s is missing, want %s", name, r.Oldest[0].Type, c.thenMissing)
			}
		}
	})
}

// TestErasureIsNoLoss: events that went with their person are no gap to a partner that had not read them; events that
// were lost otherwise are.
func TestErasureIsNoLoss(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 2)
		readFirst := func() alert.Stretch {
			t.Helper()
			found, err := e.Alerts.EventsAfter(ctx, w.partner.ID, alert.Everything, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		if err := erasePerson(w, w.people[0].cpf); err != nil {
			t.Fatal(err)
		}
		found := readFirst()
		if len(found.Events) == 0 || found.Events[0].Seq == 1 {
			t.Fatal("the first events are still there")
		}
		if found.Gap {
			t.Error("an erasure is told as a loss of events")
		}
		if err := storetest.Write(ctx, e, `DELETE FROM event_gap WHERE seq = 1`); err != nil {
			t.Fatal(err)
		}
		if !readFirst().Gap {
			t.Error("a loss is not told")
		}
	})
}
