package store

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// batch gathers one bulk request. What can be computed without the database (keyed indexes, the sealed body) is
// computed when an item is added, so that the transaction stays short.
type batch struct {
	store     Subscriptions
	id        partner.ID
	mode      partner.Mode
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
	watch         plan.Watch
	body          []byte     // sealed
	values        []assetRow // what is watched of the values that it names
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
	owner, err := s.partnerByID(ctx, s.readQuerier(), id)
	if err != nil {
		return nil, err
	}
	return &batch{store: s, id: id, mode: owner.Mode, salt: salt, createdAt: toMicros(s.now())}, nil
}

// NewEmpty returns an empty batch of the same partner.
func (b *batch) NewEmpty() subscription.Batch {
	return &batch{store: b.store, id: b.id, mode: b.mode, salt: b.salt, createdAt: toMicros(b.store.now())}
}

// Add takes a subscription over.
func (b *batch) Add(item int, sub *subscription.Subscription) error {
	row := newRow{
		item: item, plan: string(sub.Plan), start: int64(sub.Start), expiry: int64(sub.Expiry),
		holder: b.store.holderIndex(b.id, sub.Holder), createdAt: b.createdAt, watch: sub.Watch,
	}
	row.cpf, row.user256, row.user512 = b.store.personColumns(b.id, sub.Beneficiary.CPF, b.salt)
	var err error
	row.body, err = b.store.sealBody(subscriptionPlace(b.id, row.cpf, sub.Plan, b.createdAt), sub)
	if err != nil {
		return err
	}
	person := user{write: row.user512, other: row.user256, cpf: row.cpf}
	row.values, err = b.store.newNamedValues(b.id, b.mode, b.salt, person, sub)
	if err != nil {
		return err
	}
	b.rows = append(b.rows, row)
	return nil
}

func (b *batch) AddWithoutCreating(item int, p plan.ID, cpf string) {
	row := newRow{item: item, asked: true, plan: string(p), cpf: b.store.blindCPFIndex(b.id, cpf)}
	b.rows = append(b.rows, row)
}

// peopleAtOnce bounds the transactions of MakePeopleKnown: single writes on SQLite wait for one of them.
const peopleAtOnce = 250

// MakePeopleKnown writes the people of a large batch ahead of its transaction, which then finds them there and is half
// as long. Their indexes are random, so that each person costs three pages. Where no single write would wait it writes
// none: one transaction costs less than five.
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
func (s Subscriptions) KeepBatch(
	ctx context.Context, of subscription.Batch, register []plan.Plan, dryRun bool,
) ([]int, error) {
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
	// Inside an idempotent request s is the store of its transaction; b.store is always that of the database.
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

// CountWaitingLooks counts values of a kept batch; see subscription.Store.
func (s Subscriptions) CountWaitingLooks(ctx context.Context, of subscription.Batch, duplicates []int) (int, error) {
	b := of.(*batch) //nolint:errcheck // NewBatch and NewEmpty make no other type
	isDuplicate := make(map[int]bool, len(duplicates))
	for _, item := range duplicates {
		isDuplicate[item] = true
	}
	created := map[personsValue]bool{}
	var people []string
	for _, row := range b.rows {
		if row.asked || isDuplicate[row.item] || len(row.values) == 0 {
			continue
		}
		people = append(people, string(row.user256), string(row.user512))
		for _, v := range row.values { // of the person, under either digest
			created[personsValue{string(row.user256), v.Kind, string(v.index)}] = true
			created[personsValue{string(row.user512), v.Kind, string(v.index)}] = true
		}
	}
	waiting := 0
	for part := range slices.Chunk(people, watchedAtOnce) {
		args := []any{b.id}
		isTheirs := s.inIndexes(&args, part)
		err := eachRow(ctx, s.readQuerier(), func(row scanner) error {
			var v personsValue
			var user, index []byte
			if err := row.Scan(&user, &v.kind, &index); err != nil {
				return err
			}
			if v.person, v.index = string(user), string(index); created[v] {
				waiting++
			}
			return nil
		}, `SELECT user_index, kind, value_index FROM asset
			WHERE partner_id = $1 AND user_index `+isTheirs+` AND look <> 0`,
			args...,
		)
		if err != nil {
			return 0, err
		}
	}
	return waiting, nil
}
