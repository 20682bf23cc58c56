package site

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
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

// Watched is a request's body with a value of the n-th person to watch.
func Watched(n int) []byte {
	return fmt.Appendf(nil, `{"value":"pessoa%d@exemplo.com.br","type":"email","userHash":"%064x"}`, n, n)
}

// Import imports the subscriptions of the first n people, the way an operator does.
func (s *Service) Import(ctx context.Context, n int) {
	var lines strings.Builder
	for i := range n {
		lines.WriteString(Item(i) + "\n")
	}
	report := load.Must(
		s.Subscriptions.ImportFile(
			ctx,
			s.Partner,
			subscription.NewJSONLines(strings.NewReader(lines.String())),
			false,
			func(r subscription.Reject) error { return fmt.Errorf("refused: %+v", r) },
			func(subscription.ImportReport) {},
		),
	)
	if report.Created != n {
		load.Fail("imported %+v", report)
	}
}

// FillSubscriptions makes the partner's list n long by loading copies of its first subscription, each sealed for its
// own place.
func (s *Service) FillSubscriptions(ctx context.Context, db *sqldb.DB, n int64) {
	id := s.Partner.ID.Number()
	var have, created int64
	var holder, body, cpf []byte
	load.Check(db.ReadPool().QueryRowContext(ctx, `SELECT holder, body, cpf, created_at, (SELECT last FROM subscription_counter WHERE partner_id = $1)
		FROM subscription WHERE partner_id = $1 AND seq = 1`, id).Scan(&holder, &body, &cpf, &created, &have))
	// A body is bound to the person, the plan and the time of its row: see subscriptionPlace of the store.
	place := func(cpf []byte, at int64) seal.Place {
		return s.Place("subscription", "body", fmt.Sprintf("%x %s %d", cpf, Plan, at))
	}
	plain := load.Must(s.Keys.Unseal(place(cpf, created), body))
	holder = append([]byte{}, holder...) // an empty one comes back as nil, which the column refuses
	columns := "partner_id seq plan_id cpf holder start_day expiry_day body created_at suspended_at ended_at"
	LoadRows(ctx, db, "subscription", columns, have+1, n, func(seq int64) ([]any, error) {
		index := fmt.Appendf(nil, "bench %010d", seq)
		sealed, err := s.Keys.Seal(place(index, 1), plain)
		// Indexes in ascending order, because random ones are slow to load and no page looks at them.
		return []any{id, seq, Plan, index, holder, int64(739648), int64(0), sealed, int64(1), int64(0), int64(0)}, err
	})
	// The counter, the blocks and the ends of the partner's list are written anew from its rows.
	run := func(statement string) { Exec(ctx, db, statement, id) }
	run(`DELETE FROM subscription_block WHERE partner_id = $1`)
	run(`DELETE FROM subscription_expiry WHERE partner_id = $1`)
	run(`UPDATE subscription_counter SET last = (SELECT max(seq) FROM subscription WHERE partner_id = $1),
		active = (SELECT count(*) FROM subscription WHERE partner_id = $1 AND ended_at = 0) WHERE partner_id = $1`)
	run(`INSERT INTO subscription_block (partner_id, block, active) SELECT partner_id, seq / 4096, count(*)
		FROM subscription WHERE partner_id = $1 AND ended_at = 0 GROUP BY partner_id, seq / 4096`)
	run(`INSERT INTO subscription_expiry (partner_id, block, expiry_day, active)
		SELECT partner_id, seq / 4096, expiry_day, count(*) FROM subscription
		WHERE partner_id = $1 AND ended_at = 0 AND expiry_day > 0 GROUP BY partner_id, seq / 4096, expiry_day`)
}

// FillValues loads watched addresses from one number to another, whose fingerprints are their numbers.
func (s *Service) FillValues(ctx context.Context, db *sqldb.DB, from, to int64, status cyber.Status) {
	at := Spread(to)
	columns := "id partner_id user_index kind value_index fingerprint look value status created_at"
	LoadRows(ctx, db, "asset", columns, from, to, func(i int64) ([]any, error) {
		id, plain := ID("as_"), fmt.Appendf(nil, `{"value":"pessoa%07d@exemplo%02d.com.br","userHash":"%064d"}`, i, i%40, i)
		value, err := s.Keys.Seal(s.Place("asset", "value", id), plain)
		index := fmt.Appendf(nil, "%016d", i)
		return []any{id, s.Partner.ID.Number(), index, int64(1), index, i, int64(0), value, string(status), at(i)}, err
	})
}

// Place is where a sealed value of the partner stands.
func (s *Service) Place(table, column, row string) seal.Place {
	return seal.Place{Table: table, Column: column, Partner: string(s.Partner.ID), Row: row}
}

// ID is a fresh one, behind all that were made before.
func ID(prefix string) string { return prefix + load.Must(uuid.NewV7()).String() }

// Spread puts the i-th of n things into the last thirty days.
func Spread(n int64) func(i int64) int64 {
	now := time.Now()
	return func(i int64) int64 {
		return now.Add(-time.Duration(n-i) * (30 * 24 * time.Hour / time.Duration(n))).UnixMicro()
	}
}

// LoadRows writes the rows from one number to another, in transactions that others would not mind.
func LoadRows(ctx context.Context, db *sqldb.DB, table, columns string, from, to int64, row func(int64) ([]any, error)) {
	const batch = 250_000
	for first := from; first <= to; first += batch {
		load.Check(db.InTransaction(ctx, func(tx *sqldb.Tx) error {
			next, last := first, min(first+batch-1, to)
			err := tx.InsertRows(ctx, table, strings.Fields(columns), func() ([]any, error) {
				if next > last {
					return nil, nil
				}
				next++
				return row(next - 1)
			})
			return err
		}))
	}
}
