package store_test

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
)

// bank is the partner's program in the audit trail.
var bank = operator.Actor{Name: "api:key_1", From: "192.0.2.7"}

func (w *lives) erasures() *subject.Erasures {
	return subject.NewErasures(w.Store.Subjects, w.Clock.Now)
}

// askErasure asks for the erasure of a person of the partner.
func (w *lives) askErasure(t *testing.T, n int) subject.ErasureRequest {
	t.Helper()
	r, err := w.erasures().RequestErasure(
		context.Background(),
		bank,
		subject.Person{User: w.people[n].user, Partner: w.partner.ID},
		"pedido do titular",
	)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// runDue carries out what is due and returns how many requests it completed.
func (w *lives) runDue(t *testing.T) int {
	t.Helper()
	n, err := w.rights().RunDueErasures(context.Background(), false, keepNoCopy)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// stateOf returns a request as it is now.
func (w *lives) stateOf(t *testing.T, request string) subject.ErasureRequest {
	t.Helper()
	r, err := w.erasures().FindErasure(context.Background(), w.partner.ID, request)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// holds counts the records that the partner holds about a person.
func (w *lives) holds(t *testing.T, n int) int {
	t.Helper()
	who := subject.Person{User: w.people[n].user, Partner: w.partner.ID}
	held, err := w.rights().ExportPerson(context.Background(), who)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, h := range held {
		total += len(h.Subscriptions) + len(h.Assets) + len(h.Findings) + len(h.Cases) + len(h.Devices) + len(h.Events)
	}
	return total
}

// erasureEvents returns the types of the partner's events about erasures, oldest first, and their bodies.
func (w *lives) erasureEvents(t *testing.T) (types []alert.Type, bodies []string) {
	t.Helper()
	list, err := w.Alerts.EventsAfter(context.Background(), w.partner.ID, alert.Everything, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Events {
		if strings.HasPrefix(string(e.Type), "erasure.") {
			types, bodies = append(types, e.Type), append(bodies, string(e.Body))
		}
	}
	return types, bodies
}

// lines counts the lines of the audit trail with an action.
func (w *lives) lines(t *testing.T, action string) int64 {
	t.Helper()
	return w.count(t, `SELECT count(*) FROM audit WHERE action = $1`, action)
}

// TestErasureRequestIsCarriedOutAfterADay: nothing goes before a day has passed; then everything that the partner holds
// goes, what others hold stays, the partner is told at both ends, and the row names nobody.
func TestErasureRequestIsCarriedOutAfterADay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w, other := newLives(t, e, 2), newLives(t, e, 1)
		before, elsewhere, user := w.holds(t, 0), other.holds(t, 0), w.userIndex(t, 0)
		r := w.askErasure(t, 0)
		if r.State != subject.RequestPending || !r.DueAt.Equal(r.RequestedAt.Add(24*time.Hour)) {
			t.Errorf("%+v", r)
		}
		w.Clock.Advance(24*time.Hour - time.Second)
		if n := w.runDue(t); n != 0 || w.holds(t, 0) < before {
			t.Errorf("%d requests were carried out before they were due", n)
		}
		w.Clock.Advance(time.Second)
		if n := w.runDue(t); n != 1 {
			t.Errorf("%d requests were carried out", n)
		}
		if left := w.left(t, user); w.holds(t, 0) != 0 || left != 0 {
			t.Errorf("%d rows are left", left)
		}
		if got := other.holds(t, 0); got != elsewhere {
			t.Errorf("another partner holds %d records of the person, before %d", got, elsewhere)
		}
		if w.holds(t, 1) == 0 {
			t.Error("somebody else was erased, too")
		}
		got := w.stateOf(t, r.ID)
		want := got
		want.State, want.User, want.Reason = subject.RequestCompleted, "", ""
		difftest.Check(t, "the request", got, want)
		if got.Removed < int64(before) || got.EndedAt.IsZero() {
			t.Errorf("%+v, of %d records", got, before)
		}
		if n := w.count(t, `SELECT count(*) FROM erasure_request WHERE length(person) > 0 OR request IS NOT NULL`); n != 0 {
			t.Errorf("%d requests that are over name somebody", n)
		}
		// A second worker that comes to the same end tells nothing.
		again, err := w.Store.Subjects.CompleteErasureRequest(context.Background(), w.partner.ID, r.ID)
		if err != nil || again {
			t.Error("completed twice:", again, err)
		}
		types, bodies := w.erasureEvents(t)
		// The event of the request was about the person, and went with them.
		if !slices.Equal(types, []alert.Type{alert.ErasureCompleted}) || !strings.Contains(bodies[0], r.ID) ||
			strings.Contains(bodies[0], "userHash") {
			t.Error(types, bodies)
		}
		if w.lines(t, "subject.erase") != 1 || w.lines(t, "subject.erased") != 1 {
			t.Error("the audit trail:", w.lines(t, "subject.erase"), w.lines(t, "subject.erased"))
		}
		stones, err := w.Store.Subjects.Tombstones(context.Background())
		if err != nil || len(stones) != 1 || stones[0].ID != r.ID {
			t.Error("the log of erasures:", stones, err)
		}
		if found := problems(t, context.Background(), w.Upkeep); len(found) > 0 {
			t.Error("the checks:", found)
		}
	})
}

// TestSecondErasureRequestIsTheFirst: one open request a person, however often and by however many it is asked for, and
// by whichever spelling of the user hash.
func TestSecondErasureRequestIsTheFirst(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newLives(t, e, 1)
		d256, _ := partner.PersonDigests(w.people[0].cpf, w.salt)
		short := partner.UserHash(hex.EncodeToString(d256[1:]))
		ids := make([]string, 8)
		var group sync.WaitGroup
		for i := range ids {
			user := w.people[0].user
			if i%2 == 1 {
				user = short
			}
			group.Go(func() {
				r, err := w.erasures().RequestErasure(
					context.Background(),
					bank,
					subject.Person{User: user, Partner: w.partner.ID},
					"pedido",
				)
				if err != nil {
					t.Error(err)
				}
				ids[i] = r.ID
			})
		}
		group.Wait()
		slices.Sort(ids)
		if ids = slices.Compact(ids); len(ids) != 1 {
			t.Errorf("%d requests for one person", len(ids))
		}
		if types, _ := w.erasureEvents(t); !slices.Equal(types, []alert.Type{alert.ErasureRequested}) {
			t.Error(types)
		}
		if n := w.lines(t, "subject.erase"); n != 1 {
			t.Errorf("%d lines in the audit trail", n)
		}
	})
}

