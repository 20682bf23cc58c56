package store_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// TestBytesOfASubscription: what a subscription and its person take on disk, indexes and counters included, loaded by
// bulk requests of a thousand in the order of nothing.
func TestBytesOfASubscription(t *testing.T) {
	people := 12_000
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		people = 100_000
	}
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		for from := 0; from < people; from += 1000 {
			var subs []*subscription.Subscription
			for n := from; n < from+1000; n++ {
				s := person(n, "ouro", "", 0)
				s.Beneficiary.UserCard = "5555555555554444"
				s.Beneficiary.Name = "Pessoa de Exemplo da Silva"
				s.Beneficiary.Email = fmt.Sprintf("pessoa%011d@exemplo.com.br", n)
				s.Beneficiary.Address.Street, s.Beneficiary.Address.Number = "Rua das Laranjeiras", "100"
				subs = append(subs, s)
			}
			enrolAll(t, e, p.ID, subs...)
		}
		query, bar := `SELECT sum(pgsize) FROM dbstat WHERE name LIKE '%subscription%' OR name LIKE 'person%' OR name LIKE '%_person_%'`, int64(560)
		if e.DB.EngineName() == sqldb.PostgreSQL {
			query, bar = `SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
				AND c.relname IN ('subscription', 'subscription_counter', 'subscription_block', 'subscription_expiry', 'person')`, 700
		}
		var size int64
		if err := e.DB.ReadPool().QueryRowContext(ctx, query).Scan(&size); err != nil {
			t.Fatal(err)
		}
		if each := size / int64(people); each > bar || each < 200 {
			t.Errorf("%d bytes a subscription with its person, at most %d", each, bar)
		} else {
			t.Logf("%d bytes a subscription with its person", each)
		}
	})
}
