package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"vigia/internal/partner"
	"vigia/internal/plan"
	"vigia/internal/sqldb"
	"vigia/internal/subscription"
)

// batch gathers one bulk request. What can be computed without the database (keyed indexes, the body's bytes) is computed when
// an item is added, so that all cores take part and the transaction stays short.
type batch struct {
	store *Store
	id    partner.ID
	salt  string

	mu   sync.Mutex
	rows []newRow
}

type newRow struct {
	item          int
	plan          string
	cpf           []byte
	user256       []byte
	user512       []byte
	holder        []byte
	start, expiry int64
	body          []byte
}

// key is what no two live subscriptions of a partner share.
func (r *newRow) key() liveKey { return liveKey{string(r.cpf), r.plan} }

type liveKey struct{ cpf, plan string }

// NewBatch begins a bulk creation.
func (s *Store) NewBatch(ctx context.Context, id partner.ID) (subscription.Batch, error) {
	salt, err := s.Salt(ctx, id)
	if err != nil {
		return nil, err
	}
	return &batch{store: s, id: id, salt: salt}, nil
}

// Add takes a subscription over.
func (b *batch) Add(item int, sub *subscription.Subscription) error {
	row := newRow{
		item: item, plan: string(sub.Plan), start: int64(sub.Start), expiry: int64(sub.Expiry),
		holder: b.store.holderIndex(b.id, sub.Holder), body: appendBody(nil, sub),
	}
	row.cpf, row.user256, row.user512 = b.store.personRow(b.id, sub.Beneficiary.CPF, b.salt)
	b.mu.Lock()
	b.rows = append(b.rows, row)
	b.mu.Unlock()
	return nil
}

// Keep creates what was added; see subscription.Batch.
func (b *batch) Keep(ctx context.Context, register []plan.Plan, dryRun bool) ([]int, error) {
	slices.SortFunc(b.rows, func(x, y newRow) int { return x.item - y.item })
	rows, repeated := b.distinct()
	if len(rows) == 0 {
		return repeated, nil
	}
	var stored []int
	if dryRun {
		_, existing, _, err := b.known(ctx, b.store.reader(ctx), rows)
		return append(repeated, existing...), err
	}
	err := b.store.inTx(ctx, func(tx *sqldb.Tx) (err error) {
		stored, err = b.keep(ctx, tx, register, rows)
		return err
	})
	return append(repeated, stored...), err
}

// distinct leaves out items that repeat an earlier one of the same request.
func (b *batch) distinct() (rows []newRow, repeated []int) {
	seen := make(map[liveKey]struct{}, len(b.rows))
	rows = make([]newRow, 0, len(b.rows))
	for _, r := range b.rows {
		if _, twice := seen[r.key()]; twice {
			repeated = append(repeated, r.item)
			continue
		}
		seen[r.key()] = struct{}{}
		rows = append(rows, r)
	}
	return rows, repeated
}

