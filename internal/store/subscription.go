package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

var _ subscription.Store = Subscriptions{}

// subscriptionPlace binds a sealed body to what never changes of its row. The seq is not in it: a bulk request learns
// its numbers inside the transaction, and seals before it.
func subscriptionPlace(id partner.ID, cpf []byte, p plan.ID, createdAt int64) seal.Place {
	row := hex.EncodeToString(cpf) + " " + string(p) + " " + strconv.FormatInt(createdAt, 10)
	return seal.Place{Table: "subscription", Column: "body", Partner: string(id), Row: row}
}

// holderIndex returns the blind index of a holder's CNPJ; empty, not NULL, without one.
func (s Subscriptions) holderIndex(id partner.ID, cnpj string) []byte {
	if cnpj == "" {
		return []byte{}
	}
	return s.keys.BlindIndex("holder", string(id), []byte(cnpj))
}

// sealedSubscription is what the sealed column of a subscription holds. There is one for each beneficiary of each
// partner, so its names are short: under the contract's they would take a seventh of the row.
type sealedSubscription struct {
	GroupSize   int64         `json:"g,omitzero"`
	Holder      string        `json:"h,omitzero"`
	Metadata    string        `json:"m,omitzero"`
	InternalID  string        `json:"i,omitzero"`
	PrimaryCard string        `json:"pc,omitzero"`
	UserCard    string        `json:"uc,omitzero"`
	Name        string        `json:"n,omitzero"`
	CPF         string        `json:"cpf,omitzero"`
	BirthDate   string        `json:"bd,omitzero"`
	Gender      string        `json:"s,omitzero"`
	Email       string        `json:"e,omitzero"`
	Phone       string        `json:"p,omitzero"`
	Address     sealedAddress `json:"a,omitzero"`
}

type sealedAddress struct {
	Zipcode      string `json:"z,omitzero"`
	Street       string `json:"st,omitzero"`
	Number       string `json:"n,omitzero"`
	Complement   string `json:"co,omitzero"`
	Neighborhood string `json:"nb,omitzero"`
	City         string `json:"c,omitzero"`
	State        string `json:"uf,omitzero"`
}

// errBody means that a body was unsealed and is not what sealBody wrote.
var errBody = errors.New("subscription body: unknown layout")

// sealBody seals what a subscription's row does not say in the clear.
func (s Subscriptions) sealBody(place seal.Place, sub *subscription.Subscription) ([]byte, error) {
	who := sub.Beneficiary
	body, err := json.Marshal(sealedSubscription{
		GroupSize:   sub.GroupSize,
		Holder:      sub.Holder,
		Metadata:    sub.Metadata,
		InternalID:  sub.InternalID,
		PrimaryCard: who.PrimaryCard,
		UserCard:    who.UserCard,
		Name:        who.Name,
		CPF:         who.CPF,
		BirthDate:   who.BirthDate,
		Gender:      who.Gender,
		Email:       who.Email,
		Phone:       who.Phone,
		Address:     sealedAddress(who.Address),
	})
	if err != nil {
		return nil, fmt.Errorf("write subscription: %w", err)
	}
	return s.sealValue(place, body)
}

// subscriptionColumns are those that scanning a subscription expects, in its order.
const subscriptionColumns = `seq, cpf, plan_id, start_day, expiry_day, watch, body, created_at, suspended_at, ended_at`

// scanSubscription returns what reads and opens a row of subscriptionColumns of a partner.
func (s Subscriptions) scanSubscription(id partner.ID) func(scanner, *subscription.Subscription) error {
	return s.scanSifted(id, func(subscription.Subscription) bool { return true })
}

// scanSifted is scanSubscription for a list that leaves some out: those are not opened.
func (s Subscriptions) scanSifted(
	id partner.ID,
	fits func(subscription.Subscription) bool,
) func(scanner, *subscription.Subscription) error {
	return func(row scanner, sub *subscription.Subscription) error {
		var cpf, sealed []byte
		err := row.Scan(
			&sub.Seq,
			&cpf,
			&sub.Plan,
			&sub.Start,
			&sub.Expiry,
			&sub.Watch,
			&sealed,
			&sub.CreatedAt,
			&sub.SuspendedAt,
			&sub.EndedAt,
		)
		if err != nil || !fits(*sub) {
			return err
		}
		return s.unsealBody(id, cpf, sealed, sub)
	}
}

