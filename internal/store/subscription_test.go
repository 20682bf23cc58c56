package store_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/blake2b"
	"pgregory.net/rapid"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// person makes up a subscription; n tells people apart.
func person(n int, p plan.ID, holder string, expiry subscription.Day) *subscription.Subscription {
	s := &subscription.Subscription{
		Plan:   p,
		Start:  subscription.DayInBrazil(storetest.Start),
		Expiry: expiry,
		Holder: holder,
	}
	if holder != "" {
		s.GroupSize = 50
	}
	s.Beneficiary = subscription.Beneficiary{
		PrimaryCard: "4111111111111111",
		UserCard:    "1",
		Name:        "Pessoa " + fmt.Sprint(n),
		CPF:         fmt.Sprintf("%011d", n),
		BirthDate:   "1990-01-02",
		Gender:      "F",
		Email:       fmt.Sprintf("p%d@exemplo.com.br", n),
		Phone:       "5511987654321",
		Address: subscription.Address{
			Zipcode:      "01001000",
			Street:       "Rua A",
			Number:       "1",
			Neighborhood: "Centro",
			City:         "São Paulo",
			State:        "SP",
		},
	}
	return s
}

type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// enrolAll creates subscriptions and returns the items that were there already.
func enrolAll(t fataler, e *storetest.Env, id partner.ID, subs ...*subscription.Subscription) []int {
	t.Helper()
	dup, err := storetest.Enrol(context.Background(), e.Subscriptions, id, subs...)
	if err != nil {
		t.Fatal(err)
	}
	return dup
}

// plainPage is what a page should be, read in the plainest way.
func plainPage(t fataler, e *storetest.Env, id partner.ID, offset int64, limit int) (seqs []int64, total int64) {
	t.Helper()
	ctx := context.Background()
	const active = ` FROM subscription WHERE partner_id = $1 AND ended_at = 0 AND (expiry_day = 0 OR expiry_day >= $2)`
	today := int64(subscription.DayInBrazil(e.Clock.Now()))
	if err := e.DB.ReadPool().QueryRowContext(ctx, `SELECT count(*)`+active,
		id.Number(),
		today,
	).Scan(&total); err != nil {
		t.Fatal(err)
	}
	rows, err := e.DB.ReadPool().QueryContext(ctx, `SELECT seq`+active+` ORDER BY seq LIMIT $3 OFFSET $4`,
		id.Number(),
		today,
		int64(limit),
		offset,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var seq int64
		if err := rows.Scan(&seq); err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, seq)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return seqs, total
}

func comparePage(t fataler, e *storetest.Env, id partner.ID, offset int64, limit int) {
	t.Helper()
	want, total := plainPage(t, e, id, offset, limit)
	page, err := e.Subscriptions.ActivePage(context.Background(), id, offset, limit)
	if err != nil {
		t.Fatal(err)
	}
	got := []int64{}
	for _, s := range page.Items {
		got = append(got, s.Seq)
	}
	if page.Total != total || !slices.Equal(got, want) {
		t.Fatalf("offset %d limit %d: total %d, want %d; seq %v, want %v", offset, limit, page.Total, total, got, want)
	}
}

