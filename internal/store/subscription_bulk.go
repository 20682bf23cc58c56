package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// batch gathers one bulk request. What can be computed without the database (keyed indexes, the sealed body) is computed
// when an item is added, so that the transaction stays short.
type batch struct {
	store     Subscriptions
	id        partner.ID
	salt      string
	createdAt int64

	rows []newRow
}

// newRow is one subscription of a bulk request, indexed and sealed before the transaction begins, so that the
// transaction is short.
type newRow struct {
	item          int
	request       int  // which of those that are loaded together
	asked         bool // not to be created: is there one like it?
	plan          string
	cpf           []byte
	user256       []byte
	user512       []byte
	holder        []byte
	start, expiry int64
	createdAt     int64
	body          []byte // sealed
}

// uniqueKey returns what no two live subscriptions of a partner share.
func (r *newRow) uniqueKey() liveKey { return liveKey{string(r.cpf), r.plan} }

// liveKey is what may be live once at a partner: a person in a plan.
type liveKey struct{ cpf, plan string }

// NewBatch begins a bulk creation.
func (s Subscriptions) NewBatch(ctx context.Context, id partner.ID) (subscription.Batch, error) {
	salt, err := Partners(s).OpenSalt(ctx, id)
	if err != nil {
		return nil, err
	}
	return &batch{store: s, id: id, salt: salt, createdAt: toMicros(s.now())}, nil
}

// NewEmpty returns an empty batch of the same partner.
func (b *batch) NewEmpty() subscription.Batch {
	return &batch{store: b.store, id: b.id, salt: b.salt, createdAt: toMicros(b.store.now())}
}

// Add takes a subscription over.
func (b *batch) Add(item int, sub *subscription.Subscription) error {
	row := newRow{
		item: item, plan: string(sub.Plan), start: int64(sub.Start), expiry: int64(sub.Expiry),
		holder: b.store.holderIndex(b.id, sub.Holder), createdAt: b.createdAt,
	}
	row.cpf, row.user256, row.user512 = b.store.personColumns(b.id, sub.Beneficiary.CPF, b.salt)
	var err error
	if row.body, err = b.store.keys.Seal(subscriptionPlace(b.id, row.cpf, sub.Plan, b.createdAt), appendBody(nil, sub)); err != nil {
		return fmt.Errorf("seal subscription: %w", err)
	}
	b.rows = append(b.rows, row)
	return nil
}

// AddWithoutCreating takes an item that is not to be created.
func (b *batch) AddWithoutCreating(item int, p plan.ID, cpf string) {
	row := newRow{item: item, asked: true, plan: string(p), cpf: b.store.blindCPFIndex(b.id, cpf)}
	b.rows = append(b.rows, row)
}

// peopleAtOnce bounds the transactions of MakePeopleKnown: single writes on SQLite wait for one of them.
const peopleAtOnce = 250

// MakePeopleKnown writes the people of a large batch ahead of its transaction, which then finds them there and is half as
// long. Their indexes are random, so that each person costs three pages. Where no single write would wait it writes none:
// one transaction costs less than five.
func (b *batch) MakePeopleKnown(ctx context.Context) error {
	rows := slices.DeleteFunc(slices.Clone(b.rows), func(r newRow) bool { return r.asked })
	if len(rows) <= fewRows || !b.store.db.HasSingleWrites() {
		return nil
	}
	for part := range slices.Chunk(rows, peopleAtOnce) {
		err := b.store.runInBulkTx(ctx, len(part), func(tx *sqldb.Tx) error { return b.loadPersons(ctx, tx, part) })
		if err != nil {
			return err
		}
	}
	return nil
}

// fewRows is how many are written at once without letting SQLite's log be carried over first.
const fewRows = 10

// KeepBatch creates what was added; see subscription.Store.
func (s Subscriptions) KeepBatch(ctx context.Context, of subscription.Batch, register []plan.Plan, dryRun bool) ([]int, error) {
	b := of.(*batch) //nolint:errcheck // NewBatch and NewEmpty make no other type
	rows, asked, repeated := b.dropRepeated()
	if dryRun {
		asked, rows = append(asked, rows...), nil
	}
	// What is only asked for is looked up outside the transaction, which others of the partner wait for.
	known, _, err := b.splitExisting(ctx, s.readQuerier(), asked)
	if err != nil {
		return nil, err
	}
	duplicates := append(repeated, itemNumbers(known)...)
	if len(rows) == 0 {
		return duplicates, nil
	}
	if s.tx == nil {
		if len(rows) > fewRows {
			s.db.AwaitCheckpoint(ctx)
		}
		stored, err := b.keepJoined(ctx, register, rows)
		return append(duplicates, stored...), err
	}
	left, err := b.keepRows(ctx, s.tx, register, rows)
	return append(duplicates, itemNumbers(left)...), err
}

