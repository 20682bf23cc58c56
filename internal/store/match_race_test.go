package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// matched is a partner whose people's addresses are matched with breaches.
type matched struct {
	*storetest.Env
	partner partner.ID
	watch   *cyber.Monitoring
}

func newMatched(t *testing.T, e *storetest.Env) matched {
	t.Helper()
	p, _ := e.NewPartner(t, partner.Live)
	watch := cyber.NewMonitoring(e.Store.Monitoring, e.Store.Partners, nowhere{}, e.Keys.Fingerprint, e.Clock.Now)
	return matched{e, p.ID, watch}
}

// nowhere finds no value in any breach.
type nowhere struct{ cyber.Unasked }

func (nowhere) ProbeFingerprint(uint64) cyber.Sighting { return cyber.Sighting{Epoch: 1 << 40} }

func (m matched) add(n int) error {
	owner := cyber.Owner{Partner: m.partner, Mode: partner.Live}
	_, err := m.watch.AddAsset(
		context.Background(),
		cyber.AssetRequest{Owner: owner, User: matchedUser(n), Type: "email", Value: addressOf(n)},
	)
	return err
}

func matchedUser(n int) partner.UserHash { return partner.UserHash(fmt.Sprint("pessoa-", n)) }

func addressOf(n int) string { return fmt.Sprintf("p%d@exemplo.com.br", n) }

// remove deletes the only value of a person, as a client does.
func (m matched) remove(n int) error {
	ctx := context.Background()
	scope := cyber.AssetScope{Partner: m.partner, User: matchedUser(n), Group: cyber.ContractAdds}
	list, err := m.watch.ListAssets(ctx, scope)
	if err != nil || len(list) == 0 {
		return err
	}
	err = m.watch.DeleteAsset(ctx, scope, list[0].ID)
	if errors.Is(err, cyber.ErrAssetNotFound) { // another client was quicker
		return nil
	}
	return err
}

func (m matched) publish(t *testing.T, name string) {
	t.Helper()
	now := m.Clock.Now()
	err := m.Breaches.InsertBreach(
		context.Background(),
		leak.Record{State: leak.Published, PublishedAt: now, Breach: cyber.Breach{
			Name:     name,
			Title:    "Vazamento",
			Date:     now.Add(-240 * time.Hour),
			Exposes:  []cyber.Exposed{"email", "password"},
			Kind:     cyber.SourceBreach,
			Verified: true,
			AddedAt:  now,
		}},
	)
	if err != nil {
		t.Error(err)
	}
}

// match does with a breach that holds the addresses of all what a match does.
func (m matched) match(breach string, people int) error {
	ctx := context.Background()
	hits := leak.Probes{Partner: m.partner}
	for n := range people {
		hits.Fingerprints = append(hits.Fingerprints, m.Keys.Fingerprint(byte(identifier.Email), []byte(addressOf(n))))
	}
	_, err := m.TellMatched(ctx, breach, 100, hits)
	return err
}

// TestMatchPassesOverDeletedValues: a value that is deleted while its breach is matched is passed over, and the others
// of the same statement are found.
func TestMatchPassesOverDeletedValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		m := newMatched(t, e)
		m.publish(t, "loja")
		for n := range 2 {
			if err := m.add(n); err != nil {
				t.Fatal(err)
			}
		}
		ended := make(chan error, 1)
		err := e.InTransaction(context.Background(), func(tx store.Tx) error {
			list, err := tx.Monitoring.AssetsOfUser(context.Background(), m.partner, matchedUser(0))
			if err != nil || len(list) != 1 {
				return fmt.Errorf("%d values: %w", len(list), err)
			}
			if err := tx.Monitoring.DeleteAsset(
				context.Background(),
				m.partner,
				matchedUser(0),
				list[0].ID,
				cyber.ContractAdds,
			); err != nil {
				return err
			}
			go func() { ended <- m.match("loja", 2) }()
			if e.DB.EngineName() == sqldb.PostgreSQL { // SQLite has one writer: the match waits
				wait(t, "the match", func() bool { return len(ended) > 0 || waitsForLock(t, e) })
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal("match:", err)
		}
		found, err := m.watch.ListFindings(context.Background(), m.partner, matchedUser(1))
		if err != nil || len(found) != 1 {
			t.Errorf("%d findings of the value that stayed, want 1 (%v)", len(found), err)
		}
		if found := problems(t, context.Background(), e.Upkeep); len(found) != 0 {
			t.Error(found)
		}
	})
}

// TestMatchesBesideDeletingClients: breaches are matched while clients delete the values that they hold and add them
// again. It runs on PostgreSQL alone, since SQLite has one writer.
func TestMatchesBesideDeletingClients(t *testing.T) {
	const people, clients, breaches = 60, 4, 6
	e := storetest.Open(t, sqldb.PostgreSQL)
	m := newMatched(t, e)
	for n := range people {
		if err := m.add(n); err != nil {
			t.Fatal(err)
		}
	}
	over := make(chan struct{})
	errs := make([]error, clients)
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			for n := c; ; n = (n + clients) % people {
				select {
				case <-over:
					return
				default:
				}
				if errs[c] = errors.Join(m.remove(n), m.add(n)); errs[c] != nil {
					return
				}
			}
		})
	}
	for b := range breaches {
		name := fmt.Sprint("loja-", b)
		m.publish(t, name)
		if err := m.match(name, people); err != nil {
			t.Errorf("match %s: %v", name, err)
		}
	}
	close(over)
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error("client:", err)
	}
	if found := problems(t, context.Background(), e.Upkeep); len(found) != 0 {
		t.Error(found)
	}
}

// TestPageOfBreachesIsOfOneMoment: a page that has room for all breaches holds as many as its total says, while others
// are published.
func TestPageOfBreachesIsOfOneMoment(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		m := newMatched(t, e)
		published := make(chan struct{})
		go func() {
			defer close(published)
			for n := range 100 {
				m.publish(t, fmt.Sprint("loja-", n))
			}
		}()
		for over := false; !over; {
			select {
			case <-published:
				over = true
			default:
			}
			page, total, err := e.Breaches.PublishedPage(context.Background(), "", 0, 1000)
			if err != nil || int64(len(page)) != total {
				t.Errorf("%d of %d breaches (%v)", len(page), total, err)
				break
			}
		}
		<-published
	})
}