// TestPagesMatchThePlainQuery holds the block counts against the plain query under random creations, ends, suspensions,
// resumptions, days that go by and sweeps that come late, with numbers that start near the borders of blocks.
func TestPagesMatchThePlainQuery(t *testing.T) {
	if os.Getenv("VIGIA_TEST_LONG") == "" { // a hundred otherwise
		checks := flag.Lookup("rapid.checks")
		before := checks.Value.String()
		t.Cleanup(func() { _ = checks.Value.Set(before) })
		if err := checks.Value.Set("10"); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		rapid.Check(t, func(r *rapid.T) {
			ctx := context.Background()
			p, _ := e.NewPartner(t, partner.Live)
			start := rapid.SampledFrom([]int64{0, 0, 4096 - 40, 2*4096 - 100, 300*4096 - 300}).Draw(r, "start")
			if start > 0 {
				err := e.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
					_, err := tx.ExecContext(
						ctx,
						`INSERT INTO subscription_counter (partner_id, last, active) VALUES ($1, $2, 0)`,
						p.ID.Number(),
						start,
					)
					return err
				})
				if err != nil {
					r.Fatal(err)
				}
			}
			made := 0
			holders := []string{"", "12ABC34501DE35", "00000000000191"}
			expiry := func(r *rapid.T) subscription.Day { // none, over already, or soon
				if days := rapid.IntRange(-2, 4).Draw(r, "days"); days < 4 {
					return subscription.DayInBrazil(e.Clock.Now()) + subscription.Day(days)
				}
				return 0
			}
			r.Repeat(map[string]func(*rapid.T){
				"create": func(r *rapid.T) {
					n := rapid.IntRange(1, 150).Draw(r, "n")
					holder := rapid.SampledFrom(holders).Draw(r, "holder")
					subs := make([]*subscription.Subscription, n)
					for i := range subs {
						subs[i] = person(made+i, "p", holder, expiry(r))
					}
					made += n
					if dup := enrolAll(r, e, p.ID, subs...); len(dup) != 0 {
						r.Fatalf("%d duplicates", len(dup))
					}
				},
				"again": func(r *rapid.T) { // a person who may be active or ended
					if made > 0 {
						enrolAll(r, e, p.ID, person(rapid.IntRange(0, made-1).Draw(r, "who"), "p", "", expiry(r)))
					}
				},
				"move one": func(r *rapid.T) {
					which := subscription.Selection{
						Plan: "p",
						CPF:  fmt.Sprintf("%011d", rapid.IntRange(0, made).Draw(r, "who")),
					}
					move := rapid.SampledFrom([]subscription.Move{
						subscription.End,
						subscription.End,
						subscription.Suspend,
						subscription.Resume,
					}).Draw(r, "move")
					if _, err := e.Subscriptions.MoveSubscriptions(ctx, p.ID, which, move, 0, 10); err != nil {
						r.Fatal(err)
					}
				},
				"a day": func(*rapid.T) { e.Clock.Advance(24 * time.Hour) },
				"part of a sweep": func(r *rapid.T) {
					which := subscription.Selection{Over: subscription.DayInBrazil(e.Clock.Now())}
					if _, err := e.Subscriptions.MoveSubscriptions(
						ctx,
						p.ID,
						which,
						subscription.End,
						0,
						rapid.IntRange(1, 200).Draw(r, "limit"),
					); err != nil {
						r.Fatal(err)
					}
				},
				"end of a company": func(r *rapid.T) {
					which := subscription.Selection{Holder: rapid.SampledFrom(holders[1:]).Draw(r, "holder")}
					limit := rapid.IntRange(1, 400).Draw(r, "limit")
					if _, err := e.Subscriptions.MoveSubscriptions(
						ctx,
						p.ID,
						which,
						subscription.End,
						0,
						limit,
					); err != nil {
						r.Fatal(err)
					}
				},
				"": func(r *rapid.T) {
					limit := rapid.IntRange(1, 100).Draw(r, "limit")
					comparePage(r, e, p.ID, rapid.Int64Range(0, int64(made)+50).Draw(r, "offset"), limit)
				},
			})
			comparePage(r, e, p.ID, 0, made+1)
		})
		countsAreRight(t, e)
	})
}

