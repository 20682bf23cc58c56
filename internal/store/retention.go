package store

import (
	"context"
	"crypto/hmac"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// Retention is how long what has served its purpose is kept; zero keeps a class for ever.
type Retention struct {
	// Attempts is the log of deliveries' tries, with what receivers answered.
	Attempts time.Duration
	// Subscriptions counts from their end.
	Subscriptions time.Duration
	// Cases counts from when they were closed.
	Cases time.Duration
	// Devices counts from the day up to which their keys were valid, ended before or not.
	Devices time.Duration
	// Scores counts from their day.
	Scores time.Duration
	// Jobs counts from when they finished.
	Jobs time.Duration
	// Audit counts from the line's time.
	Audit time.Duration
}

// SweepExpired removes what is past its time and returns how many rows went, by what they were. Many processes may
// sweep at once. What no index leads to is looked for outside of transactions: see sweepFound.
func (s Upkeep) SweepExpired(ctx context.Context, r Retention) (map[string]int64, error) {
	removed := map[string]int64{}
	type sweepStep = func(ctx context.Context, tx *sqldb.Tx, before, limit int64) (int64, error)
	inBatches := func(step sweepStep) func(int64) (int64, error) {
		return func(before int64) (int64, error) {
			return s.runInBatches(
				ctx,
				func(tx *sqldb.Tx, limit int64) (int64, error) { return step(ctx, tx, before, limit) },
			)
		}
	}
	for _, class := range []struct {
		name  string
		keep  time.Duration
		sweep func(before int64) (int64, error)
	}{
		{"attempts", r.Attempts, func(before int64) (int64, error) { return s.sweepAttempts(ctx, before) }},
		{"subscriptions", r.Subscriptions, func(before int64) (int64, error) {
			return s.sweepSubscriptions(ctx, before)
		}},
		{"cases", r.Cases, func(before int64) (int64, error) { return s.sweepCases(ctx, before) }},
		{"devices", r.Devices, inBatches(sweepDevices)},
		{"scores", r.Scores, func(before int64) (int64, error) {
			return s.sweepFound(ctx, found{
				table: "score_day",
				key:   "partner_id, user_index, day",
				first: []any{0, []byte{}, 0},
				args:  []any{dayOfMicros(before)},
				where: ` AND day < $4`,
			})
		}},
		{"jobs", r.Jobs, inBatches(func(ctx context.Context, tx *sqldb.Tx, before, limit int64) (int64, error) {
			return execCounting(ctx, tx, `DELETE FROM job WHERE finished_at > 0 AND finished_at <= $1
				AND id IN (SELECT id FROM job WHERE finished_at > 0 AND finished_at <= $1 LIMIT $2)`,
				before,
				limit,
			)
		})},
	} {
		if class.keep <= 0 {
			continue
		}
		n, err := class.sweep(toMicros(s.now().Add(-class.keep)))
		if err != nil {
			return removed, fmt.Errorf("sweep %s: %w", class.name, err)
		}
		removed[class.name] = n
	}
	for _, sweep := range []func(context.Context) error{s.sweepEventGaps, s.sweepNames, s.sweepPeople} {
		if err := sweep(ctx); err != nil {
			return removed, err
		}
	}
	if r.Audit <= 0 {
		return removed, nil
	}
	n, err := Audit(s).SweepAudit(ctx, r.Audit)
	removed["audit lines"] = n
	return removed, err
}

// personsRest are the tables that keep a person's row alive.
var personsRest = []string{"asset", "epp_key", "support_case", "content_answer", "score_day"}

// hasNothing returns the condition, to be joined by AND, that nothing of a person is kept under some indexes.
func hasNothing(partner, indexes string) string {
	alone := ""
	for _, table := range personsRest {
		alone += ` AND NOT EXISTS (SELECT 1
			FROM ` + table + ` t WHERE t.partner_id = ` + partner + ` AND t.user_index IN (` + indexes + `))`
	}
	return alone
}

// BUG(store): the sweeps of names, scores and attempts read all of their table once an hour, since no index says which
// rows are past their time. They do so outside of transactions, but the time it takes grows with the tables.

// sweepNames deletes the spellings of people's hashes when nothing else about the person is stored. A spelling of today
// is kept: the first row that needs it may not be committed yet. Who relies on an older one has locked the person's
// row, or writes the spelling again: see findAndNameUser.
func (s Upkeep) sweepNames(ctx context.Context) error {
	_, err := s.sweepFound(ctx, found{
		table: "person_name",
		key:   "partner_id, user_index",
		first: []any{0, []byte{}},
		args:  []any{s.now().Add(-24 * time.Hour)},
		where: ` AND named_at <= $3 AND NOT EXISTS (SELECT 1 FROM person p
			WHERE p.partner_id = person_name.partner_id AND p.user_512 = person_name.user_index)
			AND NOT EXISTS (SELECT 1 FROM person p WHERE p.partner_id = person_name.partner_id
			AND p.user_256 = person_name.user_index)` +
			hasNothing(
				`person_name.partner_id`,
				`person_name.user_index`,
			),
	})
	return err
}

// sweepAttempts removes the tries of finished deliveries: those with a row of their own, and those in the delivery's.
func (s Upkeep) sweepAttempts(ctx context.Context, before int64) (int64, error) {
	total, err := s.sweepFound(ctx, found{
		table: "attempt",
		key:   attemptKey,
		first: []any{0, "", 0, 0, ""},
		args:  []any{before},
		where: ` AND at <= $6 AND EXISTS (SELECT 1 FROM delivery d
			WHERE d.partner_id = attempt.partner_id AND d.endpoint_id = attempt.endpoint_id
			AND d.seq = attempt.seq AND d.state IN ('delivered', 'failed'))`,
	})
	if err != nil {
		return total, err
	}
	folded, err := s.sweepFound(ctx, found{
		table: "delivery",
		key:   "partner_id, endpoint_id, seq",
		set:   "tried = NULL",
		first: []any{0, "", 0},
		args:  []any{before},
		where: ` AND tried IS NOT NULL AND state IN ('delivered', 'failed') AND finished_at > 0 AND finished_at <= $4`,
	})
	return total + folded, err
}

// sweepEventGaps forgets gaps before the oldest event.
func (s Upkeep) sweepEventGaps(ctx context.Context) error {
	_, err := s.sweepFound(ctx, found{
		table: "event_gap", key: "partner_id, seq", first: []any{0, 0},
		where: ` AND seq < (SELECT min(e.seq) FROM event e WHERE e.partner_id = event_gap.partner_id)`,
	})
	return err
}

// attemptKey is the primary key of a try.
const attemptKey = "partner_id, endpoint_id, seq, at, worker"

// unsubscribed is the condition, to be joined by AND, that a partner $1 has no subscription of a CPF $2. It asks twice
// because each of the two indexes by CPF holds only one half: without either it would read all of the partner's.
const unsubscribed = ` AND NOT EXISTS (SELECT 1 FROM subscription b
	WHERE b.partner_id = $1 AND b.cpf = $2 AND b.ended_at = 0)
	AND NOT EXISTS (SELECT 1 FROM subscription b WHERE b.partner_id = $1 AND b.cpf = $2 AND b.ended_at <> 0)`

// deleteLonelyPeople deletes those of some people of a partner about whom nothing else is stored. Transactions that
// rely on a person are waited for: enrolments hold the partner's counter, all others the person's row.
func (c core) deleteLonelyPeople(ctx context.Context, tx *sqldb.Tx, id partner.ID, cpfs [][]byte) error {
	if _, err := lockSubscriptions(ctx, tx, id); err != nil {
		return err
	}
	args := []any{id}
	locked, err := collectValues[[]byte](ctx, tx, `SELECT cpf FROM person WHERE partner_id = $1
		AND cpf `+tx.EngineName().BytesCondition(&args, uniqueIndexes(cpfs))+` ORDER BY cpf`+c.db.LockRows(),
		args...,
	)
	if err != nil {
		return err
	}
	alone := hasNothing(`person.partner_id`, `person.user_256, person.user_512`)
	deletes := make([]sqldb.Statement, len(locked))
	for i, cpf := range locked {
		deletes[i] = sqldb.NewStatement(
			`DELETE FROM person WHERE partner_id = $1 AND cpf = $2`+unsubscribed+alone,
			id,
			cpf,
		)
	}
	return tx.RunStatements(ctx, deletes)
}

// sweepPeople deletes people who were inserted ahead of a bulk request that then failed: a day later nothing else is
// stored about them. It looks at two days' people only; the sweep of subscriptions deletes people with their last one.
func (s Upkeep) sweepPeople(ctx context.Context) error {
	yesterday := s.now().Add(-24 * time.Hour)
	nothingElse := hasNothing(`person.partner_id`, `person.user_256, person.user_512`)
	for _, ended := range []string{`= 0`, `<> 0`} { // each half has an index of its own
		nothingElse += ` AND NOT EXISTS (SELECT 1 FROM subscription b
			WHERE b.partner_id = person.partner_id AND b.cpf = person.cpf AND b.ended_at ` + ended + `)`
	}
	type createdPerson struct {
		ownedID[[]byte]
		at int64
	}
	last := createdPerson{ownedID: ownedID[[]byte]{id: []byte{}}, at: toMicros(yesterday.Add(-48 * time.Hour))}
	for {
		people, err := collectRows(ctx, s.readQuerier(), func(row scanner, p *createdPerson) error {
			return row.Scan(&p.at, &p.partner, &p.id)
		}, `SELECT created_at, partner_id, cpf FROM person WHERE (created_at, partner_id, cpf) > ($1, $2,
			$3) AND created_at <= $4`+nothingElse+`
			ORDER BY created_at, partner_id, cpf LIMIT $5`,
			last.at,
			last.partner,
			last.id,
			yesterday,
			sweepBatch,
		)
		if err != nil || len(people) == 0 {
			return err
		}
		owned := make([]ownedID[[]byte], len(people))
		for i, p := range people {
			owned[i] = p.ownedID
		}
		for id, cpfs := range groupByPartner(owned) {
			_, err := runInParts(ctx, s.core, cpfs, sweepBatch, func(tx *sqldb.Tx, part [][]byte) error {
				return s.deleteLonelyPeople(ctx, tx, id, part)
			})
			if err != nil {
				return err
			}
		}
		last = people[len(people)-1]
	}
}

// endedSubscription is one that is past its time, and whose it is.
type endedSubscription struct {
	seq int64
	cpf []byte
}

// sweepSubscriptions removes ended subscriptions, and people who have nothing else. An end is final: none of them can
// have come back since it was read.
func (s Upkeep) sweepSubscriptions(ctx context.Context, before int64) (total int64, err error) {
	for {
		ended, err := collectRows(ctx, s.readQuerier(), func(row scanner, o *ownedID[endedSubscription]) error {
			return row.Scan(&o.partner, &o.id.seq, &o.id.cpf)
		}, `SELECT partner_id, seq, cpf FROM subscription WHERE ended_at <> 0 AND ended_at <= $1
			ORDER BY ended_at LIMIT $2`,
			before,
			sweepBatch,
		)
		if err != nil || len(ended) == 0 {
			return total, err
		}
		for id, own := range groupByPartner(ended) {
			n, err := runInParts(ctx, s.core, own, sweepBatch, func(tx *sqldb.Tx, part []endedSubscription) error {
				if _, err := lockSubscriptions(ctx, tx, id); err != nil { // first, as everybody takes it
					return err
				}
				deletes := make([]sqldb.Statement, len(part))
				cpfs := make([][]byte, len(part))
				for i, e := range part {
					deletes[i] = sqldb.NewStatement(
						`DELETE FROM subscription WHERE partner_id = $1 AND seq = $2`,
						id,
						e.seq,
					)
					cpfs[i] = e.cpf
				}
				if err := tx.RunStatements(ctx, deletes); err != nil {
					return err
				}
				return s.deleteLonelyPeople(ctx, tx, id, cpfs)
			})
			total += n
			if err != nil {
				return total, err
			}
		}
	}
}

// sweepCases removes closed cases with their moves and bookings. One that a transaction is changing is left to the next
// sweep: it may be taken up again.
func (s Upkeep) sweepCases(ctx context.Context, before int64) (total int64, err error) {
	for {
		found, err := collectOwned[cyber.CaseID](ctx, s.readQuerier(), `SELECT partner_id, id FROM support_case
			WHERE status IN (`+closedStatuses+`) AND changed_at <= $1 LIMIT $2`,
			before,
			sweepBatch,
		)
		if err != nil {
			return total, err
		}
		removed := int64(0)
		for id, own := range groupByPartner(found) {
			_, err := runInParts(ctx, s.core, own, sweepBatch, func(tx *sqldb.Tx, part []cyber.CaseID) error {
				args := []any{id, before}
				locked, err := collectValues[cyber.CaseID](ctx, tx, `SELECT id FROM support_case
					WHERE partner_id = $1 AND changed_at <= $2
					AND status IN (`+closedStatuses+`) AND id `+inList(tx.EngineName(), &args, part)+`
					ORDER BY id`+s.db.SkipLocked(),
					args...,
				)
				if err != nil {
					return err
				}
				var list []sqldb.Statement
				for _, c := range locked {
					list = append(list,
						sqldb.NewStatement(`DELETE FROM case_booking WHERE partner_id = $1 AND case_id = $2`, id, c),
						sqldb.NewStatement(`DELETE FROM case_move WHERE partner_id = $1 AND case_id = $2`, id, c),
						sqldb.NewStatement(`DELETE FROM support_case WHERE partner_id = $1 AND id = $2`, id, c),
					)
				}
				tx.AfterCommit(func() { removed += int64(len(locked)) })
				return tx.RunStatements(ctx, list)
			})
			if err != nil {
				return total + removed, err
			}
		}
		if total += removed; removed == 0 {
			return total, nil
		}
	}
}

// sweepDevices removes keys that ended, by their time or before it. The time of a key is never put off.
func sweepDevices(ctx context.Context, tx *sqldb.Tx, before, limit int64) (int64, error) {
	keys, err := collectRows(
		ctx,
		tx,
		func(row scanner, key *[]any) error { return scanKey(row, key, 3) },
		`SELECT partner_id, id, key_index FROM epp_key WHERE valid_until <= $1 ORDER BY valid_until LIMIT $2`,
		before,
		limit,
	)
	if err != nil {
		return 0, err
	}
	var list []sqldb.Statement
	for _, key := range keys {
		list = append(
			list,
			sqldb.NewStatement(
				`UPDATE epp_pool SET taken_by = $1 WHERE key_index = $2 AND taken_by = $3`,
				takenByErased,
				key[2],
				key[1],
			),
			sqldb.NewStatement(`DELETE FROM epp_key WHERE partner_id = $1 AND id = $2`, key[0], key[1]),
		)
	}
	return int64(len(keys)), tx.RunStatements(ctx, list)
}

// found is a search for rows to change that no index leads to.
type found struct {
	table string
	// key are columns that name a row, in the order in which rows are searched.
	key string
	// first comes before every key: a value of the kind of each of its columns.
	first []any
	// where are conditions of the rows, each after AND; its args are numbered behind those of the key.
	where string
	args  []any
	// set is what is changed of a row; without it rows are deleted.
	set string
}

// scanKey reads n columns of any kind into key, and those behind them into more.
func scanKey(row scanner, key *[]any, n int, more ...any) error {
	*key = make([]any, n)
	into := make([]any, n, n+len(more))
	for i := range *key {
		into[i] = &(*key)[i]
	}
	return row.Scan(append(into, more...)...)
}

// sweepFound searches a page at a time outside of transactions, so that it blocks no writer, and changes what it found
// in transactions of a few rows. It returns how many rows it changed.
func (c core) sweepFound(ctx context.Context, f found) (total int64, err error) {
	var past, same conditions
	past.addPastCondition(f.key, `>`, f.first...)
	for i, column := range strings.Split(f.key, ", ") {
		same.addCondition(column+` = `, f.first[i])
	}
	limit := len(f.first) + len(f.args) + 1
	find := `SELECT ` + f.key + ` FROM ` + f.table + ` WHERE true` + past.text + f.where +
		` ORDER BY ` + f.key + ` LIMIT $` + strconv.Itoa(limit)
	change := `DELETE FROM ` + f.table + ` WHERE true` + same.text + f.where
	if f.set != "" {
		// Only if the row is still as it was found.
		change = `UPDATE ` + f.table + ` SET ` + f.set + ` WHERE true` + same.text + f.where
	}
	for after := f.first; ; {
		keys, err := collectRows(
			ctx,
			c.readQuerier(),
			func(row scanner, key *[]any) error { return scanKey(row, key, len(f.first)) },
			find,
			slices.Concat(after, f.args, []any{sweepBatch})...,
		)
		if err != nil || len(keys) == 0 {
			return total, err
		}
		_, err = runInParts(ctx, c, keys, sweepBatch, func(tx *sqldb.Tx, part [][]any) error {
			changes := make([]sqldb.Statement, len(part))
			for i, key := range part {
				changes[i] = sqldb.NewStatement(change, slices.Concat(key, f.args)...)
			}
			changed, err := tx.RunCounting(ctx, changes)
			tx.AfterCommit(func() {
				for _, n := range changed {
					total += n
				}
			})
			return err
		})
		if err != nil || len(keys) < sweepBatch {
			return total, err
		}
		after = keys[len(keys)-1]
	}
}

// sweepBatch is how many rows a sweep removes in one transaction at most.
const sweepBatch = 500

// tellingAtOnce returns how many things of a partner may change in one transaction where each of them is an event: that
// is a row of the thing, one of the event and one for each endpoint.
func tellingAtOnce(ctx context.Context, q querier, id partner.ID) (int, error) {
	endpoints, err := readValue[int](ctx, q, `SELECT count(*) FROM endpoint WHERE partner_id = $1`, id)
	if err != nil {
		return 0, err
	}
	return max(1, sweepBatch/(2+endpoints)), nil
}

// inEventParts does something with things of a partner that are events each, in transactions of a few of them.
func inEventParts[T any](
	ctx context.Context,
	c core,
	id partner.ID,
	all []T,
	fn func(tx *sqldb.Tx, part []T) error,
) error {
	atOnce, err := tellingAtOnce(ctx, c.readQuerier(), id)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(all, atOnce) {
		if err := c.runInTransaction(ctx, func(tx *sqldb.Tx) error { return fn(tx, part) }); err != nil {
			return err
		}
	}
	return nil
}

// SweepEvents removes events older than keep with their deliveries and attempts, delivered or not, and what is left of
// deleted endpoints, and holds what still waits for disabled ones. It returns how many events it removed.
func (s Alerts) SweepEvents(ctx context.Context, keep time.Duration) (int64, error) {
	limit := toMicros(s.now().Add(-keep))
	total, err := s.sweepOldEvents(ctx, limit)
	if err != nil {
		return total, fmt.Errorf("sweep events: %w", err)
	}
	return total, s.sweepDisabled(ctx)
}

// sweepDisabled holds pending deliveries of disabled endpoints. They exist when the process that disabled or enabled
// the endpoint ended half way.
func (s Alerts) sweepDisabled(ctx context.Context) error {
	waiting, err := collectRows(
		ctx,
		s.readQuerier(),
		func(row scanner, k *endpointKey) error { return row.Scan(&k.partner, &k.endpoint) },
		`SELECT e.partner_id, e.id FROM endpoint e WHERE e.state = 'disabled' AND EXISTS (
		SELECT 1 FROM delivery d WHERE d.partner_id = e.partner_id AND d.endpoint_id = e.id AND d.state = 'pending')`,
	)
	for _, k := range waiting {
		if err := s.holdDeliveries(ctx, k.partner, k.endpoint); err != nil {
			return err
		}
	}
	return classifyError(err)
}

// sweepOldEvents removes events up to limit, and what hangs on them, partner by partner. How many go at once depends on
// how many endpoints each has deliveries for.
func (s Alerts) sweepOldEvents(ctx context.Context, limit int64) (total int64, err error) {
	partners, err := collectValues[partner.ID](
		ctx,
		s.readQuerier(),
		`SELECT partner_id FROM event_counter ORDER BY partner_id`,
	)
	if err != nil {
		return 0, err
	}
	for _, id := range partners {
		if err := s.sweepDeletedEndpoints(ctx, id); err != nil {
			return total, err
		}
		for {
			old, err := collectValues[int64](
				ctx,
				s.readQuerier(),
				`SELECT seq FROM event WHERE partner_id = $1 AND created_at <= $2 ORDER BY created_at LIMIT $3`,
				id,
				limit,
				sweepBatch,
			)
			if err != nil {
				return total, err
			}
			if len(old) == 0 {
				break
			}
			done, err := s.sweepEvents(ctx, id, old)
			if total += done; err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// sweepDeletedEndpoints removes what is left of a partner's deleted endpoints.
func (s Alerts) sweepDeletedEndpoints(ctx context.Context, id partner.ID) error {
	endpoints, err := deliveredTo(ctx, s.readQuerier(), id)
	if err != nil {
		return err
	}
	for _, endpoint := range endpoints {
		there, err := readValue[bool](
			ctx,
			s.readQuerier(),
			`SELECT EXISTS (SELECT 1 FROM endpoint WHERE partner_id = $1 AND id = $2)`,
			id,
			endpoint,
		)
		if err == nil && !there {
			err = s.deleteDeliveries(ctx, id, endpoint)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsOfDelivery is how many rows a delivery with its tries may come to.
const rowsOfDelivery = 1 + webhook.MaxAttempts

// sweepEvents removes events of one partner with their deliveries and tries. A transaction that makes deliveries of old
// events again holds the partner's counter of events, so it is waited for.
func (s Alerts) sweepEvents(ctx context.Context, id partner.ID, old []int64) (int64, error) {
	endpoints, err := deliveredTo(ctx, s.readQuerier(), id)
	if err != nil {
		return 0, err
	}
	largest := max(1, sweepBatch/(1+rowsOfDelivery*len(endpoints)))
	return runInParts(ctx, s.core, old, largest, func(tx *sqldb.Tx, part []int64) error {
		if err := s.lockEvents(ctx, tx, id); err != nil {
			return err
		}
		endpoints, err := deliveredTo(ctx, tx, id)
		if err != nil {
			return err
		}
		var list []sqldb.Statement
		for _, seq := range part {
			for _, endpoint := range endpoints {
				list = append(list, deleteDelivery(id, endpoint, seq)...)
			}
			list = append(list, sqldb.NewStatement(`DELETE FROM event WHERE partner_id = $1 AND seq = $2`, id, seq))
		}
		return tx.RunStatements(ctx, list)
	})
}

// deleteDelivery returns the statements that delete a delivery and its tries. The delivery goes first: a worker that
// stores a try has locked it, so when it is gone all tries are there to be deleted.
func deleteDelivery(id partner.ID, endpoint alert.EndpointID, seq int64) []sqldb.Statement {
	return []sqldb.Statement{
		sqldb.NewStatement(
			`DELETE FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3`,
			id,
			endpoint,
			seq,
		),
		sqldb.NewStatement(
			`DELETE FROM attempt WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3`,
			id,
			endpoint,
			seq,
		),
	}
}

// deliveredTo returns the endpoints that a partner has deliveries for, deleted ones included. Each is one step in the
// key: to read all deliveries for it would take as long as there are many.
func deliveredTo(ctx context.Context, q querier, id partner.ID) (list []alert.EndpointID, err error) {
	for last := ""; ; {
		next, err := readValue[sql.NullString](
			ctx,
			q,
			`SELECT min(endpoint_id) FROM delivery WHERE partner_id = $1 AND endpoint_id > $2`,
			id,
			last,
		)
		if err != nil || !next.Valid {
			return list, err
		}
		last = next.String
		list = append(list, alert.EndpointID(last))
	}
}

// runInParts does something with all of a list in transactions of a few of them each, never more than largest.
func runInParts[T any](
	ctx context.Context,
	c core,
	all []T,
	largest int,
	fn func(tx *sqldb.Tx, part []T) error,
) (int64, error) {
	done, err := c.runBatches(ctx, int64(largest), func(tx *sqldb.Tx, done, limit int64) (int64, error) {
		part := all[done:min(int64(len(all)), done+limit)]
		if len(part) == 0 {
			return 0, nil
		}
		return int64(len(part)), fn(tx, part)
	})
	return done, classifyError(err)
}

// trailBaseTag returns the keyed hash of the trail's beginning.
func (s Audit) trailBaseTag(seq int64, mac []byte) []byte {
	return s.keys.MAC("audit.base", binary.BigEndian.AppendUint64(nil, uint64(seq)), mac)
}

// loadBase returns the last line before the trail's beginning, which the first line is chained to; line 0 while nothing
// was dropped.
func (s Audit) loadBase(ctx context.Context, q querier) (operator.Head, error) {
	h := operator.Head{MAC: []byte{}}
	var tag []byte
	err := readColumns(ctx, q, []any{&h.Seq, &h.MAC, &tag}, `SELECT seq, mac, tag FROM audit_base WHERE id = 1`)
	if errors.Is(err, sql.ErrNoRows) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	if !hmac.Equal(tag, s.trailBaseTag(h.Seq, h.MAC)) {
		return h, operator.ErrTrailBroken.With("", fault.TrailBeginningForged)
	}
	return h, nil
}

// SweepAudit deletes lines older than keep from the beginning of the trail, and stores under a keyed hash where the
// trail begins now: without the key the trail cannot be shortened unnoticed. The last line always stays. It returns how
// many lines it deleted.
func (s Audit) SweepAudit(ctx context.Context, keep time.Duration) (int64, error) {
	limit := toMicros(s.now().Add(-keep))
	return s.runInBatches(ctx, func(tx *sqldb.Tx, most int64) (int64, error) {
		// The head's lock first, as everybody who changes the trail takes it.
		if err := execStatement(ctx, tx, `UPDATE audit_head SET seq = seq WHERE id = 1`); err != nil {
			return 0, err
		}
		base, err := s.loadBase(ctx, tx)
		if err != nil {
			return 0, err
		}
		last, err := lastExpiredLine(ctx, tx, base.Seq, limit, most)
		if err != nil || last == 0 {
			return 0, err
		}
		mac, err := readValue[[]byte](ctx, tx, `SELECT mac FROM audit WHERE seq = $1`, last)
		if err == nil {
			err = execStatement(ctx, tx, `INSERT INTO audit_base (id, seq, mac, tag) VALUES (1, $1, $2, $3)
				ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, mac = excluded.mac, tag = excluded.tag`,
				last,
				mac,
				s.trailBaseTag(last, mac),
			)
		}
		if err != nil {
			return 0, err
		}
		return execCounting(ctx, tx, `DELETE FROM audit WHERE seq > $1 AND seq <= $2`, base.Seq, last)
	})
}

// lastExpiredLine returns the last of the lines behind a number, at most so many, that are all past their time, or 0.
// It looks up to the first that is young enough: a clock that was turned back makes no hole.
func lastExpiredLine(ctx context.Context, tx *sqldb.Tx, behind, limit, most int64) (last int64, err error) {
	type line struct{ seq, at int64 }
	lines, err := collectRows(
		ctx,
		tx,
		func(row scanner, l *line) error { return row.Scan(&l.seq, &l.at) },
		`SELECT seq, at FROM audit WHERE seq > $1 AND seq < (SELECT seq FROM audit_head WHERE id = 1)
		ORDER BY seq LIMIT $2`,
		behind,
		most,
	)
	for _, l := range lines {
		if l.at > limit {
			break
		}
		last = l.seq
	}
	return last, err
}