func (b *batch) keep(ctx context.Context, tx *sqldb.Tx, register []plan.Plan, rows []newRow) (stored []int, err error) {
	// The counter's lock comes first: bulk requests of one partner pass one by one, so what is not there now stays absent.
	last, err := lockSubscriptions(ctx, tx, b.id)
	if err != nil {
		return nil, err
	}
	fresh, stored, over, err := b.known(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	if err := b.store.endBySeq(ctx, tx, b.id, over); err != nil {
		return nil, err
	}
	for _, p := range register {
		if _, err := insertPlan(ctx, tx, b.id, p); err != nil {
			return nil, err
		}
	}
	if len(fresh) == 0 {
		return stored, nil
	}
	if err := b.loadPersons(ctx, tx, fresh); err != nil {
		return nil, err
	}
	if err := b.load(ctx, tx, last, fresh); err != nil {
		return nil, err
	}
	return stored, b.store.addActive(ctx, tx, b.id, last, int64(len(fresh)))
}

// probe is how many CPFs one look-up asks for: few enough for SQLite, which searches parameters by name.
const probe = 200

// known splits rows into those that the partner does not have and those that it has (by item). A subscription whose expiry date
// is over, but which the sweep has not met yet, stands in nobody's way: its seq is returned so that it can be ended.
func (b *batch) known(ctx context.Context, q querier, rows []newRow) (fresh []newRow, stored []int, over []int64, err error) {
	today := subscription.DayOf(b.store.now())
	fresh = make([]newRow, 0, len(rows))
	for chunk := range slices.Chunk(rows, probe) {
		live, err := b.live(ctx, q, chunk)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, r := range chunk {
			found, exists := live[r.key()]
			switch {
			case exists && (found.expiry == 0 || found.expiry >= int64(today)):
				stored = append(stored, r.item)
				continue
			case exists:
				over = append(over, found.seq)
			}
			fresh = append(fresh, r)
		}
	}
	return fresh, stored, over, nil
}

type liveRow struct{ seq, expiry int64 }

// live returns the subscriptions that have not ended of the people of some rows.
func (b *batch) live(ctx context.Context, q querier, rows []newRow) (map[liveKey]liveRow, error) {
	args, marks := make([]any, 1, probe+1), make([]byte, 0, 5*probe)
	args[0] = string(b.id)
	for i := range probe {
		// A short list is filled up with its last entry, so that there is one statement to prepare and not two hundred.
		args = append(args, rows[min(i, len(rows)-1)].cpf)
		if i > 0 {
			marks = append(marks, ", "...)
		}
		marks = append(marks, '$')
		marks = strconv.AppendInt(marks, int64(i+2), 10)
	}
	found, err := q.QueryContext(ctx, `SELECT cpf, plan_id, seq, expiry_day FROM subscription
		WHERE partner_id = $1 AND ended_at = 0 AND cpf IN (`+string(marks)+`)`, args...)
	if err != nil {
		return nil, classify(fmt.Errorf("find subscriptions: %w", err))
	}
	defer func() { _ = found.Close() }() // Err below reports what matters
	var live map[liveKey]liveRow
	for found.Next() {
		var cpf []byte
		var p string
		var row liveRow
		if err := found.Scan(&cpf, &p, &row.seq, &row.expiry); err != nil {
			return nil, fmt.Errorf("find subscriptions: %w", err)
		}
		if live == nil {
			live = make(map[liveKey]liveRow, len(rows))
		}
		live[liveKey{string(cpf), p}] = row
	}
	return live, classify(found.Err())
}

// loadPersons makes the people known by both of their digests; many are known already.
func (b *batch) loadPersons(ctx context.Context, tx *sqldb.Tx, rows []newRow) error {
	i, now := 0, micros(b.store.now())
	values := make([]any, 5)
	_, err := tx.LoadMissing(ctx, "person", []string{"partner_id", "cpf", "user_256", "user_512", "created_at"}, func() ([]any, error) {
		if i == len(rows) {
			return nil, nil
		}
		r := &rows[i]
		i++
		values[0], values[1], values[2], values[3], values[4] = string(b.id), r.cpf, r.user256, r.user512, now
		return values, nil
	})
	return err
}

var loadedColumns = []string{
	"partner_id", "seq", "plan_id", "cpf", "holder", "start_day", "expiry_day", "body", "created_at", "suspended_at", "ended_at",
}

// load puts the rows in behind seq last, sealing each body for its place on the way.
func (b *batch) load(ctx context.Context, tx *sqldb.Tx, last int64, rows []newRow) error {
	i, now := 0, micros(b.store.now())
	values := make([]any, len(loadedColumns))
	_, err := tx.Load(ctx, "subscription", loadedColumns, func() ([]any, error) {
		if i == len(rows) {
			return nil, nil
		}
		r := &rows[i]
		i++
		seq := last + int64(i)
		sealed, err := b.store.keys.Seal(subscriptionPlace(b.id, seq), r.body)
		if err != nil {
			return nil, fmt.Errorf("seal subscription: %w", err)
		}
		values[0], values[1], values[2], values[3], values[4] = string(b.id), seq, r.plan, r.cpf, r.holder
		values[5], values[6], values[7], values[8], values[9], values[10] = r.start, r.expiry, sealed, now, int64(0), int64(0)
		return values, nil
	})
	return err
}