// TestErasureRequestIsCancelled: until it begins. Afterwards the person can be asked about anew.
func TestErasureRequestIsCancelled(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 1)
		r := w.askErasure(t, 0)
		for range 2 { // a repeat finds it done
			got, err := w.erasures().CancelErasure(ctx, bank, w.partner.ID, r.ID)
			if err != nil || got.State != subject.RequestCancelled || got.User != "" {
				t.Fatalf("%+v %v", got, err)
			}
		}
		if n := w.lines(t, "subject.erase_cancel"); n != 1 {
			t.Errorf("%d lines in the audit trail", n)
		}
		w.Clock.Advance(48 * time.Hour)
		if n := w.runDue(t); n != 0 || w.holds(t, 0) == 0 {
			t.Error("a cancelled request was carried out")
		}
		types, bodies := w.erasureEvents(t)
		want := []alert.Type{alert.ErasureRequested, alert.ErasureCancelled}
		if !slices.Equal(types, want) || !strings.Contains(bodies[1], string(w.people[0].user)) {
			t.Error(types, bodies)
		}
		second := w.askErasure(t, 0)
		if second.ID == r.ID {
			t.Error("a cancelled request is open again")
		}
		w.Clock.Advance(24 * time.Hour)
		w.runDue(t)
		if _, err := w.erasures().CancelErasure(ctx, bank, w.partner.ID, second.ID); !errors.Is(
			err,
			subject.ErrRequestBegun,
		) {
			t.Error("cancel after the end:", err)
		}
	})
}

// TestErasureRequestOfAnotherPartner: its id is no id.
func TestErasureRequestOfAnotherPartner(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w, other := newLives(t, e, 1), newLives(t, e, 1)
		r := w.askErasure(t, 0)
		for _, request := range []string{r.ID, "er_nunca"} {
			_, err := other.erasures().FindErasure(ctx, other.partner.ID, request)
			if !errors.Is(err, subject.ErrRequestNotFound) {
				t.Error("find:", err)
			}
			_, err = other.erasures().CancelErasure(ctx, bank, other.partner.ID, request)
			if !errors.Is(err, subject.ErrRequestNotFound) {
				t.Error("cancel:", err)
			}
		}
		if got := w.stateOf(t, r.ID); got.State != subject.RequestPending {
			t.Errorf("%+v", got)
		}
		if list, err := other.erasures().ListOpenErasures(ctx, other.partner.ID); err != nil || len(list) != 0 {
			t.Error(list, err)
		}
	})
}