// unsealBody unseals a body into sub, whose plan and time of creation are set.
func (s Subscriptions) unsealBody(id partner.ID, cpf, sealed []byte, sub *subscription.Subscription) error {
	plain, err := s.keys.Unseal(subscriptionPlace(id, cpf, sub.Plan, toMicros(sub.CreatedAt)), sealed)
	if err != nil {
		return fmt.Errorf("open subscription: %w", err)
	}
	var body sealedSubscription
	if err := json.Unmarshal(plain, &body); err != nil {
		return fmt.Errorf("%w: %w", errBody, err)
	}
	sub.GroupSize = body.GroupSize
	sub.Holder = body.Holder
	sub.Metadata = body.Metadata
	sub.InternalID = body.InternalID
	sub.Beneficiary = subscription.Beneficiary{
		PrimaryCard: body.PrimaryCard,
		UserCard:    body.UserCard,
		Name:        body.Name,
		CPF:         body.CPF,
		BirthDate:   body.BirthDate,
		Gender:      body.Gender,
		Email:       body.Email,
		Phone:       body.Phone,
		Address:     subscription.Address(body.Address),
	}
	return nil
}

// readByCPF returns the subscriptions of a keyed index of a CPF, those in force first and each half by seq; rest may
// turn the order and limit it. It asks twice because each half has an index of its own: without a word of the end, all
// of a partner's would be read.
func (s Subscriptions) readByCPF(
	ctx context.Context,
	q querier,
	id partner.ID,
	cpf []byte,
	rest string,
) ([]subscription.Subscription, error) {
	var all []subscription.Subscription
	for _, half := range []string{`ended_at = 0`, `ended_at <> 0`} {
		list, err := collectRows(
			ctx,
			q,
			s.scanSubscription(id),
			`SELECT `+subscriptionColumns+` FROM subscription WHERE partner_id = $1 AND cpf = $2
			AND `+half+` ORDER BY `+byPerson+`seq`+rest,
			id,
			cpf,
		)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// SubscriptionOf returns the subscription of a plan and a CPF that has not ended, else the latest that ended.
func (s Subscriptions) SubscriptionOf(
	ctx context.Context,
	id partner.ID,
	p plan.ID,
	cpf string,
) (subscription.Subscription, error) {
	index := s.blindCPFIndex(id, cpf)
	const columns = `SELECT ` + subscriptionColumns + ` FROM subscription WHERE partner_id = $1 AND cpf = $2
		AND plan_id = $3 AND `
	for _, query := range [...]string{columns + `ended_at = 0`, columns + `ended_at <> 0 ORDER BY seq DESC LIMIT 1`} {
		found, err := readRow(
			ctx,
			s.readQuerier(),
			s.scanSubscription(id),
			subscription.ErrNotFound,
			query,
			id,
			index,
			p,
		)
		if !errors.Is(err, subscription.ErrNotFound) {
			return found, err
		}
	}
	return subscription.Subscription{}, subscription.ErrNotFound
}

// blockSpan is how many consecutive seq a block holds. The numbered pages of a list are found by counting blocks: each
// row of subscription_block says how many of its block have not ended. To find the offset-th subscription, the blocks
// are added up until one contains it, and the rest is skipped inside that block. A partner of five million has 1,221
// blocks; smaller ones would take longer to add up than they save in skipping: see design note 0020.
//
// A subscription is active until its expiry date is over, whether the sweep has ended it yet or not. So every count is
// taken less what is past its day: subscription_expiry says how many of a block are over after each day, and holds no
// past day once the sweep has been by.
const blockSpan = 4096

// lockSubscriptions takes the partner's counter for the rest of the transaction and returns the last seq.
func lockSubscriptions(ctx context.Context, tx *sqldb.Tx, id partner.ID) (last int64, err error) {
	return readValue[int64](ctx, tx, `INSERT INTO subscription_counter (partner_id, last, active) VALUES ($1, 0, 0)
		ON CONFLICT (partner_id) DO UPDATE SET last = subscription_counter.last RETURNING last`,
		id,
	)
}

// lastDay is the last day on which a subscription is active, in the words of the index subscription_active; a day that
// no date reaches stands for no end.
const lastDay = `(CASE WHEN expiry_day = 0 THEN 4000000 ELSE expiry_day END)`

// pageQuery is one statement, so that totals and rows are of one moment. past is what the sweep has not ended yet,
// first the block that holds the offset-th row, before how many come earlier than it, and found the page's numbers,
// which an index alone finds. SQLite has to be told to compute past and first once. The statement is kept prepared, as
// reading the text costs SQLite six times as much as running it; LIMIT has a CAST because SQLite reads a text again
// whenever the number of a bare one is bound.
const pageQuery = `
WITH past AS MATERIALIZED (
	SELECT block, sum(active) AS active FROM subscription_expiry
	WHERE partner_id = $1 AND expiry_day < $2 GROUP BY block),
first AS MATERIALIZED (
	SELECT block, before FROM (
		SELECT block, active, sum(active) OVER (ORDER BY block ROWS UNBOUNDED PRECEDING) - active AS before FROM (
			SELECT b.block, b.active - coalesce(p.active, 0) AS active
			FROM subscription_block b LEFT JOIN past p ON p.block = b.block WHERE b.partner_id = $1) counted) summed
	WHERE before + active > $3 ORDER BY block LIMIT 1),
found AS (
	SELECT seq FROM subscription
	WHERE partner_id = $1 AND ended_at = 0 AND ` + lastDay + ` >= $2 AND seq >= (SELECT block FROM first) * 4096
	ORDER BY seq LIMIT CAST($4 AS BIGINT) OFFSET coalesce($3 - (SELECT before FROM first), 0)),
total AS (
	SELECT CAST(coalesce((SELECT active FROM subscription_counter WHERE partner_id = $1), 0)
		- coalesce((SELECT sum(active) FROM past), 0) AS BIGINT) AS active)
SELECT t.active, coalesce(s.seq, 0), s.cpf, coalesce(s.plan_id, ''), coalesce(s.start_day, 0), coalesce(s.expiry_day,
0),
	s.body, s.created_at, s.suspended_at
FROM total t LEFT JOIN found f ON 1 = 1 LEFT JOIN subscription s ON s.partner_id = $1 AND s.seq = f.seq
ORDER BY s.seq`

// ActivePage returns part of a partner's subscriptions that have not ended and are not past their expiry date, and how
// many there are.
func (s Subscriptions) ActivePage(
	ctx context.Context,
	id partner.ID,
	offset int64,
	limit int,
) (subscription.Page, error) {
	page := subscription.Page{Items: []subscription.Subscription{}}
	err := eachRow(ctx, s.listQuerier(), func(row scanner) error {
		var sub subscription.Subscription
		var cpf, sealed []byte
		err := row.Scan(
			&page.Total,
			&sub.Seq,
			&cpf,
			&sub.Plan,
			&sub.Start,
			&sub.Expiry,
			&sealed,
			&sub.CreatedAt,
			&sub.SuspendedAt,
		)
		if err != nil || sub.Seq == 0 { // past the end
			return err
		}
		err = s.unsealBody(id, cpf, sealed, &sub)
		page.Items = append(page.Items, sub)
		return err
	},
		pageQuery,
		id,
		subscription.DayInBrazil(s.now()),
		offset,
		limit,
	)
	return page, err
}

// seat is where a subscription stands in its partner's list, and until when.
type seat struct{ seq, expiry int64 }

// countActiveIn counts new subscriptions in. Their seqs ascend. The caller holds the counter's lock.
func (s Subscriptions) countActiveIn(ctx context.Context, tx *sqldb.Tx, id partner.ID, seats []seat) error {
	if len(seats) == 0 {
		return nil
	}
	// The whole partner waits for this lock, so what can be sent at once is.
	counts := []sqldb.Statement{
		sqldb.NewStatement(
			`UPDATE subscription_counter SET last = $2, active = active + $3 WHERE partner_id = $1`,
			id,
			seats[len(seats)-1].seq,
			len(seats),
		),
	}
	counts = append(counts, changeBlocks(id, seats, 1)...)
	counts = append(counts, countEndsIn(id, seats)...)
	return tx.RunStatements(ctx, counts)
}

// removeActive counts ended subscriptions out. The caller holds the counter's lock.
func (s Subscriptions) removeActive(ctx context.Context, tx *sqldb.Tx, id partner.ID, seats []seat) error {
	counts := []sqldb.Statement{
		sqldb.NewStatement(
			`UPDATE subscription_counter SET active = active - $2 WHERE partner_id = $1`,
			id,
			len(seats),
		),
	}
	counts = append(counts, changeBlocks(id, seats, -1)...)
	counts = append(counts, countEndsOut(id, seats)...)
	return tx.RunStatements(ctx, counts)
}

// changeBlocks returns the statements that change the counter of each seat's block, and create it if needed.
func changeBlocks(id partner.ID, seats []seat, by int64) (changes []sqldb.Statement) {
	sums := map[int64]int64{}
	for _, s := range seats {
		sums[s.seq/blockSpan] += by
	}
	for _, block := range slices.Sorted(maps.Keys(sums)) {
		changes = append(changes, sqldb.NewStatement(
			`INSERT INTO subscription_block (partner_id, block, active) VALUES ($1, $2, $3)
			ON CONFLICT (partner_id, block) DO UPDATE SET active = subscription_block.active + excluded.active`,
			id,
			block,
			sums[block],
		))
	}
	return changes
}

// expiryCount is how many subscriptions of a block are over after a day.
type expiryCount struct{ block, day, active int64 }

// countExpiries counts those of the seats that have an end, by block and day.
func countExpiries(seats []seat) []expiryCount {
	type blockDay struct{ block, day int64 }
	sums := map[blockDay]int64{}
	for _, s := range seats {
		if s.expiry != 0 {
			sums[blockDay{s.seq / blockSpan, s.expiry}]++
		}
	}
	counts := make([]expiryCount, 0, len(sums))
	for k, n := range sums {
		counts = append(counts, expiryCount{k.block, k.day, n})
	}
	slices.SortFunc(counts, func(a, b expiryCount) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.day, b.day))
	})
	return counts
}

