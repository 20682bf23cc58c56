package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subscription"
)

// rawSide loads rows into copies of the two tables that a bulk request fills, indexes included.
type rawSide struct {
	b *bench
}

var (
	subscriptionColumns = []string{
		"partner_id", "seq", "plan_id", "cpf", "holder", "start_day", "expiry_day", "body", "created_at", "suspended_at", "ended_at",
	}
	personColumns = []string{"partner_id", "cpf", "user_256", "user_512", "created_at"}
)

func newRawSide(ctx context.Context, b *bench) (*rawSide, error) {
	steps, err := store.MigrationList()
	if err != nil {
		return nil, err
	}
	for _, m := range steps {
		for _, table := range []string{"subscription", "person"} {
			for _, st := range copied(m.SQL, table) {
				if err := run(ctx, b.db, st); err != nil {
					return nil, err
				}
			}
		}
	}
	r := &rawSide{b: b}
	// The copies begin with what the originals hold, so that both sides meet trees of one depth.
	return r, b.db.InTx(ctx, func(tx *sqldb.Tx) error {
		for _, st := range []string{`INSERT INTO raw_subscription SELECT * FROM subscription`, `INSERT INTO raw_person SELECT * FROM person`} {
			if _, err := tx.ExecContext(ctx, st); err != nil {
				return err
			}
		}
		return nil
	})
}

// load times one transaction that loads the rows of the last n subscriptions and their people.
func (r *rawSide) load(ctx context.Context, n int64) (time.Duration, error) {
	subs, err := r.rows(ctx, `SELECT `+strings.Join(subscriptionColumns, ", ")+` FROM subscription WHERE partner_id = $1
		ORDER BY seq DESC LIMIT $2`, len(subscriptionColumns), n)
	if err != nil {
		return 0, err
	}
	people, err := r.rows(ctx, `SELECT p.partner_id, p.cpf, p.user_256, p.user_512, p.created_at FROM subscription s
		JOIN person p ON p.partner_id = s.partner_id AND p.cpf = s.cpf WHERE s.partner_id = $1 ORDER BY s.seq DESC LIMIT $2`,
		len(personColumns), n)
	if err != nil {
		return 0, err
	}
	if int64(len(subs)) != n || int64(len(people)) != n {
		return 0, errors.New("the rows of the last request are not all there")
	}
	begin := time.Now()
	err = r.b.db.InTx(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Load(ctx, "raw_person", personColumns, each(people)); err != nil {
			return err
		}
		_, err := tx.Load(ctx, "raw_subscription", subscriptionColumns, each(subs))
		return err
	})
	return time.Since(begin), err
}

// each hands rows over from the last to the first: they were read newest first.
func each(rows [][]any) func() ([]any, error) {
	i := len(rows)
	return func() ([]any, error) {
		if i == 0 {
			return nil, nil
		}
		i--
		return rows[i], nil
	}
}

func (r *rawSide) rows(ctx context.Context, query string, columns int, n int64) ([][]any, error) {
	found, err := r.b.db.Reader().QueryContext(ctx, query, string(r.b.partner), n)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	var list [][]any
	for found.Next() {
		row, dest := make([]any, columns), make([]any, columns)
		for i := range row {
			dest[i] = &row[i]
		}
		if err := found.Scan(dest...); err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, found.Err()
}

// get compares GET /subscriptions/{plan}/{cpf} with a bare handler that selects one row by its primary key.
func (b *bench) get(ctx context.Context) error {
	bare, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = bare.Close() }()
	go func() { _ = http.Serve(bare, http.HandlerFunc(b.bareGet)) }()
	known := b.sent
	ask := func(address string, path func(n int) string) func() (load.Result, error) {
		return func() (load.Result, error) {
			return load.Run(ctx, address, b.conns, b.each, func(int) []byte {
				return load.Request(http.MethodGet, address, path(1+rand.IntN(known)), b.key, nil)
			})
		}
	}
	whole, plain, ratio, err := load.Compare(b.rounds,
		ask(b.api, func(n int) string { return "/v1/subscriptions/" + planID + "/" + load.CPF(n) }),
		ask(bare.Addr().String(), func(n int) string { return "/" + strconv.Itoa(n) }))
	if err != nil {
		return err
	}
	fmt.Printf("  get: %d connections, best of %d, ratio their median: bare %.0f requests/s (p50 %v), whole stack %.0f (p50 %v): %.0f %% (bar: 60 %%)\n",
		b.conns, b.rounds, plain.Rate(), plain.P50, whole.Rate(), whole.P50, 100*ratio)
	return nil
}