// countsAreRight runs the look at the database that doctors do.
func countsAreRight(t *testing.T, e *storetest.Env) {
	t.Helper()
	for _, check := range e.Upkeep.ListChecks() {
		if check.Name != "counts" {
			continue
		}
		err := check.Run(
			context.Background(),
			func(p store.Problem) { t.Errorf("%s %s", p.Where, p.What) },
			func(int64) {},
		)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// eventsOf reads the types and bodies of a partner's events, oldest first.
func eventsOf(t fataler, e *storetest.Env, id partner.ID) (types, bodies []string) {
	t.Helper()
	rows, err := e.DB.ReadPool().QueryContext(context.Background(), `SELECT id, type, body FROM event
		WHERE partner_id = $1 ORDER BY seq`,
		id.Number(),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var event, kind string
		var sealed []byte
		if err := rows.Scan(&event, &kind, &sealed); err != nil {
			t.Fatal(err)
		}
		body, err := e.Keys.Unseal(seal.Place{Table: "event", Column: "body", Partner: string(id), Row: event}, sealed)
		if err != nil {
			t.Fatal(err)
		}
		types, bodies = append(types, kind), append(bodies, string(body))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return types, bodies
}

func TestLifeOfASubscription(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, cred := e.NewPartner(t, partner.Live)
		other, _ := e.NewPartner(t, partner.Live)
		rules := subscription.NewRegistry(e.Store.Subscriptions, e.Store.Plans, e.Store.Partners, e.Clock.Now)
		ana := person(1, "p", "", 0)
		ana.InternalID = "contrato-1"
		enrolAll(t, e, p.ID, ana)
		enrolAll(t, e, other.ID, person(1, "p", "", 0))
		one := subscription.Selection{Plan: "p", CPF: "00000000001"}
		for _, step := range []struct {
			move    subscription.Move
			changed int
		}{
			{subscription.Suspend, 1},
			{subscription.Suspend, 0},
			{subscription.Resume, 1},
			{subscription.Resume, 0},
			{subscription.Suspend, 1},
		} {
			moved, err := rules.MoveSubscriptions(ctx, p.ID, one, step.move)
			if err != nil || moved.Found != 1 || moved.Changed != step.changed {
				t.Fatal(step, moved, err)
			}
		}
		if page, err := rules.ListActive(
			ctx,
			p.ID,
			1,
			10,
		); err != nil || page.Total != 1 ||
			page.Items[0].SuspendedAt.IsZero() {
			t.Error("a suspended subscription is still active:", page, err)
		}
		if dup := enrolAll(t, e, p.ID, ana); len(dup) != 1 {
			t.Error("a suspended subscription keeps its place")
		}
		if _, err := rules.MoveSubscriptions(ctx, p.ID, one, subscription.End); err != nil {
			t.Fatal(err)
		}
		_, err := rules.MoveSubscriptions(ctx, p.ID, one, subscription.End)
		if !errors.Is(err, subscription.ErrNotFound) {
			t.Error("an ended subscription is not ended again:", err)
		}
		if page, err := rules.ListActive(ctx, p.ID, 1, 10); err != nil || page.Total != 0 || len(page.Items) != 0 {
			t.Error(page, err)
		}
		if got, err := rules.FindSubscription(
			ctx,
			p.ID,
			"p",
			"00000000001",
		); err != nil || got.EndedAt.IsZero() ||
			got.InternalID != "contrato-1" {
			t.Error("the latest that ended is found:", got, err)
		}
		if page, err := rules.ListActive(ctx, other.ID, 1, 10); err != nil || page.Total != 1 {
			t.Error("the other partner's is untouched:", page, err)
		}
		types, bodies := eventsOf(t, e, p.ID)
		want := "subscription.suspended subscription.resumed subscription.suspended subscription.ended"
		if got := strings.Join(types, " "); got != want {
			t.Errorf("events %s, want %s", got, want)
		}
		sum := blake2b.Sum512([]byte("00000000001" + cred.Salt))
		for _, body := range bodies {
			const names = `"userHash":"%x","subscriptionId":"sub_1","planId":"p","partnerInternalId":"contrato-1"`
			if !strings.Contains(body, fmt.Sprintf(names, sum)) ||
				strings.Contains(body, "00000000001") {
				t.Error(body)
			}
		}
		// Enrolled again: the one that has not ended counts, however often it ended before.
		again := person(1, "p", "", 0)
		again.Beneficiary.Name = "Ana de Novo"
		if dup := enrolAll(t, e, p.ID, again); len(dup) != 0 {
			t.Fatal("an ended subscription is in the way")
		}
		if got, err := rules.FindSubscription(
			ctx,
			p.ID,
			"p",
			"00000000001",
		); err != nil ||
			got.Beneficiary.Name != "Ana de Novo" {
			t.Error(got, err)
		}
	})
}

// TestSweep ends what is over in São Paulo, in batches, also long after.
func TestSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		rules := subscription.NewRegistry(e.Store.Subscriptions, e.Store.Plans, e.Store.Partners, e.Clock.Now)
		today := subscription.DayInBrazil(e.Clock.Now())
		a, _ := e.NewPartner(t, partner.Live)
		b, _ := e.NewPartner(t, partner.Live)
		var subs []*subscription.Subscription
		for n := range 1203 {
			subs = append(subs, person(n, "p", "", today))
		}
		enrolAll(t, e, a.ID, append(subs, person(5000, "p", "", 0), person(5001, "p", "", today+1))...)
		enrolAll(t, e, b.ID, person(1, "p", "", today+30))
		sweep := func(want int) {
			t.Helper()
			if n, err := rules.SweepExpired(ctx); err != nil || n != want {
				t.Fatalf("%d ended, want %d (%v)", n, want, err)
			}
		}
		sweep(0)
		e.Clock.Advance(14 * time.Hour) // 02:00 UTC of the next day: 23:00 in São Paulo, the last hour of the day
		sweep(0)
		e.Clock.Advance(time.Hour)
		sweep(1203)
		sweep(0)
		comparePage(t, e, a.ID, 0, 10)
		if page, err := rules.ListActive(ctx, a.ID, 1, 10); err != nil || page.Total != 2 {
			t.Error(page, err)
		}
		if types, _ := eventsOf(t, e, a.ID); len(types) != 1203 {
			t.Errorf("%d events", len(types))
		}
		e.Clock.Advance(100 * 24 * time.Hour) // a long stop
		sweep(2)
	})
}