// TestManyWorkersCarryOutAnErasureOnce: however many replicas look for due requests at once, each is completed, told and
// recorded once.
func TestManyWorkersCarryOutAnErasureOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newLives(t, e, 3)
		for n := range 3 {
			w.askErasure(t, n)
		}
		w.Clock.Advance(24 * time.Hour)
		var completed [4]int
		var group sync.WaitGroup
		for i := range completed {
			group.Go(func() {
				n, err := w.rights().RunDueErasures(context.Background(), false, keepNoCopy)
				if err != nil {
					t.Error(err)
				}
				completed[i] = n
			})
		}
		group.Wait()
		if sum := completed[0] + completed[1] + completed[2] + completed[3]; sum != 3 {
			t.Error("completed by each worker:", completed)
		}
		if types, _ := w.erasureEvents(t); len(types) != 3 || w.lines(t, "subject.erased") != 3 {
			t.Error(types, w.lines(t, "subject.erased"))
		}
	})
}

// TestKilledErasureRequestGoesOn: a worker may end after any transaction. The next one completes the request, once, and
// nothing of the person is left.
func TestKilledErasureRequestGoesOn(t *testing.T) {
	t.Parallel()
	for at := int64(1); ; at++ {
		w := newLives(t, storetest.Open(t, sqldb.SQLite), 1)
		user := w.userIndex(t, 0)
		r := w.askErasure(t, 0)
		w.Clock.Advance(24 * time.Hour)
		ctx, kill := context.WithCancel(context.Background())
		var transactions int64
		if err := w.DB.WatchWriter(ctx, func(sqldb.Hold) {
			if transactions++; transactions == at {
				kill()
			}
		}); err != nil {
			t.Fatal(err)
		}
		_, err := w.rights().RunDueErasures(ctx, false, func([]subject.Tombstone) error { return ctx.Err() })
		killed := ctx.Err() != nil
		kill()
		if !killed {
			if err != nil || at < 5 {
				t.Errorf("%d transactions and no end: %v", transactions, err)
			}
			return
		}
		w.Clock.Advance(6 * time.Minute)
		w.runDue(t)
		if got := w.stateOf(t, r.ID); got.State != subject.RequestCompleted {
			t.Errorf("killed after transaction %d: %+v", at, got)
		}
		if left := w.left(t, user); left != 0 {
			t.Errorf("killed after transaction %d: %d rows are left", at, left)
		}
		types, _ := w.erasureEvents(t)
		if !slices.Equal(types, []alert.Type{alert.ErasureCompleted}) || w.lines(t, "subject.erased") != 1 {
			t.Errorf("killed after transaction %d: %v, %d lines", at, types, w.lines(t, "subject.erased"))
		}
	}
}

// TestOperatorsErasureCompletesARequest: what the partner enrols after it is not erased by the request.
func TestOperatorsErasureCompletesARequest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newLives(t, e, 1)
		r := w.askErasure(t, 0)
		w.Clock.Advance(time.Hour)
		w.erase(t, w.people[0].who())
		w.Clock.Advance(time.Minute)
		if n := w.runDue(t); n != 1 {
			t.Errorf("%d requests were completed", n)
		}
		got := w.stateOf(t, r.ID)
		if got.State != subject.RequestCompleted || got.Removed == 0 {
			t.Errorf("%+v", got)
		}
		w.people[0] = w.live(t, 0)
		w.Clock.Advance(48 * time.Hour)
		if n := w.runDue(t); n != 0 || w.holds(t, 0) == 0 {
			t.Error("who was enrolled anew was erased by the old request")
		}
	})
}

// TestErasureIsEndedOnce: workers that join in one erasure, since the first of them takes longer than its claim lasts,
// end it together. The audit trail has one line about it, and there is one tombstone.
func TestErasureIsEndedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 1)
		r := w.askErasure(t, 0)
		w.Clock.Advance(24 * time.Hour)
		who := subject.Person{User: w.people[0].user, Partner: w.partner.ID}
		held, err := w.Subjects.Held(ctx, w.partner, who)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Subjects.BeginErasureRequest(ctx, held, who, r); err != nil {
			t.Fatal(err)
		}
		record := func(in operator.Ledger, person string, _ subject.Erased, stone subject.Tombstone) error {
			return operator.NewTrail(in, w.Clock.Now).RecordAction(ctx, clerk, "subject.erased", person, stone.ID)
		}
		start := make(chan struct{})
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				<-start
				stone, err := w.Subjects.CarryOutErasure(ctx, w.partner.ID, r.ID, record)
				if err != nil || stone.ID != r.ID {
					t.Error(stone.ID, err)
				}
			})
		}
		close(start)
		group.Wait()
		if n := w.lines(t, "subject.erased"); n != 1 {
			t.Errorf("%d lines in the audit trail, want 1", n)
		}
		if stones, err := w.Subjects.Tombstones(ctx); err != nil || len(stones) != 1 {
			t.Error("the log of erasures:", stones, err)
		}
	})
}

