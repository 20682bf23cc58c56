package store_test

import (
	"context"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// sweepRace is a transaction that is open while something is deleted.
type sweepRace struct {
	name string
	// before makes what is to be swept; use relies on it in a transaction; then checks what both have left.
	before func(t *testing.T, w *lives)
	use    func(t *testing.T, w *lives, tx store.Tx) error
	sweep  func(w *lives) error
	then   func(t *testing.T, w *lives)
}

// bystander is a person who has nothing but what a test gives them, and both forms of their user hash.
type bystander struct {
	cpf         string
	short, long partner.UserHash
}

func newBystander(w *lives) bystander {
	cpf := cpfOf(4711)
	d256, d512 := partner.PersonDigests(cpf, w.salt)
	return bystander{
		cpf,
		partner.UserHash(hex.EncodeToString(d256[1:])),
		partner.UserHash(hex.EncodeToString(d512[1:])),
	}
}

func enrolIn(tx store.Tx, id partner.ID, cpf string) error {
	sub := person(4711, livesPlan, "", 0)
	sub.Beneficiary.CPF = cpf
	_, err := storetest.Enrol(context.Background(), tx.Subscriptions, id, sub)
	return err
}

// leaveAlone makes a person known who has nothing, as a bulk request leaves behind that failed half way.
func leaveAlone(t *testing.T, w *lives) {
	t.Helper()
	ctx, who := context.Background(), newBystander(w)
	watch := cyber.NewMonitoring(w.Store.Monitoring, w.Store.Partners, everywhere{}, w.Keys.Fingerprint, w.Clock.Now)
	owner := cyber.Owner{Partner: w.partner.ID, Mode: partner.Live}
	if _, err := watch.AddAsset(
		ctx,
		cyber.AssetRequest{Owner: owner, User: who.long, Type: "cpf", Value: who.cpf},
	); err != nil {
		t.Fatal(err)
	}
	scope := cyber.AssetScope{Partner: w.partner.ID, User: who.long, Group: cyber.ContractAdds}
	list, err := watch.ListAssets(ctx, scope)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if err := watch.DeleteAsset(ctx, scope, list[0].ID); err != nil {
		t.Fatal(err)
	}
	w.Clock.Advance(25 * time.Hour)
}

// endLast enrols a person and ends the subscription, for longer than it is kept.
func endLast(t *testing.T, w *lives) {
	t.Helper()
	who := newBystander(w)
	if err := w.InTransaction(
		context.Background(),
		func(tx store.Tx) error { return enrolIn(tx, w.partner.ID, who.cpf) },
	); err != nil {
		t.Fatal(err)
	}
	registry := subscription.NewRegistry(w.Store.Subscriptions, w.Store.Plans, w.Store.Partners, w.Clock.Now)
	which := subscription.Selection{Plan: livesPlan, CPF: who.cpf}
	if _, err := registry.MoveSubscriptions(context.Background(), w.partner.ID, which, subscription.End); err != nil {
		t.Fatal(err)
	}
	w.Clock.Advance(101 * day)
}

func sweepRetention(w *lives) error {
	_, err := w.Upkeep.SweepExpired(context.Background(), store.Retention{Subscriptions: 100 * day, Cases: 50 * day})
	return err
}

func sweepEvents(w *lives) error {
	_, err := w.Alerts.SweepEvents(context.Background(), 10*day)
	return err
}

func erasePerson(w *lives, cpf string) error {
	keep := func([]subject.Tombstone) error { return nil }
	_, err := w.rights().ErasePerson(context.Background(), clerk, subject.Person{CPF: cpf}, "pedido da pessoa", keep)
	return err
}

func eraseBystander(w *lives) error { return erasePerson(w, newBystander(w).cpf) }

// hasSubscription fails unless the person is enrolled and found by both forms of the hash.
func hasSubscription(t *testing.T, w *lives) {
	t.Helper()
	who := newBystander(w)
	for _, hash := range []partner.UserHash{who.short, who.long} {
		values, err := w.Monitoring.EnrolledValues(context.Background(), w.partner.ID, hash)
		if err != nil || len(values) == 0 {
			t.Errorf("the enrolled person is not found by a hash of %d letters: %v", len(hash), err)
		}
	}
}

func sweepRaces() []sweepRace {
	ctx := context.Background()
	return []sweepRace{
		{
			name:   "an enrolment of somebody who was left alone",
			before: leaveAlone,
			use: func(_ *testing.T, w *lives, tx store.Tx) error {
				return enrolIn(tx, w.partner.ID, newBystander(w).cpf)
			},
			sweep: sweepRetention,
			then:  hasSubscription,
		},
		{
			name:   "an enrolment of somebody whose last subscription is swept",
			before: endLast,
			use: func(_ *testing.T, w *lives, tx store.Tx) error {
				return enrolIn(tx, w.partner.ID, newBystander(w).cpf)
			},
			sweep: sweepRetention,
			then:  hasSubscription,
		},
		{
			name:   "a CPF that is watched",
			before: leaveAlone,
			use: func(_ *testing.T, w *lives, tx store.Tx) error {
				who := newBystander(w)
				watch := cyber.NewMonitoring(tx.Monitoring, tx.Partners, everywhere{}, w.Keys.Fingerprint, w.Clock.Now)
				owner := cyber.Owner{Partner: w.partner.ID, Mode: partner.Live}
				_, err := watch.AddAsset(
					ctx,
					cyber.AssetRequest{Owner: owner, User: who.long, Type: "cpf", Value: who.cpf},
				)
				return err
			},
			sweep: sweepRetention,
			then: func(t *testing.T, w *lives) {
				list, err := w.Monitoring.AssetsOfUser(ctx, w.partner.ID, newBystander(w).short)
				if err != nil || len(list) != 1 {
					t.Errorf("%d values under the other hash, want 1 (%v)", len(list), err)
				}
			},
		},
		{
			name:   "an answer",
			before: endLast,
			use: func(_ *testing.T, w *lives, tx store.Tx) error {
				return tx.Advice.KeepAnswer(ctx, w.partner.ID, newBystander(w).long, "q", "sim")
			},
			sweep: sweepRetention,
			then:  isKnown,
		},
		{
			name:   "a score",
			before: endLast,
			use: func(_ *testing.T, w *lives, tx store.Tx) error {
				return tx.Advice.KeepScore(
					ctx,
					w.partner.ID,
					newBystander(w).long,
					cyber.ScoreDay{Day: partner.DayNumber(w.Clock.Now()), Breach: 50},
				)
			},
			sweep: sweepRetention,
			then:  isKnown,
		},
		{
			name: "a closed case that the person rates",
			before: func(t *testing.T, w *lives) {
				cases := cyber.NewCases(w.Store.Cases, w.Clock.Now)
				_, err := cases.MoveCase(ctx, w.caseOf(t), cyber.CaseCancelled, "op_1", "")
				if err != nil {
					t.Fatal(err)
				}
				w.Clock.Advance(51 * day)
			},
			use: func(t *testing.T, w *lives, tx store.Tx) error {
				_, err := tx.Cases.UpdateCase(ctx, cyber.CaseKey{ID: w.caseOf(t)}, func(c *cyber.Case) (cyber.CaseChange, error) {
					c.Status, c.ChangedAt = cyber.CaseInProgress, w.Clock.Now()
					return cyber.CaseChange{Lines: []cyber.CaseMove{{
						From:  cyber.CaseCancelled,
						To:    cyber.CaseInProgress,
						Actor: "op_1",
						At:    w.Clock.Now(),
					}}}, nil
				})
				return err
			},
			sweep: sweepRetention,
			then: func(t *testing.T, w *lives) {
				if c, _, err := w.Cases.GetCase(ctx, w.caseOf(t)); err != nil || c.Status != cyber.CaseInProgress {
					t.Errorf("the case that was taken up again is %q (%v)", c.Status, err)
				}
			},
		},
		{
			name:   "the result of a delivery whose event is swept",
			before: func(_ *testing.T, w *lives) { w.Clock.Advance(11 * day) },
			use:    recordAnswer,
			sweep:  sweepEvents,
			then:   func(*testing.T, *lives) {},
		},
		{
			name:   "the result of a delivery whose endpoint is deleted",
			before: func(*testing.T, *lives) {},
			use:    recordAnswer,
			sweep:  func(w *lives) error { return w.Alerts.DeleteEndpoint(ctx, w.partner.ID, w.firstEndpoint()) },
			then:   func(*testing.T, *lives) {},
		},
		{
			name:   "a repetition of events that are swept",
			before: func(_ *testing.T, w *lives) { w.Clock.Advance(11 * day) },
			use: func(t *testing.T, w *lives, tx store.Tx) error {
				_, err := tx.Alerts.RequeueDeliveries(
					ctx,
					w.partner.ID,
					alert.Selection{From: storetest.Start, To: w.Clock.Now()},
				)
				return err
			},
			sweep: sweepEvents,
			then:  func(*testing.T, *lives) {},
		},
		{
			name: "a repetition of events, swept, for a new endpoint",
			before: func(t *testing.T, w *lives) {
				w.Clock.Advance(11 * day)
				endpoints := alert.NewEndpoints(w.Store.Alerts, w.Clock.Now, nil)
				_, err := endpoints.CreateEndpoint(ctx, w.partner.ID, "http://127.0.0.1:9/dois", nil, loopback)
				if err != nil {
					t.Fatal(err)
				}
			},
			use: func(t *testing.T, w *lives, tx store.Tx) error {
				_, err := tx.Alerts.RequeueDeliveries(
					ctx,
					w.partner.ID,
					alert.Selection{From: storetest.Start, To: w.Clock.Now()},
				)
				return err
			},
			sweep: sweepEvents,
			then:  func(*testing.T, *lives) {},
		},
		{
			name:   "an answer of somebody who is erased",
			before: endLast,
			use: func(_ *testing.T, w *lives, tx store.Tx) error {
				return tx.Advice.KeepAnswer(ctx, w.partner.ID, newBystander(w).long, "q", "sim")
			},
			sweep: eraseBystander,
			then:  isGone,
		},
		{
			name:   "a key of somebody who is erased",
			before: endLast,
			use: func(_ *testing.T, w *lives, tx store.Tx) error {
				endpoints := cyber.NewEndpoints(tx.Devices, w.Clock.Now, nil)
				_, err := endpoints.IssueKey(ctx, w.partner.ID, phone(string(newBystander(w).long), "Celular"))
				return err
			},
			sweep: eraseBystander,
			then:  isGone,
		},
		{
			name:   "an enrolment of somebody who is erased",
			before: endLast,
			use: func(_ *testing.T, w *lives, tx store.Tx) error {
				return enrolIn(tx, w.partner.ID, newBystander(w).cpf)
			},
			sweep: eraseBystander,
			then:  isGone,
		},
		{
			name:   "the result of a delivery that is erased",
			before: func(*testing.T, *lives) {},
			use:    recordAnswer,
			sweep:  func(w *lives) error { return erasePerson(w, w.people[0].cpf) },
			then:   func(*testing.T, *lives) {},
		},
	}
}

// TestSweepsLeaveOpenTransactionsAlone: nothing is deleted that an open transaction relies on. Each transaction is
// committed only when the sweep has ended or waits for it.
func TestSweepsLeaveOpenTransactionsAlone(t *testing.T) {
	for _, race := range sweepRaces() {
		t.Run(race.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, e *storetest.Env) {
				ctx := context.Background()
				w := newLives(t, e, 1)
				race.before(t, w)
				swept := make(chan error, 1)
				err := w.InTransaction(ctx, func(tx store.Tx) error {
					if err := race.use(t, w, tx); err != nil {
						return err
					}
					go func() { swept <- race.sweep(w) }()
					if e.DB.EngineName() == sqldb.SQLite { // it has one writer: the sweep waits
						return nil
					}
					wait(t, "the sweep", func() bool { return len(swept) > 0 || waitsForLock(t, e) })
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := <-swept; err != nil {
					t.Error("sweep:", err)
				}
				race.then(t, w)
				if found := problems(t, ctx, w.Upkeep); len(found) != 0 {
					t.Error(found)
				}
			})
		})
	}
}

