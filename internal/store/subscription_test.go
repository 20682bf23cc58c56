package store_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vigia/internal/partner"
	"vigia/internal/plan"
	"vigia/internal/sqldb"
	"vigia/internal/store/storetest"
	"vigia/internal/subscription"
)

// person makes up a subscription; n tells people apart.
func person(n int, p plan.ID, holder string, expiry subscription.Day) *subscription.Subscription {
	s := &subscription.Subscription{Plan: p, Start: subscription.DayOf(storetest.Start), Expiry: expiry, Holder: holder}
	if holder != "" {
		s.GroupSize = 50
	}
	s.Beneficiary = subscription.Beneficiary{
		PrimaryCard: "4111111111111111", UserCard: "1", Name: "Pessoa " + fmt.Sprint(n), CPF: fmt.Sprintf("%011d", n), BirthDate: "1990-01-02",
		Gender: "F", Email: fmt.Sprintf("p%d@exemplo.com.br", n), Phone: "5511987654321",
		Address: subscription.Address{Zipcode: "01001000", Street: "Rua A", Number: "1", Neighborhood: "Centro", City: "São Paulo", State: "SP"},
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
	b, err := e.NewBatch(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range subs {
		if err := b.Add(i, s); err != nil {
			t.Fatal(err)
		}
	}
	dup, err := b.Keep(context.Background(), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return dup
}

// plainPage is what a page should be, read in the plainest way.
func plainPage(t fataler, e *storetest.Env, id partner.ID, offset int64, limit int) (seqs []int64, total int64) {
	t.Helper()
	ctx := context.Background()
	if err := e.DB.Reader().QueryRowContext(ctx, `SELECT count(*) FROM subscription WHERE partner_id = $1 AND ended_at = 0`,
		string(id)).Scan(&total); err != nil {
		t.Fatal(err)
	}
	rows, err := e.DB.Reader().QueryContext(ctx, `SELECT seq FROM subscription WHERE partner_id = $1 AND ended_at = 0
		ORDER BY seq LIMIT $2 OFFSET $3`, string(id), int64(limit), offset)
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
	return seqs, total
}

func comparePage(t fataler, e *storetest.Env, id partner.ID, offset int64, limit int) {
	t.Helper()
	want, total := plainPage(t, e, id, offset, limit)
	page, err := e.ActivePage(context.Background(), id, offset, limit)
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

// TestPagesMatchThePlainQuery holds the block counts against the plain query under random creations, ends, suspensions and
// resumptions, with numbers that start near the borders of every level of blocks.
func TestPagesMatchThePlainQuery(t *testing.T) {
	if os.Getenv("VIGIA_TEST_LONG") == "" { // a hundred otherwise
		checks := flag.Lookup("rapid.checks")
		before := checks.Value.String()
		t.Cleanup(func() { _ = checks.Value.Set(before) })
		if err := checks.Value.Set("25"); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		rapid.Check(t, func(r *rapid.T) {
			ctx := context.Background()
			p, _ := e.NewPartner(t, partner.Live)
			start := rapid.SampledFrom([]int64{0, 0, 120, 128*128 - 40, 128*128*128 - 100, 3*128*128*128 - 300}).Draw(r, "start")
			if start > 0 {
				err := e.DB.InTx(ctx, func(tx *sqldb.Tx) error {
					_, err := tx.ExecContext(ctx, `INSERT INTO subscription_counter (partner_id, last, active) VALUES ($1, $2, 0)`, string(p.ID), start)
					return err
				})
				if err != nil {
					r.Fatal(err)
				}
			}
			made := 0
			holders := []string{"", "12ABC34501DE35", "00000000000191"}
			r.Repeat(map[string]func(*rapid.T){
				"create": func(r *rapid.T) {
					n := rapid.IntRange(1, 150).Draw(r, "n")
					holder := rapid.SampledFrom(holders).Draw(r, "holder")
					subs := make([]*subscription.Subscription, n)
					for i := range subs {
						subs[i] = person(made+i, "p", holder, 0)
					}
					made += n
					if dup := enrolAll(r, e, p.ID, subs...); len(dup) != 0 {
						r.Fatalf("%d duplicates", len(dup))
					}
				},
				"again": func(r *rapid.T) { // a person who may be active or ended
					if made > 0 {
						enrolAll(r, e, p.ID, person(rapid.IntRange(0, made-1).Draw(r, "who"), "p", "", 0))
					}
				},
				"move one": func(r *rapid.T) {
					which := subscription.Selection{Plan: "p", CPF: fmt.Sprintf("%011d", rapid.IntRange(0, made).Draw(r, "who"))}
					move := rapid.SampledFrom([]subscription.Move{subscription.End, subscription.End, subscription.Suspend, subscription.Resume}).Draw(r, "move")
					if _, err := e.MoveSubscriptions(ctx, p.ID, which, move, 0, 10); err != nil {
						r.Fatal(err)
					}
				},
				"end of a company": func(r *rapid.T) {
					which := subscription.Selection{Holder: rapid.SampledFrom(holders[1:]).Draw(r, "holder")}
					limit := rapid.IntRange(1, 400).Draw(r, "limit")
					if _, err := e.MoveSubscriptions(ctx, p.ID, which, subscription.End, 0, limit); err != nil {
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
	})
}
