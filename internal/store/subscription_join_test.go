package store_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// crowd is bulk requests of one partner that wait for each other: nothing is written before all are there.
type crowd struct {
	*storetest.Env
	s       *store.Store
	partner partner.ID
	wg      sync.WaitGroup
	stored  [][]int
	errs    []error
}

func newCrowd(t *testing.T, e *storetest.Env, n int) *crowd {
	t.Helper()
	p, _ := e.NewPartner(t, partner.Sandbox)
	// Every load asks the time: rows that came in one load have one.
	var ticks atomic.Int64
	s := store.NewStore(
		e.DB,
		e.Keys,
		func() time.Time { return storetest.Start.Add(time.Duration(ticks.Add(1)) * time.Microsecond) },
		leak.Judge{},
	)
	return &crowd{Env: e, s: s, partner: p.ID, stored: make([][]int, n), errs: make([]error, n)}
}

// send begins a request.
func (c *crowd) send(ctx context.Context, t *testing.T, i int, subs ...*subscription.Subscription) {
	t.Helper()
	b, err := c.s.Subscriptions.NewBatch(context.Background(), c.partner)
	if err != nil {
		t.Fatal(err)
	}
	for item, s := range subs {
		if err := b.Add(item, s); err != nil {
			t.Fatal(err)
		}
	}
	c.wg.Go(func() { c.stored[i], c.errs[i] = c.s.Subscriptions.KeepBatch(ctx, b, nil, false) })
}

// gather calls fn while the partner's counter is taken, and returns when all requests it began have their answer.
func (c *crowd) gather(t *testing.T, waiting int, fn func()) {
	t.Helper()
	ctx := context.Background()
	enrolAll(t, c.Env, c.partner, person(1, "ouro", "", 0)) // makes the counter
	err := c.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.ExecContext(
			ctx,
			`UPDATE subscription_counter SET last = last WHERE partner_id = $1`,
			c.partner.Number(),
		); err != nil {
			return err
		}
		fn()
		wait(t, "the requests", func() bool { return c.s.WaitingBulk(c.partner) == waiting })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.wg.Wait()
}

func (c *crowd) count(t *testing.T, what string) (n int) {
	t.Helper()
	err := c.DB.ReadPool().QueryRow(`SELECT count(`+what+`) FROM subscription WHERE partner_id = $1`,
		c.partner.Number(),
	).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// countLoads counts the transactions that made people known: each has a time of its own.
func (c *crowd) countLoads(t *testing.T) (n int) {
	t.Helper()
	err := c.DB.ReadPool().QueryRow(`SELECT count(DISTINCT created_at) FROM person WHERE partner_id = $1`,
		c.partner.Number(),
	).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestBulkRequestsAreJoined: bulk requests of one partner that wait for each other go in one load; each is told which
// of its own items were there, a repetition of another's among them, and totals and numbers are as if they had come one
// after the other.
func TestBulkRequestsAreJoined(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		const requests = 16
		c := newCrowd(t, e, requests)
		c.gather(t, requests-1, func() {
			for i := range requests {
				n := 10 * (i + 1)
				// Its second item is the first of whoever comes before or after; its third has been there for long.
				c.send(
					context.Background(),
					t,
					i,
					person(n, "ouro", "", 0),
					person(n+10*(1-i%2*2), "ouro", "", 0),
					person(1, "ouro", "", 0),
					person(n+1, "prata", "", 0),
				)
			}
		})
		total := 1
		for i, stored := range c.stored {
			slices.Sort(stored)
			if c.errs[i] != nil || !slices.Contains(stored, 2) || slices.Contains(stored, 3) {
				t.Errorf("request %d: %v was there: %v", i, stored, c.errs[i])
			}
			total += 4 - len(stored)
		}
		if want := 1 + 2*requests; total != want || c.count(t, "*") != want {
			t.Errorf("%d were told as new, %d are there, %d were meant", total-1, c.count(t, "*"), want)
		}
		if loads := c.countLoads(t) - 1; loads != 2 {
			t.Errorf("%d requests went in %d loads; the first alone and the rest together are 2", requests, loads)
		}
		page, err := c.s.Subscriptions.ActivePage(context.Background(), c.partner, 0, 100)
		if err != nil || page.Total != int64(1+2*requests) || len(page.Items) != 1+2*requests {
			t.Errorf("%d of %d on the page: %v", len(page.Items), page.Total, err)
		}
	})
}

// TestJoinedLoadsAreBoundedByWhatTheyWrite: a person who is watched by three values counts four times, so that no other
// partner's single write waits for a load that only looks small. Of five requests the first goes alone, and the others two
// by two.
func TestJoinedLoadsAreBoundedByWhatTheyWrite(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		const requests, people = 5, 30 // two of them write 240 rows
		c := newCrowd(t, e, requests)
		c.gather(t, requests-1, func() {
			for i := range requests {
				var watched []*subscription.Subscription
				for n := range people {
					sub := person(1000*(i+1)+n, "ouro", "", 0)
					sub.Watch = plan.NewWatch(plan.WatchedKinds...)
					watched = append(watched, sub)
				}
				c.send(context.Background(), t, i, watched...)
			}
		})
		for i, err := range c.errs {
			if err != nil || len(c.stored[i]) > 0 {
				t.Errorf("request %d: %v was there: %v", i, c.stored[i], err)
			}
		}
		if n := c.count(t, "*"); n != 1+requests*people {
			t.Errorf("%d are there", n)
		}
		if loads := c.countLoads(t) - 1; loads != 3 {
			t.Errorf("%d requests went in %d loads, not 3", requests, loads)
		}
	})
}

// TestBulkThatFailsTakesNobodyAlong: of joined requests one cannot be kept and one is given up; the others are kept.
func TestBulkThatFailsTakesNobodyAlong(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		refuse := []string{
			`CREATE TRIGGER ghost BEFORE INSERT ON subscription WHEN NEW.plan_id = 'ghost' BEGIN
			SELECT RAISE(ABORT, 'no ghosts'); END`,
		}
		if e.DB.EngineName() == sqldb.PostgreSQL {
			refuse = []string{`ALTER TABLE subscription ADD CHECK (plan_id <> 'ghost')`}
		}
		for _, statement := range refuse {
			err := e.DB.InTransaction(context.Background(), func(tx *sqldb.Tx) error {
				_, err := tx.ExecContext(context.Background(), statement)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		c := newCrowd(t, e, 5)
		given, giveUp := context.WithCancel(context.Background())
		c.gather(t, 3, func() {
			c.send(context.Background(), t, 0, person(10, "ouro", "", 0))
			wait(t, "a leader", func() bool { return c.s.WaitingBulk(c.partner) == 0 && c.s.LeadingBulk(c.partner) })
			c.send(context.Background(), t, 1, person(11, "ouro", "", 0))
			c.send(context.Background(), t, 2, person(12, "ghost", "", 0))
			c.send(given, t, 3, person(13, "ouro", "", 0))
			c.send(context.Background(), t, 4, person(14, "ouro", "", 0))
			wait(t, "the requests", func() bool { return c.s.WaitingBulk(c.partner) == 4 })
			giveUp()
		})
		for i, err := range c.errs {
			switch i {
			case 2:
				if err == nil {
					t.Error("a ghost was kept")
				}
			case 3:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("who gave up was told %v", err)
				}
			default:
				if err != nil || len(c.stored[i]) != 0 {
					t.Errorf("request %d: %v, %v was there", i, err, c.stored[i])
				}
			}
		}
		if n := c.count(t, "*"); n != 4 {
			t.Errorf("%d are there", n)
		}
	})
}