// countEndsIn returns the statements that count the ends of subscriptions in.
func countEndsIn(id partner.ID, seats []seat) (counts []sqldb.Statement) {
	for _, c := range countExpiries(seats) {
		counts = append(counts, sqldb.NewStatement(
			`INSERT INTO subscription_expiry (partner_id, block, expiry_day, active) VALUES ($1, $2, $3, $4)
			ON CONFLICT (partner_id, expiry_day, block)
			DO UPDATE SET active = subscription_expiry.active + excluded.active`,
			id,
			c.block,
			c.day,
			c.active,
		))
	}
	return counts
}

// countEndsOut undoes countEndsIn.
func countEndsOut(id partner.ID, seats []seat) (counts []sqldb.Statement) {
	for _, c := range countExpiries(seats) {
		counts = append(
			counts,
			sqldb.NewStatement(
				`UPDATE subscription_expiry SET active = active - $4
				WHERE partner_id = $1 AND block = $2 AND expiry_day = $3`,
				id,
				c.block,
				c.day,
				c.active,
			),
			// Days that have gone by would add up, and every page would read them.
			sqldb.NewStatement(
				`DELETE FROM subscription_expiry
				WHERE partner_id = $1 AND block = $2 AND expiry_day = $3 AND active <= 0`,
				id,
				c.block,
				c.day,
			),
		)
	}
	return counts
}

