package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// TestActiveByDate lets days go by without any worker: what is past its date is out of list, total, moves and figures
// at midnight in São Paulo, and the sweep that comes at last counts nothing twice.
func TestActiveByDate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		rules := subscription.NewRegistry(e.Store.Subscriptions, e.Store.Plans, e.Store.Partners, e.Clock.Now)
		p, _ := e.NewPartner(t, partner.Live)
		today := subscription.DayInBrazil(e.Clock.Now())
		const company = "12ABC34501DE35"
		var subs []*subscription.Subscription
		for n := range 900 { // in thirds: no end, today, tomorrow; a run of them and mixed
			expiry := [...]subscription.Day{0, today, today + 1}[(n*n/7)%3]
			subs = append(subs, person(n, "p", company, expiry))
		}
		enrolAll(t, e, p.ID, append(subs, person(5000, "p", "", today-1), person(5001, "p", "", 0))...)
		walk := func() int64 {
			t.Helper()
			for offset := int64(0); offset < 910; offset += 37 {
				comparePage(t, e, p.ID, offset, 37)
			}
			page, err := rules.ListActive(ctx, p.ID, 1, 100)
			if err != nil {
				t.Fatal(err)
			}
			return page.Total
		}
		count := func(expiry subscription.Day) (n int64) {
			for _, s := range subs {
				if s.Expiry == expiry {
					n++
				}
			}
			return n
		}
		if got := walk(); got != 901 {
			t.Errorf("%d active; the one that was over when it came is never among them", got)
		}
		if one, err := rules.FindSubscription(ctx, p.ID, "p", "00000005000"); err != nil || one.LastDay() != today-1 {
			t.Error("it is found by itself:", one, err)
		}
		e.Clock.Advance(14*time.Hour + 59*time.Minute) // 23:59 in São Paulo
		if got := walk(); got != 901 {
			t.Error(got, "active in the last minute of the day")
		}
		e.Clock.Advance(time.Minute)
		left := 901 - count(today)
		if got := walk(); got != left {
			t.Error(got, "active right after midnight, want", left)
		}
		e.Clock.Advance(24 * time.Hour)
		left -= count(today + 1)
		if got := walk(); got != left || left != count(0)+1 {
			t.Error(got, "active a day later, want", left)
		}
		if err := e.Overview.CountFigures(ctx, 0); err != nil {
			t.Fatal(err)
		}
		figures, err := e.Overview.LastFigures(ctx)
		if err != nil || figures.Now[operator.SubscriptionsActive] != left ||
			figures.Now[operator.SubscriptionsEnded] != 902-left {
			t.Error(figures.Now[operator.SubscriptionsActive], figures.Now[operator.SubscriptionsEnded], err)
		}
		_, err = rules.MoveSubscriptions(ctx, p.ID, subscription.Selection{
			Plan: "p",
			CPF:  "00000005000",
		}, subscription.Suspend)
		if !errors.Is(err, subscription.ErrNotFound) {
			t.Error("what is past its date has ended and cannot be moved:", err)
		}
		if moved, err := rules.MoveSubscriptions(
			ctx,
			p.ID,
			subscription.Selection{Holder: company},
			subscription.Suspend,
		); err != nil ||
			int64(moved.Found) != count(0) {
			t.Error(moved, count(0), err)
		}
		if n, err := rules.SweepExpired(ctx); err != nil || int64(n) != 902-left {
			t.Error(n, "swept,", err)
		}
		if got := walk(); got != left {
			t.Error(got, "active after the sweep, want", left)
		}
		countsAreRight(t, e)
		var rows int64
		err = e.DB.ReadPool().QueryRowContext(ctx, `SELECT count(*) FROM subscription_expiry`).Scan(&rows)
		if err != nil || rows != 0 {
			t.Error(rows, "days are kept though all that had an end has ended:", err)
		}
	})
}

// TestEndedEarlyShowsItsDay ends subscriptions by hand: the day of the end is their last one, unless they were over
// before.
func TestEndedEarlyShowsItsDay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		rules := subscription.NewRegistry(e.Store.Subscriptions, e.Store.Plans, e.Store.Partners, e.Clock.Now)
		p, _ := e.NewPartner(t, partner.Live)
		today := subscription.DayInBrazil(e.Clock.Now())
		enrolAll(
			t,
			e,
			p.ID,
			person(1, "p", "", 0),
			person(2, "p", "", today+90),
			person(3, "p", "", today),
			person(4, "p", "", today+9),
		)
		for _, cpf := range []string{"00000000001", "00000000002"} {
			if _, err := rules.MoveSubscriptions(
				ctx,
				p.ID,
				subscription.Selection{Plan: "p", CPF: cpf},
				subscription.End,
			); err != nil {
				t.Fatal(err)
			}
		}
		e.Clock.Advance(72 * time.Hour)
		if _, err := rules.SweepExpired(ctx); err != nil {
			t.Fatal(err)
		}
		for cpf, want := range map[string]subscription.Day{
			"00000000001": today,
			"00000000002": today,
			"00000000003": today,
			"00000000004": today + 9,
		} {
			if got, err := rules.FindSubscription(ctx, p.ID, "p", cpf); err != nil || got.LastDay() != want {
				t.Errorf("%s: %s, want %s (%v)", cpf, got.LastDay(), want, err)
			}
		}
	})
}

// TestNamesOfUsers finds the names of many people of a partner at once, by either form of their user hash, and nobody's
// of another partner.
func TestNamesOfUsers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newLives(t, e, 3)
		users := []partner.UserHash{"inventado"}
		for _, h := range w.people {
			users = append(users, h.user)
		}
		names, err := e.Overview.NamesOfUsers(t.Context(), w.partner.ID, users)
		if err != nil || len(names) != 3 {
			t.Fatal(names, err)
		}
		for _, u := range users[1:] {
			held, err := e.Overview.SubscriptionsOfUser(t.Context(), w.partner.ID, u)
			if err != nil || len(held) == 0 || held[0].Beneficiary.Name != names[u] {
				t.Errorf("%q is called %q: %v", u, names[u], err)
			}
		}
		other, _ := e.NewPartner(t, partner.Sandbox)
		if names, err := e.Overview.NamesOfUsers(t.Context(), other.ID, users); err != nil || len(names) != 0 {
			t.Error("another partner's people:", names, err)
		}
	})
}