// TestOverIsInNobodysWay enrols a person anew right after the old subscription's last day, before any sweep.
func TestOverIsInNobodysWay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		p, _ := e.NewPartner(t, partner.Live)
		today := subscription.DayInBrazil(e.Clock.Now())
		enrolAll(t, e, p.ID, person(1, "p", "", today), person(2, "p", "", 0), person(3, "p", "", today))
		e.Clock.Advance(24 * time.Hour)
		dup := enrolAll(
			t,
			e,
			p.ID,
			person(1, "p", "", 0),
			person(2, "p", "", 0),
			person(4, "p", "", 0),
			person(3, "p", "", today+9),
		)
		if len(dup) != 1 || dup[0] != 1 {
			t.Error("duplicates:", dup)
		}
		comparePage(t, e, p.ID, 0, 10)
		if types, _ := eventsOf(t, e, p.ID); len(types) != 2 {
			t.Error("the two that were over have ended:", types)
		}
		if page, err := e.Subscriptions.ActivePage(context.Background(), p.ID, 0, 10); err != nil || page.Total != 4 {
			t.Error(page, err)
		}
	})
}

// TestBulkLeavesNoTrace makes each write of a bulk creation fail in turn: nothing may stay behind, and the next try is
// whole.
func TestBulkLeavesNoTrace(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		count := func() (n int64) {
			for _, table := range []string{
				"person",
				"subscription",
				"subscription_block",
				"subscription_counter",
				"plan",
			} {
				var c int64
				if err := e.DB.ReadPool().QueryRowContext(ctx, `SELECT count(*) FROM `+table).Scan(&c); err != nil {
					t.Fatal(err)
				}
				n += c
			}
			return n
		}
		exec := func(statement string) {
			t.Helper()
			if err := e.DB.InTransaction(
				ctx,
				func(tx *sqldb.Tx) error { _, err := tx.ExecContext(ctx, statement); return err },
			); err != nil {
				t.Fatal(err)
			}
		}
		register := []plan.Plan{{ID: "p", Partner: p.ID, Name: "p", Coverage: plan.DemoCoverage()}}
		for _, table := range []string{"plan", "person", "subscription", "subscription_block"} {
			exec(`ALTER TABLE ` + table + ` RENAME TO gone`)
			var subs []*subscription.Subscription
			for n := range 300 {
				subs = append(subs, person(n, "p", "", 0))
			}
			rows, err := storetest.SealRows(ctx, e.Subscriptions, p.ID, subs...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Subscriptions.Enrol(ctx, p.ID, rows, register, false); err == nil {
				t.Errorf("without table %s a bulk creation succeeded", table)
			}
			exec(`ALTER TABLE gone RENAME TO ` + table)
			if n := count(); n != 0 {
				t.Fatalf("%d rows stayed behind when %s failed", n, table)
			}
			if table == "subscription_block" {
				done, err := e.Subscriptions.Enrol(ctx, p.ID, rows, register, false) // the same rows again
				if err != nil || len(done.Duplicates) != 0 {
					t.Fatal(done, err)
				}
			}
		}
		comparePage(t, e, p.ID, 250, 100)
	})
}