// TestRequestBeforeThePersonWasKnown: a request by either digest of somebody of whom nothing is held yet is over with
// an erasure of the person, who is known by then; what the partner enrols afterwards stays.
func TestRequestBeforeThePersonWasKnown(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 0)
		for n, name := range []string{"the short digest", "the long digest"} {
			d256, d512 := partner.PersonDigests(cpfOf(n), w.salt)
			digest := [][]byte{d256[1:], d512[1:]}[n]
			asked := subject.Person{User: partner.UserHash(hex.EncodeToString(digest)), Partner: w.partner.ID}
			r, err := w.erasures().RequestErasure(ctx, bank, asked, "pedido do titular")
			if err != nil {
				t.Fatal(name, err)
			}
			w.people = append(w.people, w.live(t, n))
			w.Clock.Advance(time.Hour)
			w.erase(t, w.people[n].who())
			if got := w.stateOf(t, r.ID); got.State != subject.RequestErasing {
				t.Errorf("%s: the erasure left the request %s", name, got.State)
			}
			w.people[n] = w.live(t, n)
			w.Clock.Advance(48 * time.Hour)
			if completed := w.runDue(t); completed != 1 {
				t.Errorf("%s: %d requests were completed", name, completed)
			}
			if w.holds(t, n) == 0 {
				t.Errorf("%s: who was enrolled anew was erased by the old request", name)
			}
			if got := w.stateOf(t, r.ID); got.State != subject.RequestCompleted {
				t.Errorf("%s: %+v", name, got)
			}
		}
	})
}

// TestEnrolledAgainBeforeTheErasure: the erasure takes what is held when it begins. Who wants to keep the person cancels
// it.
func TestEnrolledAgainBeforeTheErasure(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newLives(t, e, 1)
		w.askErasure(t, 0)
		w.Clock.Advance(12 * time.Hour)
		again := person(7, livesPlan, "", 0)
		again.Beneficiary.CPF, again.Plan = w.people[0].cpf, "prata"
		silver := plan.Plan{ID: "prata", Partner: w.partner.ID, Name: "Prata", CreatedAt: w.Clock.Now()}
		if err := w.Plans.InsertPlan(context.Background(), w.partner.ID, silver); err != nil {
			t.Fatal(err)
		}
		enrolAll(t, w.Env, w.partner.ID, again)
		w.Clock.Advance(12 * time.Hour)
		w.runDue(t)
		if n := w.holds(t, 0); n != 0 {
			t.Errorf("%d records are left", n)
		}
	})
}

// TestSuspendedPartnersErasuresWait: the operator who suspends a partner whose key was stolen stops what it asked for.
func TestSuspendedPartnersErasuresWait(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 1)
		r := w.askErasure(t, 0)
		w.Clock.Advance(24 * time.Hour)
		registry := storetest.Registry(w.Store.Partners, w.Clock.Now)
		if _, err := registry.SuspendPartner(ctx, w.partner.ID); err != nil {
			t.Fatal(err)
		}
		if n := w.runDue(t); n != 0 || w.stateOf(t, r.ID).State != subject.RequestPending {
			t.Error("carried out for a suspended partner")
		}
		if _, err := registry.ResumePartner(ctx, w.partner.ID); err != nil {
			t.Fatal(err)
		}
		if n := w.runDue(t); n != 1 {
			t.Error("not carried out after the partner was resumed")
		}
	})
}

// TestErasureRequestByCPF: the officer of a partner names a person by CPF. Then the CPF that is watched for somebody else
// goes too, as with the operator's erasure, and the person is found by any spelling of their hash.
func TestErasureRequestByCPF(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 2)
		watch := cyber.NewMonitoring(
			w.Store.Monitoring,
			w.Store.Partners,
			everywhere{},
			w.Keys.Fingerprint,
			w.Clock.Now,
		)
		_, err := watch.AddAsset(ctx, cyber.AssetRequest{
			Owner: cyber.Owner{Partner: w.partner.ID, Mode: partner.Live},
			User:  w.people[1].user,
			Type:  "cpf",
			Value: w.people[0].cpf,
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := w.erasures().RequestErasure(
			ctx,
			bank,
			subject.Person{CPF: w.people[0].cpf, Partner: w.partner.ID},
			"pedido",
		)
		if err != nil {
			t.Fatal(err)
		}
		if again := w.askErasure(t, 0); again.ID != r.ID {
			t.Error("by user hash it is another request")
		}
		w.Clock.Advance(24 * time.Hour)
		w.runDue(t)
		held, err := w.rights().ExportPerson(ctx, subject.Person{CPF: w.people[0].cpf, Partner: w.partner.ID})
		if err != nil || len(held) != 0 {
			t.Errorf("%+v %v", held, err)
		}
		if w.holds(t, 1) == 0 {
			t.Error("who watched the CPF was erased, too")
		}
	})
}