// dropRepeated leaves out items that repeat an earlier one of the same request. Items that only ask whether a
// subscription exists create nothing, so a later item never counts as a repetition of them.
func (b *batch) dropRepeated() (rows, asked []newRow, repeated []int) {
	seen := make(map[liveKey]struct{}, len(b.rows))
	rows = make([]newRow, 0, len(b.rows))
	for _, r := range b.rows {
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

// keepRows returns the rows that the partner has already.
func (b *batch) keepRows(ctx context.Context, tx *sqldb.Tx, register []plan.Plan, rows []newRow) ([]newRow, error) {
	// The counter's lock comes first: bulk requests of one partner pass one by one.
	last, err := lockSubscriptions(ctx, tx, b.id)
	if err != nil {
		return nil, err
	}
	for _, p := range register {
		if _, err := b.store.insertPlan(ctx, tx, b.id, p); err != nil {
			return nil, err
		}
	}
	if err := b.loadPersons(ctx, tx, rows); err != nil {
		return nil, err
	}
	added, left, err := b.insertRows(ctx, tx, last, rows)
	if err != nil {
		return nil, err
	}
	if left, err = b.replaceOver(ctx, tx, last, &added, left); err != nil {
		return nil, err
	}
	return left, b.store.countActiveIn(ctx, tx, b.id, last, added)
}

// itemNumbers returns the numbers of the items of rows.
func itemNumbers(rows []newRow) []int {
	return mapToList(rows, func(r newRow) int { return r.item })
}

// replaceOver checks again the rows that met a live subscription. One whose expiry date has passed, but which the sweep
// has not ended yet, must not block a new one: it is ended here and the new one created.
func (b *batch) replaceOver(ctx context.Context, tx *sqldb.Tx, last int64, added *[]seat, left []newRow) ([]newRow, error) {
	if len(left) == 0 {
		return nil, nil
	}
	due, err := hasExpired(ctx, tx, b.id, subscription.DayInBrazil(b.store.now()))
	if err != nil || !due {
		return left, err
	}
	stored, over, err := b.splitExisting(ctx, tx, left)
	if err != nil || len(over) == 0 {
		return stored, err
	}
	seqs, again := make([]int64, len(over)), make([]newRow, len(over))
	for i, o := range over {
		seqs[i], again[i] = o.seq, o.row
	}
	if err := b.store.endBySeq(ctx, tx, b.id, seqs); err != nil {
		return nil, err
	}
	if len(*added) > 0 {
		last = (*added)[len(*added)-1].seq
	}
	more, met, err := b.insertRows(ctx, tx, last, again)
	*added = append(*added, more...)
	return append(stored, met...), err
}

// overRow is a new row and the seq of the subscription, past its date, that it replaces.
type overRow struct {
	row newRow
	seq int64
}

// splitExisting splits off the rows that the partner has a subscription for: stored, or past its date. Rows it has none for
// are neither.
func (b *batch) splitExisting(ctx context.Context, q querier, rows []newRow) (stored []newRow, over []overRow, err error) {
	today := int64(subscription.DayInBrazil(b.store.now()))
	for _, r := range rows {
		var seq, expiry int64
		err := readColumns(ctx, q, []any{&seq, &expiry}, `SELECT seq, expiry_day FROM subscription
			WHERE partner_id = $1 AND cpf = $2 AND plan_id = $3 AND ended_at = 0`, b.id, r.cpf, r.plan)
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
func (b *batch) loadPersons(ctx context.Context, tx *sqldb.Tx, rows []newRow) error {
	id, now := b.id.Number(), toMicros(b.store.now())
	columns := []string{"partner_id", "cpf", "user_256", "user_512", "created_at"}
	_, err := tx.LoadMissing(ctx, "person", columns, "", rowsOf(rows, func(_ int, r newRow) ([]any, error) {
		return []any{id, r.cpf, r.user256, r.user512, now}, nil
	}))
	return err
}

// loadedColumns are those of a new subscription, as bulk inserts write them.
var loadedColumns = []string{
	"partner_id", "seq", "plan_id", "cpf", "holder", "start_day", "expiry_day", "body", "created_at", "suspended_at", "ended_at",
}

// insertRows puts the rows in behind seq last. It returns the seats of those that
// went in and the rows that met a live subscription; a row that was left out leaves a gap in the numbers.
func (b *batch) insertRows(ctx context.Context, tx *sqldb.Tx, last int64, rows []newRow) (added []seat, left []newRow, err error) {
	id := b.id.Number()
	seqs, err := tx.LoadMissing(ctx, "subscription", loadedColumns, "seq", rowsOf(rows, func(i int, r newRow) ([]any, error) {
		return []any{id, last + int64(i) + 1, r.plan, r.cpf, r.holder, r.start, r.expiry, r.body, r.createdAt, int64(0), int64(0)}, nil
	}))
	if err != nil {
		return nil, nil, err
	}
	added = make([]seat, 0, len(seqs))
	for i, r := range rows {
		if next := len(added); next < len(seqs) && seqs[next] == last+int64(i)+1 {
			added = append(added, seat{seqs[next], r.expiry})
			continue
		}
		left = append(left, r)
	}
	return added, left, nil
}
