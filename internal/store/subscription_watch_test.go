package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// watchProblems returns what the check of watches finds.
func watchProblems(t *testing.T, e *storetest.Env) (problems []string) {
	t.Helper()
	for _, check := range e.Upkeep.ListChecks() {
		if check.Name != "watches" {
			continue
		}
		found := func(p store.Problem) { problems = append(problems, p.What) }
		if err := check.Run(t.Context(), found, func(int64) {}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(problems)
	return problems
}

// watchingPerson is a person of a plan that watches everything.
func watchingPerson(n int) *subscription.Subscription {
	sub := person(n, "p", "", 0)
	sub.Watch = plan.NewWatch(plan.WatchedKinds...)
	return sub
}

// namedUnder returns the value of a kind that a subscription names, to be added by itself under a user hash.
func namedUnder(e *storetest.Env, id partner.ID, sub *subscription.Subscription, hash partner.UserHash) cyber.NewAsset {
	return cyber.NewAsset{
		Asset: cyber.Asset{
			ID:      cyber.AssetID("as_" + uuid.NewString()),
			Partner: id,
			User:    hash,
			Kind:    identifier.Email,
			Value:   sub.Beneficiary.Email,
			Source:  cyber.AddedByItself,
			AddedAt: e.Clock.Now(),
		},
		Normal: sub.Beneficiary.Email,
	}
}

// TestCheckFindsHalfWatched: the check names a value that a subscription should watch, one that no subscription names,
// and one of a person who is not there.
func TestCheckFindsHalfWatched(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		p, _ := e.NewPartner(t, partner.Live)
		enrolAll(t, e, p.ID, watchingPerson(1), watchingPerson(2), person(3, "p", "", 0))
		if got := watchProblems(t, e); len(got) != 0 {
			t.Fatal(got)
		}
		for _, c := range []struct{ damage, repair, want string }{
			{
				`UPDATE asset SET source = 1 WHERE kind = 3 AND partner_id > 0`,
				`UPDATE asset SET source = 2 WHERE kind = 3 AND partner_id > 0`,
				"its phone is not watched",
			},
			{
				`UPDATE subscription SET watch = watch - 1 WHERE watch = 7`,
				`UPDATE subscription SET watch = watch + 1 WHERE watch = 6`,
				"is watched for a subscription that does not name it",
			},
			{
				`UPDATE person SET user_512 = user_256, user_256 = user_512 || user_256`,
				``,
				"it is watched for a subscription of nobody",
			},
		} {
			if err := storetest.Write(t.Context(), e, c.damage); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(watchProblems(t, e), "\n"); !strings.Contains(got, c.want) {
				t.Errorf("%s: %q", c.damage, got)
			}
			if c.repair == "" {
				continue
			}
			if err := storetest.Write(t.Context(), e, c.repair); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestWatchRaces: a person is enrolled while the values are added and deleted by themselves, and whatever comes first,
// nothing is half watched. A value that is added by itself while the subscription ends stays.
func TestWatchRaces(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, cred := e.NewPartner(t, partner.Live)
		sub := watchingPerson(1)
		hash := partner.LongUserHash(sub.Beneficiary.CPF, cred.Salt)
		which := subscription.Selection{Plan: "p", CPF: sub.Beneficiary.CPF}
		addByItself := func() {
			list := []cyber.NewAsset{namedUnder(e, p.ID, sub, hash)}
			if _, err := e.Monitoring.InsertAssets(ctx, p.ID, list, 100); err != nil {
				t.Error(err)
			}
		}
		listValues := func() []cyber.Asset {
			assets, err := e.Monitoring.AssetsOfUser(ctx, p.ID, hash)
			if err != nil {
				t.Error(err)
			}
			return assets
		}
		deleteValues := func() {
			for _, a := range listValues() {
				err := e.Monitoring.DeleteAsset(ctx, p.ID, hash, a.ID, cyber.ContractShows)
				if err != nil && !errors.Is(err, cyber.ErrAssetNotFound) {
					t.Error(err)
				}
			}
		}
		for range 40 {
			addByItself()
			var wg sync.WaitGroup
			wg.Go(func() { enrolAll(t, e, p.ID, watchingPerson(1)) })
			wg.Go(deleteValues)
			wg.Go(deleteValues)
			wg.Wait()
			if got := watchProblems(t, e); len(got) != 0 {
				t.Fatal("enrolled:", got)
			}
			wg.Go(func() {
				_, err := e.Subscriptions.MoveSubscriptions(ctx, p.ID, which, subscription.End, 0, 10)
				if err != nil {
					t.Error(err)
				}
			})
			wg.Go(addByItself)
			wg.Wait()
			if got := watchProblems(t, e); len(got) != 0 {
				t.Fatal("ended:", got)
			}
			assets := listValues()
			if len(assets) != 1 || assets[0].Source != cyber.AddedByItself {
				t.Fatalf("%+v", assets)
			}
			deleteValues()
		}
	})
}

// TestErasureAndWatches: with a person all that is watched of them goes, and one who was enrolled again is
// watched whole when the erasure is replayed.
func TestErasureAndWatches(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 1)
		sub := watchingPerson(900)
		enrolAll(t, e, w.partner.ID, sub)
		who := subject.Person{CPF: sub.Beneficiary.CPF, Partner: w.partner.ID}
		count := func() (n int) {
			t.Helper()
			query := `SELECT count(*) FROM asset WHERE source >= 2`
			if err := e.DB.ReadPool().QueryRowContext(ctx, query).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := count(); n != 3 {
			t.Fatal(n)
		}
		if _, err := w.rights().ErasePerson(ctx, clerk, who, "pedido", keepNoCopy); err != nil {
			t.Fatal(err)
		}
		if got := watchProblems(t, e); len(got) != 0 || count() != 0 {
			t.Error(count(), got)
		}
		// Enrolled again, with values that were there before the erasure: when that is replayed after a backup was
		// restored, they go, and the new subscription has them watched anew.
		e.Clock.Advance(time.Hour)
		enrolAll(t, e, w.partner.ID, watchingPerson(900))
		if err := storetest.Write(ctx, e, `UPDATE asset SET created_at = 1 WHERE source = 2`); err != nil {
			t.Fatal(err)
		}
		stones, err := w.Subjects.Tombstones(ctx)
		if err != nil || len(stones) != 1 {
			t.Fatal(stones, err)
		}
		if erased, err := w.Subjects.ReplayErasure(ctx, stones[0]); err != nil || erased.Counts["watched values"] != 3 {
			t.Fatal(erased.Counts, err)
		}
		if got := watchProblems(t, e); len(got) != 0 || count() != 3 {
			t.Error(count(), got)
		}
	})
}
