package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestBreachHits counts people once however many of their values a breach holds, and findings by what became of them
// and by how grave they are.
func TestBreachHits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Sandbox)
		other, _ := e.NewPartner(t, partner.Sandbox)
		for i, of := range []partner.ID{p.ID, p.ID, p.ID, p.ID, other.ID} {
			owner := cyber.Owner{Partner: of, Mode: partner.Sandbox}
			user := partner.UserHash(fmt.Sprint("pessoa", i/2))
			monitoring := cyber.NewMonitoring(e.Store.Monitoring, e.Store.Partners, cyber.Unasked{}, e.Keys.Fingerprint, e.Clock.Now)
			_, err := monitoring.AddAsset(ctx, cyber.AssetRequest{
				Owner: owner,
				User:  user,
				Type:  "email",
				Value: fmt.Sprintf("v%d@vazamento.test", i),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for i, statement := range []string{
			`UPDATE finding SET resolution = 'other', quiet = TRUE
			WHERE id = $1`, `UPDATE finding SET resolution = '` + string(cyber.ResolvedRetracted) + `' WHERE id = $1`,
			`UPDATE finding SET own_site = TRUE WHERE id = $1`,
		} {
			var id string
			if err := e.DB.ReadPool().QueryRow(`SELECT id FROM finding WHERE partner_id = $1
				ORDER BY id LIMIT 1 OFFSET $2`,
				p.ID.Number(),
				i,
			).Scan(&id); err != nil {
				t.Fatal(err)
			}
			if err := storetest.Write(ctx, e, statement, id); err != nil {
				t.Fatal(err)
			}
		}
		rec, err := e.Store.Breaches.BreachByName(ctx, cyber.SandboxBreach)
		if err != nil {
			t.Fatal(err)
		}
		hits, err := leak.NewBreaches(e.Store.Breaches, e.Clock.Now).CountHits(ctx, rec.Breach, e.Clock.Now())
		if err != nil || len(hits) != 2 {
			t.Fatal(hits, err)
		}
		if hits[0].Partner != p.ID { // the numbers of partners are random
			slices.Reverse(hits)
		}
		h := hits[0]
		want := h
		want.Partner, want.People, want.Open, want.Resolved, want.Withdrawn, want.Alerted = p.ID, 2, 2, 1, 1, 2
		difftest.Check(t, "hits", h, want)
		difftest.Check(t, "critical hits", h.Graded("critical"), 1)
		sum := int64(0)
		for _, n := range h.Severities {
			sum += n
		}
		if sum != 3 || hits[1].People != 1 {
			t.Errorf("%+v, %+v", h, hits[1])
		}
	})
}
