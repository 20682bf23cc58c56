package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// TestEnrolledValues: what a subscription names counts while it is in force, judged by the day of the question: not by
// whether a sweep has come by.
func TestEnrolledValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		p, cred := e.NewPartner(t, partner.Live)
		today := subscription.DayInBrazil(e.Clock.Now())
		enrolAll(t, e, p.ID, person(1, "ouro", "", 0), person(2, "ouro", "", today))
		count := func(n int) int {
			t.Helper()
			who := partner.LongUserHash(person(n, "", "", 0).Beneficiary.CPF, cred.Salt)
			values, err := e.Store.Monitoring.EnrolledValues(context.Background(), p.ID, who)
			if err != nil {
				t.Fatal(err)
			}
			return len(values)
		}
		if got := count(1); got != 5 {
			t.Errorf("a subscription without end: %d values", got)
		}
		if got := count(2); got != 5 {
			t.Errorf("on the last day: %d values", got)
		}
		e.Clock.Advance(24 * time.Hour)
		if got := count(2); got != 0 {
			t.Errorf("after the last day: %d values", got)
		}
	})
}

// TestTakeGuesses: a partner asks about a value so many times a day, all partners together more often; each row that
// counts is refused when this program did not write it.
func TestTakeGuesses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		var partners []partner.ID
		for range 3 {
			p, _ := e.NewPartner(t, partner.Live)
			partners = append(partners, p.ID)
		}
		limits := cyber.GuessLimits{OfPartner: 2, OfAll: 3}
		ask := func(of partner.ID, fingerprints ...uint64) []uint64 {
			t.Helper()
			allowed, err := e.Store.Monitoring.TakeGuesses(ctx, of, fingerprints, limits)
			if err != nil {
				t.Fatal(err)
			}
			return allowed
		}
		ask(partners[0], 7)
		if got := ask(partners[0], 9, 7, 7); !slices.Equal(got, []uint64{7, 9}) {
			t.Error("two values, one of them twice:", got)
		}
		if got := ask(partners[0], 9, 7); !slices.Equal(got, []uint64{9}) {
			t.Error("one value too often:", got)
		}
		if got := ask(partners[1], 7); len(got) != 1 {
			t.Error("another partner is held up:", got)
		}
		if got := ask(partners[2], 7); len(got) != 0 {
			t.Error("more than all partners together may ask:", got)
		}
		e.Clock.Advance(24 * time.Hour)
		if got := ask(partners[2], 7); len(got) != 1 {
			t.Error("a day later:", got)
		}
		if err := storetest.Write(ctx, e, `UPDATE credential_guess SET asked = 0`); err != nil {
			t.Fatal(err)
		}
		if allowed, err := e.Store.Monitoring.TakeGuesses(ctx, partners[2], []uint64{7}, limits); err == nil {
			t.Error("a count that was set back:", allowed)
		}
	})
}

// TestSubscriptionsThatGiveTokens: neither one that ended, nor one that is suspended, over, young, or only says that it
// is old gives its partner tokens.
func TestSubscriptionsThatGiveTokens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		now := e.Clock.Now()
		today := int64(subscription.DayInBrazil(now))
		old := now.AddDate(0, 0, -31).UnixMicro()
		for i, row := range []struct{ created, suspended, ended, start, expiry int64 }{
			{created: old, start: today - 60},
			{created: old, start: today - 60, expiry: today},
			{created: old, start: today - 60, expiry: today - 1},
			{created: old, start: today - 60, ended: old},
			{created: old, start: today - 60, suspended: old},
			{created: old, start: today - 20},
			{created: now.UnixMicro(), start: today - 60},
		} {
			err := storetest.Write(
				ctx,
				e,
				`INSERT INTO subscription (created_at, suspended_at, ended_at, partner_id, seq,
				start_day, expiry_day, plan_id, cpf, holder, body)
				VALUES ($1, $2, $3, $4, $5, $6, $7, 'p', $8, $9, $9)`,
				row.created,
				row.suspended,
				row.ended,
				p.ID.Number(),
				i+1,
				row.start,
				row.expiry,
				[]byte{byte(i)},
				[]byte{},
			)
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Store.Monitoring.CountSubscriptions(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
		b, err := e.Store.Monitoring.LookBucket(ctx, p.ID)
		if err != nil || b.Subscriptions != 2 {
			t.Errorf("%d give tokens: %v", b.Subscriptions, err)
		}
	})
}

// TestCheckLookBuckets: vigia check names tokens that this program did not write, and those that are missing.
func TestCheckLookBuckets(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		changed, _ := e.NewPartner(t, partner.Live)
		missing, _ := e.NewPartner(t, partner.Live)
		whole, _ := e.NewPartner(t, partner.Live)
		for statement, id := range map[string]partner.ID{
			`UPDATE first_look SET granted = granted + 1 WHERE partner_id = $1`: changed.ID,
			`DELETE FROM first_look WHERE partner_id = $1`:                      missing.ID,
		} {
			if err := storetest.Write(ctx, e, statement, id.Number()); err != nil {
				t.Fatal(err)
			}
		}
		var found []string
		for _, p := range problems(t, ctx, e.Store.Upkeep) {
			found = append(found, p.Where)
		}
		for id, want := range map[partner.ID]bool{changed.ID: true, missing.ID: true, whole.ID: false} {
			if got := slices.Contains(found, "first_look "+string(id)); got != want {
				t.Errorf("%s named: %t; found %v", id, got, found)
			}
		}
	})
}

// TestLookChangeIsToldOnce: of two replicas that notice the same change one tells it.
func TestLookChangeIsToldOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		p, _ := e.NewPartner(t, partner.Live)
		stop := cyber.LookChange{State: cyber.LooksStopped, Reason: cyber.LooksByOperator}
		for i, want := range []bool{true, false} {
			if told, err := e.Store.Monitoring.TellLookChange(
				context.Background(),
				p.ID,
				stop,
			); err != nil ||
				told != want {
				t.Errorf("time %d: told %t, %v", i+1, told, err)
			}
		}
	})
}