// EditSubscription changes what a partner may change of a subscription in force: see subscription.Changes.
func (s Subscriptions) EditSubscription(ctx context.Context, id partner.ID, which subscription.Selection,
	change func(*subscription.Subscription) error,
) (subscription.Subscription, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (sub subscription.Subscription, err error) {
		if _, err := lockSubscriptions(ctx, tx, id); err != nil {
			return sub, err
		}
		found, err := s.readSelected(ctx, tx, id, which, 0, 1)
		if err != nil {
			return sub, err
		}
		if len(found) == 0 {
			return sub, subscription.ErrNotFound
		}
		sub = found[0]
		before := sub
		if err := change(&sub); err != nil {
			return sub, err
		}
		if changed := before.ChangedKinds(sub); changed != 0 {
			// What is said anew is watched as the plan says today; what is not stays as it is.
			sold, err := s.checkedPlan(ctx, tx, id, sub.Plan)
			if err != nil {
				return sub, err
			}
			sub.Watch = sub.Watch&^changed | sold.value.Watch&changed
		}
		cpf := s.blindCPFIndex(id, sub.Beneficiary.CPF)
		sealed, err := s.sealBody(subscriptionPlace(id, cpf, sub.Plan, toMicros(sub.CreatedAt)), &sub)
		if err != nil {
			return sub, err
		}
		if err := execStatement(
			ctx,
			tx,
			`UPDATE subscription SET expiry_day = $3, watch = $4, body = $5 WHERE partner_id = $1 AND seq = $2`,
			id,
			sub.Seq,
			sub.Expiry,
			sub.Watch,
			sealed,
		); err != nil {
			return sub, err
		}
		if before.ChangedKinds(sub) != 0 && before.Watch|sub.Watch != 0 {
			if err := s.settleWatches(ctx, tx, id, [][]byte{cpf}, nil); err != nil {
				return sub, err
			}
		}
		if before.Expiry == sub.Expiry {
			return sub, nil
		}
		ends := append(
			countEndsOut(id, []seat{{sub.Seq, int64(before.Expiry)}}),
			countEndsIn(id, []seat{{sub.Seq, int64(sub.Expiry)}})...,
		)
		return sub, tx.RunStatements(ctx, ends)
	})
}

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
	ctx context.Context,
	of subscription.Batch,
	register []plan.Plan,
	dryRun bool,
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
func (s Subscriptions) CountWaitingLooks(
	ctx context.Context,
	of subscription.Batch,
	duplicates []int,
) (int, error) {
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
	var made createdRows
	left, err := b.insertRows(ctx, tx, last, rows, &made)
	if err != nil {
		return nil, err
	}
	if left, err = b.replaceOver(ctx, tx, last, left, &made); err != nil {
		return nil, err
	}
	if err := b.store.countActiveIn(ctx, tx, b.id, made.seats); err != nil {
		return nil, err
	}
	return left, b.store.watchNamedValues(ctx, tx, b.id, made.values)
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
func (b *batch) replaceOver(
	ctx context.Context,
	tx *sqldb.Tx,
	last int64,
	left []newRow,
	made *createdRows,
) ([]newRow, error) {
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
	var staying []assetRow
	for i, o := range over {
		seqs[i], again[i] = o.seq, o.row
		staying = append(staying, o.row.values...)
	}
	if err := b.store.endBySeq(ctx, tx, b.id, seqs, staying); err != nil {
		return nil, err
	}
	if len(made.seats) > 0 {
		last = made.seats[len(made.seats)-1].seq
	}
	met, err := b.insertRows(ctx, tx, last, again, made)
	return append(stored, met...), err
}

// overRow is a new row and the seq of the subscription, past its date, that it replaces.
type overRow struct {
	row newRow
	seq int64
}

// splitExisting splits off the rows that the partner has a subscription for: stored, or past its date. Rows it has none
// for are neither.
func (b *batch) splitExisting(
	ctx context.Context,
	q querier,
	rows []newRow,
) (stored []newRow, over []overRow, err error) {
	today := int64(subscription.DayInBrazil(b.store.now()))
	for _, r := range rows {
		var seq, expiry int64
		err := readColumns(ctx, q, []any{&seq, &expiry}, `SELECT seq, expiry_day FROM subscription
			WHERE partner_id = $1 AND cpf = $2 AND plan_id = $3 AND ended_at = 0`,
			b.id,
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
func (b *batch) insertRows(
	ctx context.Context,
	tx *sqldb.Tx,
	last int64,
	rows []newRow,
	made *createdRows,
) (left []newRow, err error) {
	id := b.id.Number()
	values := func(i int, r newRow) ([]any, error) { // in the order of loadedColumns
		return []any{
			id,
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