func (b *bench) bareGet(w http.ResponseWriter, r *http.Request) {
	seq, err := strconv.ParseInt(r.URL.Path[1:], 10, 64)
	var planID string
	var body []byte
	var start, expiry int64
	if err == nil {
		err = b.db.Reader().QueryRowContext(r.Context(), `SELECT plan_id, start_day, expiry_day, body FROM subscription
			WHERE partner_id = $1 AND seq = $2`, string(b.partner), seq).Scan(&planID, &start, &expiry, &body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("content-type", "application/json; charset=utf-8")
	w.Header().Set("content-length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// lists compares the deepest page with the first one of a very long list.
func (b *bench) lists(ctx context.Context) error {
	if b.list == 0 {
		return nil
	}
	begin := time.Now()
	if err := b.seed(ctx); err != nil {
		return err
	}
	seeded := time.Since(begin)
	deepest := b.list / 100
	times, err := b.pages(ctx, 1, deepest)
	if err != nil {
		return err
	}
	fmt.Printf("  list: %d subscriptions (made in %v), pages of 100: page 1 p50 %v, page %d p50 %v: %.2f x (bar: 3)\n",
		b.list, seeded.Round(time.Second), times[0], deepest, times[1], times[1].Seconds()/times[0].Seconds())
	return b.midnight(ctx)
}

// pages asks for some pages in turns and returns the median of each.
func (b *bench) pages(ctx context.Context, pages ...int64) ([]time.Duration, error) {
	const asked = 301
	times := make([][]time.Duration, len(pages))
	for range asked {
		for i, page := range pages {
			begin := time.Now()
			if _, err := b.ask(ctx, http.MethodGet, fmt.Sprintf("/v1/subscriptions?page=%d&page_size=100", page), nil); err != nil {
				return nil, err
			}
			times[i] = append(times[i], time.Since(begin))
		}
	}
	medians := make([]time.Duration, len(pages))
	for i := range times {
		medians[i] = median(times[i])
	}
	return medians, nil
}

// midnight asks for pages when many have come past their date and no sweep has been by: in one run, then mixed with
// others.
func (b *bench) midnight(ctx context.Context) error {
	const many = 100_000
	day := int64(subscription.DayOf(time.Now())) - 1
	middle := b.list / 2
	for _, c := range []struct {
		name, where string
		args        []any
	}{
		{"in one run", `seq > $3 AND seq <= $4`, []any{middle, middle + many}},
		{"one in two", `seq > $3 AND seq <= $4 AND seq % 2 = 0`, []any{middle, middle + 2*many}},
	} {
		err := b.db.InTx(ctx, func(tx *sqldb.Tx) error {
			if _, err := tx.ExecContext(ctx, `UPDATE subscription SET expiry_day = 0 WHERE partner_id = $1 AND expiry_day > 0`, string(b.partner)); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `UPDATE subscription SET expiry_day = $2 WHERE partner_id = $1 AND `+c.where,
				append([]any{string(b.partner), day}, c.args...)...)
			return err
		})
		if err == nil {
			err = b.count(ctx)
		}
		if err != nil {
			return err
		}
		times, err := b.pages(ctx, 1, middle/100, middle/100+1, (b.list-many)/100)
		if err != nil {
			return err
		}
		fmt.Printf("  list: %d past their date and not swept, %s: page 1 p50 %v, the page before them %v, the page across %v, the last %v\n",
			many, c.name, times[0], times[1], times[2], times[3])
	}
	return nil
}

// seed fills the list up to its length by loading rows directly: copies of a real one, each sealed for its own place.
func (b *bench) seed(ctx context.Context) error {
	var have int64
	var one struct {
		seq    int64
		holder []byte
		body   []byte
	}
	err := b.db.Reader().QueryRowContext(ctx, `SELECT seq, holder, body, (SELECT last FROM subscription_counter WHERE partner_id = $1)
		FROM subscription WHERE partner_id = $1 AND seq = 1`, string(b.partner)).Scan(&one.seq, &one.holder, &one.body, &have)
	if err != nil {
		return err
	}
	place := func(seq int64) seal.Place {
		return seal.Place{Table: "subscription", Column: "body", Partner: string(b.partner), Row: strconv.FormatInt(seq, 10)}
	}
	plain, err := b.app.Keys.Unseal(place(one.seq), one.body)
	if err != nil {
		return err
	}
	for from := have; from < b.list; {
		to := min(from+250_000, b.list)
		err := b.db.InTx(ctx, func(tx *sqldb.Tx) error {
			seq := from
			row := make([]any, len(subscriptionColumns))
			_, err := tx.Load(ctx, "subscription", subscriptionColumns, func() ([]any, error) {
				if seq == to {
					return nil, nil
				}
				seq++
				sealed, err := b.app.Keys.Seal(place(seq), plain)
				if err != nil {
					return nil, err
				}
				// In ascending order, because random ones are slow to load and no page looks at them.
				index := fmt.Appendf(nil, "bench %010d", seq)
				copy(row, []any{string(b.partner), seq, planID, index, one.holder, int64(739648), int64(0), sealed, int64(1), int64(0), int64(0)})
				return row, nil
			})
			return err
		})
		if err != nil {
			return err
		}
		from = to
	}
	return b.count(ctx)
}

// count writes the counter and the blocks of the list anew from the rows.
func (b *bench) count(ctx context.Context) error {
	return b.db.InTx(ctx, func(tx *sqldb.Tx) error {
		statements := []string{
			`DELETE FROM subscription_block WHERE partner_id = $1`,
			`UPDATE subscription_counter SET last = (SELECT max(seq) FROM subscription WHERE partner_id = $1),
				active = (SELECT count(*) FROM subscription WHERE partner_id = $1 AND ended_at = 0) WHERE partner_id = $1`,
		}
		for level, span := range []int64{128, 128 * 128, 128 * 128 * 128} {
			statements = append(statements, fmt.Sprintf(`INSERT INTO subscription_block (partner_id, level, block, active)
				SELECT partner_id, %d, seq / %d, count(*) FROM subscription WHERE partner_id = $1 AND ended_at = 0
				GROUP BY partner_id, seq / %d`, level+1, span, span))
		}
		statements = append(statements, `DELETE FROM subscription_expiry WHERE partner_id = $1`)
		for level, span := range map[int]int64{2: 128 * 128, 3: 128 * 128 * 128} {
			statements = append(statements, fmt.Sprintf(`INSERT INTO subscription_expiry (partner_id, level, block, expiry_day, active)
				SELECT partner_id, %d, seq / %d, expiry_day, count(*) FROM subscription WHERE partner_id = $1 AND ended_at = 0 AND expiry_day > 0
				GROUP BY partner_id, seq / %d, expiry_day`, level, span, span))
		}
		for _, st := range statements {
			if _, err := tx.ExecContext(ctx, st, string(b.partner)); err != nil {
				return err
			}
		}
		return nil
	})
}
