package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// dropRepeated leaves out items that repeat an earlier one of the same request. Items that only ask whether a
// subscription exists create nothing, so a later item never counts as a repetition of them.
func dropRepeated(list []subscription.Row) (rows, asked []newRow, repeated []int) {
	seen := make(map[liveKey]struct{}, len(list))
	rows = make([]newRow, 0, len(list))
	for _, one := range list {
		r := one.(newRow) //nolint:errcheck // a Sealer makes no other type
		_, twice := seen[r.uniqueKey()]
		switch {
		case twice:
			repeated = append(repeated, r.item)
		case r.asked:
			asked = append(asked, r)
		default:
			seen[r.uniqueKey()] = struct{}{}
			rows = append(rows, r)
		}
	}
	return rows, asked, repeated
}

// keepRows stores rows. It returns those that the partner has already, and how many watched values of the others wait
// for their first look.
func (s Subscriptions) keepRows(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, register []plan.Plan, rows []newRow,
) (left []newRow, waiting int, err error) {
	// The counter's lock comes first: bulk requests of one partner pass one by one.
	last, err := lockSubscriptions(ctx, tx, id)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range register {
		if _, err := s.insertPlan(ctx, tx, id, p); err != nil {
			return nil, 0, err
		}
	}
	if err := s.loadPersons(ctx, tx, id, rows); err != nil {
		return nil, 0, err
	}
	var made createdRows
	if left, err = s.insertRows(ctx, tx, id, last, rows, &made); err != nil {
		return nil, 0, err
	}
	if left, err = s.replaceOver(ctx, tx, id, last, left, &made); err != nil {
		return nil, 0, err
	}
	if err := s.countActiveIn(ctx, tx, id, made.seats); err != nil {
		return nil, 0, err
	}
	waiting, err = s.watchNamedValues(ctx, tx, id, made.values)
	return left, waiting, err
}

// createdRows are the subscriptions that a transaction has created.
type createdRows struct {
	seats []seat // their seqs ascend
	// values are what is to be watched of the values that they name.
	values []assetRow
}

func itemNumbers(rows []newRow) []int {
	items := make([]int, len(rows))
	for i, r := range rows {
		items[i] = r.item
	}
	return items
}

// replaceOver checks again the rows that met a live subscription. One whose expiry date has passed, but which the sweep
// has not ended yet, must not block a new one: it is ended here and the new one created.
func (s Subscriptions) replaceOver(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, last int64, left []newRow, made *createdRows,
) ([]newRow, error) {
	if len(left) == 0 {
		return nil, nil
	}
	due, err := hasExpired(ctx, tx, id, subscription.DayInBrazil(s.now()))
	if err != nil || !due {
		return left, err
	}
	stored, over, err := s.splitExisting(ctx, tx, id, left)
	if err != nil || len(over) == 0 {
		return stored, err
	}
	seqs, again := make([]int64, len(over)), make([]newRow, len(over))
	var staying []assetRow
	for i, o := range over {
		seqs[i], again[i] = o.seq, o.row
		staying = append(staying, o.row.values...)
	}
	if err := s.endBySeq(ctx, tx, id, seqs, staying); err != nil {
		return nil, err
	}
	if len(made.seats) > 0 {
		last = made.seats[len(made.seats)-1].seq
	}
	met, err := s.insertRows(ctx, tx, id, last, again, made)
	return append(stored, met...), err
}

// overRow is a new row and the seq of the subscription, past its date, that it replaces.
type overRow struct {
	row newRow
	seq int64
}

// splitExisting splits off the rows that the partner has a subscription for: stored, or past its date. Rows it has none
// for are neither.
func (s Subscriptions) splitExisting(
	ctx context.Context, q querier, id partner.ID, rows []newRow,
) (stored []newRow, over []overRow, err error) {
	today := int64(subscription.DayInBrazil(s.now()))
	for _, r := range rows {
		var seq, expiry int64
		err := readColumns(ctx, q, []any{&seq, &expiry}, `SELECT seq, expiry_day FROM subscription
			WHERE partner_id = $1 AND cpf = $2 AND plan_id = $3 AND ended_at = 0`,
			id,
			r.cpf,
			r.plan,
		)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return nil, nil, err
		case expiry != 0 && expiry < today:
			over = append(over, overRow{r, seq})
		default:
			stored = append(stored, r)
		}
	}
	return stored, over, nil
}

// loadPersons makes the people known by both of their digests; many are known already.
func (s Subscriptions) loadPersons(ctx context.Context, tx *sqldb.Tx, id partner.ID, rows []newRow) error {
	number, now := id.Number(), s.now()
	columns := []string{"partner_id", "cpf", "user_256", "user_512", "created_at"}
	_, err := tx.LoadMissing(ctx, "person", columns, "", rowsOf(rows, func(_ int, r newRow) ([]any, error) {
		return []any{number, r.cpf, r.user256, r.user512, now}, nil
	}))
	return err
}

// loadedColumns are those of a new subscription, as bulk inserts write them.
var loadedColumns = []string{
	"partner_id",
	"seq",
	"plan_id",
	"cpf",
	"holder",
	"start_day",
	"expiry_day",
	"watch",
	"body",
	"created_at",
	"suspended_at",
	"ended_at",
}

// insertRows puts the rows in behind seq last and adds them to made. It returns the rows that met a live subscription;
// a row that was left out leaves a gap in the numbers.
func (s Subscriptions) insertRows(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, last int64, rows []newRow, made *createdRows,
) (left []newRow, err error) {
	number := id.Number()
	values := func(i int, r newRow) ([]any, error) { // in the order of loadedColumns
		return []any{
			number,
			last + int64(i) + 1,
			r.plan,
			r.cpf,
			r.holder,
			r.start,
			r.expiry,
			r.watch,
			r.body,
			r.createdAt,
			int64(0),
			int64(0),
		}, nil
	}
	seqs, err := tx.LoadMissing(ctx, "subscription", loadedColumns, "seq", rowsOf(rows, values))
	if err != nil {
		return nil, err
	}
	next := 0
	for i, r := range rows {
		if next < len(seqs) && seqs[next] == last+int64(i)+1 {
			made.seats = append(made.seats, seat{seqs[next], r.expiry})
			made.values = append(made.values, r.values...)
			next++
			continue
		}
		left = append(left, r)
	}
	return left, nil
}