// waitsForLock tells whether a statement of the test's database waits for a row that another transaction holds.
func waitsForLock(t *testing.T, e *storetest.Env) (waits bool) {
	t.Helper()
	query := `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock')`
	if storetest.IsCitus() {
		query = `SELECT EXISTS (SELECT 1 FROM citus_lock_waits)`
	}
	if err := e.DB.ReadPool().QueryRowContext(context.Background(), query).Scan(&waits); err != nil {
		t.Fatal(err)
	}
	return waits
}

// isKnown fails unless the service still knows both hashes of the bystander as one person.
func isKnown(t *testing.T, w *lives) {
	t.Helper()
	who := newBystander(w)
	same, err := w.Monitoring.IsSamePerson(context.Background(), w.partner.ID, who.short, who.long)
	if err != nil || !same {
		t.Error("the hashes of one person are those of two now:", err)
	}
}

// isGone fails if anything is stored of the bystander.
func isGone(t *testing.T, w *lives) {
	t.Helper()
	who := newBystander(w)
	held, err := w.rights().ExportPerson(context.Background(), subject.Person{CPF: who.cpf})
	if err == nil && len(held) > 0 {
		t.Errorf("there is something left of a person who was erased: %+v", held)
	}
	if n := w.count(t, `SELECT count(*) FROM epp_key k WHERE NOT EXISTS (SELECT 1 FROM epp_holder h
		WHERE h.partner_id = k.partner_id AND h.user_index = k.user_index)`); n != 0 {
		t.Errorf("%d keys have no holder", n)
	}
}