// TestRequestsOfOnePartnerBesideEachOther: each of many requests at once is told which of its own items were there, one
// that the database refuses fails alone, and totals are as if they had come one after the other.
func TestRequestsOfOnePartnerBesideEachOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		refuse := `CREATE TRIGGER ghost BEFORE INSERT ON subscription WHEN NEW.plan_id = 'ghost' BEGIN
			SELECT RAISE(ABORT, 'no ghosts'); END`
		if e.DB.EngineName() == sqldb.PostgreSQL {
			refuse = `ALTER TABLE subscription ADD CHECK (plan_id <> 'ghost')`
		}
		if err := storetest.Write(ctx, e, refuse); err != nil {
			t.Fatal(err)
		}
		p, _ := e.NewPartner(t, partner.Sandbox)
		enrolAll(t, e, p.ID, person(1, "ouro", "", 0))
		const requests, ghost = 16, 5
		var created atomic.Int64
		var wg sync.WaitGroup
		for i := range requests {
			wg.Go(func() {
				n := 10 * (i + 1)
				// The second item is the first of the request before or after; the third has been there for long.
				subs := []*subscription.Subscription{
					person(n, "ouro", "", 0),
					person(n+10*(1-i%2*2), "ouro", "", 0),
					person(1, "ouro", "", 0),
					person(n+1, "prata", "", 0),
				}
				if i == ghost {
					subs = append(subs, person(n+2, "ghost", "", 0))
				}
				stored, err := storetest.Enrol(ctx, e.Subscriptions, p.ID, subs...)
				if i == ghost {
					if err == nil {
						t.Error("a ghost was kept")
					}
					return
				}
				if err != nil || !slices.Contains(stored, 2) || slices.Contains(stored, 3) {
					t.Errorf("request %d: %v was there: %v", i, stored, err)
				}
				created.Add(int64(len(subs) - len(stored)))
			})
		}
		wg.Wait()
		// The ghost's partner in the pair creates the first items of both.
		const want = 2*requests - 1
		if created.Load() != want {
			t.Errorf("%d were told as new, want %d", created.Load(), want)
		}
		page, err := e.Subscriptions.ActivePage(ctx, p.ID, 0, 100)
		if err != nil || page.Total != want+1 || len(page.Items) != want+1 {
			t.Errorf("%d of %d on the page: %v", len(page.Items), page.Total, err)
		}
	})
}

