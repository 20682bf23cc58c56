package site

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// CPF is the n-th made-up CPF, with right check digits.
func CPF(n int) string {
	s := fmt.Sprintf("%09d", 100_000_000+n)
	for range 2 {
		sum := 0
		for i := range len(s) {
			sum += int(s[i]-'0') * (len(s) + 1 - i)
		}
		s += strconv.Itoa(sum * 10 % 11 % 10)
	}
	return s
}

// Item is a subscription of the n-th made-up person, as the body of a request has it.
func Item(n int) string {
	cpf := CPF(n)
	return `{"start_date":"2026-02-01","expiry_date":"","plan_id":"` + Plan + `","is_group_plan":false,"beneficiary":{"primary_card":"4111111111111111",` +
		`"user_card":"5555555555554444","name":"Pessoa de Exemplo da Silva","cpf":"` + cpf + `","birth_date":"1990-05-17","gender":"F","email":"pessoa` + cpf +
		`@exemplo.com.br","phone_number":"5511987654321","address":{"zipcode":"01001000","street":"Rua das Laranjeiras","number":"100",` +
		`"neighborhood":"Centro","city":"São Paulo","state":"SP"}}}`
}

// Items is a request's body with the subscriptions of some people.
func Items(from, to int, item func(n int) string) []byte {
	var list []string
	for n := from; n < to; n++ {
		list = append(list, item(n))
	}
	return []byte("[" + strings.Join(list, ",") + "]")
}

// SubscriptionColumns are those that a bulk request fills.
var SubscriptionColumns = []string{
	"partner_id", "seq", "plan_id", "cpf", "holder", "start_day", "expiry_day", "body", "created_at", "suspended_at", "ended_at",
}

// FillSubscriptions makes the partner's list n long by loading copies of its first subscription, each sealed for its own
// place.
func (s *Service) FillSubscriptions(ctx context.Context, db *sqldb.DB, n int64) {
	id := s.Partner.ID.Number()
	var have int64
	var holder, body []byte
	load.Check(db.Reader().QueryRowContext(ctx, `SELECT holder, body, (SELECT last FROM subscription_counter WHERE partner_id = $1)
		FROM subscription WHERE partner_id = $1 AND seq = 1`, id).Scan(&holder, &body, &have))
	place := func(seq int64) seal.Place {
		return seal.Place{Table: "subscription", Column: "body", Partner: string(s.Partner.ID), Row: strconv.FormatInt(seq, 10)}
	}
	plain := load.Must(s.Keys.Unseal(place(1), body))
	holder = append([]byte{}, holder...) // an empty one comes back as nil, which the column refuses
	LoadRows(ctx, db, "subscription", SubscriptionColumns, have+1, n, func(seq int64) ([]any, error) {
		sealed, err := s.Keys.Seal(place(seq), plain)
		// Indexes in ascending order, because random ones are slow to load and no page looks at them.
		return []any{id, seq, Plan, fmt.Appendf(nil, "bench %010d", seq), holder, int64(739648), int64(0), sealed, int64(1), int64(0), int64(0)}, err
	})
	s.CountSubscriptions(ctx, db)
}

// CountSubscriptions writes the counter and the blocks of the partner's list anew from the rows.
func (s *Service) CountSubscriptions(ctx context.Context, db *sqldb.DB) {
	statements := []string{
		`DELETE FROM subscription_block WHERE partner_id = $1`, `DELETE FROM subscription_expiry WHERE partner_id = $1`,
		`UPDATE subscription_counter SET last = (SELECT max(seq) FROM subscription WHERE partner_id = $1),
			active = (SELECT count(*) FROM subscription WHERE partner_id = $1 AND ended_at = 0) WHERE partner_id = $1`,
	}
	for level, span := range []int64{128, 128 * 128, 128 * 128 * 128} {
		statements = append(statements, fmt.Sprintf(`INSERT INTO subscription_block (partner_id, level, block, active)
			SELECT partner_id, %d, seq / %d, count(*) FROM subscription WHERE partner_id = $1 AND ended_at = 0
			GROUP BY partner_id, seq / %d`, level+1, span, span))
		if level > 0 {
			statements = append(statements, fmt.Sprintf(`INSERT INTO subscription_expiry (partner_id, level, block, expiry_day, active)
				SELECT partner_id, %d, seq / %d, expiry_day, count(*) FROM subscription WHERE partner_id = $1 AND ended_at = 0 AND expiry_day > 0
				GROUP BY partner_id, seq / %d, expiry_day`, level+1, span, span))
		}
	}
	for _, st := range statements {
		Exec(ctx, db, st, s.Partner.ID.Number())
	}
}

// LoadRows writes rows from one number to another, in transactions that others would not mind.
func LoadRows(ctx context.Context, db *sqldb.DB, table string, columns []string, from, to int64, row func(int64) ([]any, error)) {
	const batch = 250_000
	for next := from; next <= to; next += batch {
		load.Check(db.InTx(ctx, func(tx *sqldb.Tx) error {
			i := next - 1
			_, err := tx.Load(ctx, table, columns, func() ([]any, error) {
				if i++; i == min(next+batch, to+1) {
					return nil, nil
				}
				return row(i)
			})
			return err
		}))
	}
}