// caseOf returns the only case.
func (w *lives) caseOf(t *testing.T) (id cyber.CaseID) {
	t.Helper()
	err := w.DB.ReadPool().QueryRowContext(context.Background(), `SELECT id FROM support_case`).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// firstEndpoint returns the only endpoint.
func (w *lives) firstEndpoint() alert.EndpointID {
	list, err := w.Alerts.ListEndpoints(context.Background(), w.partner.ID)
	if err != nil || len(list) == 0 {
		return ""
	}
	return list[0].ID
}

// recordAnswer stores the tries of all deliveries, each with the text that the receiver answered.
func recordAnswer(t *testing.T, w *lives, tx store.Tx) error {
	t.Helper()
	ctx := context.Background()
	type key struct {
		seq   int64
		event string
	}
	var keys []key
	err := sqldb.EachRow(ctx, w.DB.KeptReader(), func(row sqldb.Row) error {
		var k key
		err := row.Scan(&k.seq, &k.event)
		keys = append(keys, k)
		return err
	}, `SELECT seq, event_id FROM delivery ORDER BY seq`)
	if err != nil {
		return err
	}
	var results []alert.Result
	for i, k := range slices.Backward(keys) {
		r := alert.Result{
			Delivery: alert.Delivery{
				Partner:  w.partner.ID,
				Endpoint: w.firstEndpoint(),
				Event:    alert.EventID(k.event),
				Seq:      k.seq,
				Tried:    i%2 == 0,
			},
			At:       w.Clock.Now().Add(time.Second),
			Outcome:  &webhook.Outcome{Status: 200, Answer: "recebi"},
			State:    alert.Delivered,
			Attempts: 1,
			Now:      w.Clock.Now(),
		}
		if i%3 == 0 { // one that was delivered before, without a text
			r.Outcome.Answer, r.Delivery.Tried = "", false
		}
		results = append(results, r)
	}
	return tx.Alerts.RecordResults(ctx, "w2", results)
}