// TestReplicasRaceForTheSameItems lets two replicas create the same people at once: each ends with one subscription,
// every request is answered, and between them the answers count each creation once.
func TestReplicasRaceForTheSameItems(t *testing.T) {
	e := storetest.Open(t, sqldb.PostgreSQL)
	second := storetest.ReopenStore(t, e.Address, e.Folder, e.Keys.Root(), e.Clock)
	p, _ := e.NewPartner(t, partner.Live)
	const people, tries = 200, 8
	var created atomic.Int64
	var wg sync.WaitGroup
	for try := range tries {
		replica := []*storetest.Env{e, second}[try%2]
		wg.Go(func() {
			var subs []*subscription.Subscription
			for n := range people {
				subs = append(subs, person((n*7+try*31)%people, "p", "", 0)) // each in another order
			}
			dup, err := storetest.Enrol(context.Background(), replica.Subscriptions, p.ID, subs...)
			if err != nil {
				t.Error(err)
				return
			}
			created.Add(int64(people - len(dup)))
		})
	}
	wg.Wait()
	if created.Load() != people {
		t.Errorf("%d created in all, want %d", created.Load(), people)
	}
	comparePage(t, e, p.ID, 0, 2*people)
	if page, err := e.Subscriptions.ActivePage(context.Background(), p.ID, 0, 1); err != nil || page.Total != people {
		t.Error(page.Total, err)
	}
}

// TestSubscriptionComesBackWhole keeps a subscription whose every member has a value, and changes it: each member comes
// back as it was, from the list and by itself.
func TestSubscriptionComesBackWhole(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		want := person(1, "p", "12ABC34501DE35", 0)
		texts := 0
		fillTexts(reflect.ValueOf(&want.Beneficiary).Elem(), &texts)
		want.Beneficiary.CPF = "00000000001"
		want.Metadata = `{"note": "\"quoted\" <b>&amp;</b> \u0000 \n"}`
		want.InternalID = "contrato 1/2 \u2028 \\"
		check := func(got subscription.Subscription, err error) {
			t.Helper()
			got.Seq, got.CreatedAt = 0, time.Time{}
			if err != nil || got != *want {
				t.Errorf("%v\n got %+v\nwant %+v", err, got, *want)
			}
		}
		enrolAll(t, e, p.ID, want)
		which := subscription.Selection{Plan: "p", CPF: want.Beneficiary.CPF}
		for range 2 {
			check(e.Subscriptions.SubscriptionOf(ctx, p.ID, "p", want.Beneficiary.CPF))
			page, err := e.Subscriptions.ActivePage(ctx, p.ID, 0, 1)
			if err != nil || len(page.Items) != 1 {
				t.Fatal(page, err)
			}
			check(page.Items[0], nil)
			want.GroupSize, want.InternalID, want.Beneficiary.Address.Complement = 77, "", "Bloco 2"
			_, err = e.Subscriptions.EditSubscription(ctx, p.ID, which, func(s *subscription.Subscription) error {
				s.GroupSize, s.InternalID, s.Beneficiary = want.GroupSize, want.InternalID, want.Beneficiary
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// fillTexts gives each text of a struct another value.
func fillTexts(v reflect.Value, n *int) {
	for i := range v.NumField() {
		field := v.Field(i)
		if field.Kind() == reflect.Struct {
			fillTexts(field, n)
			continue
		}
		*n++
		field.SetString(fmt.Sprintf("text %d é \"%d\" 💡", *n, *n))
	}
}

// TestSubscriptionAtRest makes sure that nothing of a person can be read in the database, and that a moved body does
// not open.
func TestSubscriptionAtRest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		enrolAll(t, e, p.ID, person(12345678, "p", "12ABC34501DE35", 0), person(2, "p", "", 0))
		err := e.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(
				ctx,
				`UPDATE subscription SET body = (SELECT body FROM subscription WHERE partner_id = $1 AND seq = 1)
				WHERE partner_id = $1 AND seq = 2`,
				p.ID.Number(),
			)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Subscriptions.SubscriptionOf(ctx, p.ID, "p", "00000000002"); err == nil {
			t.Error("a body copied to another row opened")
		}
		if e.DB.EngineName() != sqldb.SQLite {
			return
		}
		for _, name := range []string{"vigia.db", "vigia.db-wal"} {
			raw, err := os.ReadFile(filepath.Join(e.Folder, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{
				"00012345678",
				"12ABC34501DE35",
				"Pessoa 1234",
				"exemplo.com.br",
				"4111111111111111",
				"5511987654321",
			} {
				if bytes.Contains(raw, []byte(secret)) {
					t.Errorf("%s holds %q", name, secret)
				}
			}
		}
	})
}
