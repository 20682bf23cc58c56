package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

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

// unsubscribed is the condition, to be joined by AND, that a partner $1 has no subscription of a CPF $2. It asks twice
// because each of the two indexes by CPF holds only one half: without either it would read all of the partner's.
const unsubscribed = ` AND NOT EXISTS (SELECT 1 FROM subscription b
	WHERE b.partner_id = $1 AND b.cpf = $2 AND b.ended_at = 0)
	AND NOT EXISTS (SELECT 1 FROM subscription b WHERE b.partner_id = $1 AND b.cpf = $2 AND b.ended_at <> 0)`

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
	deletes := make(sqldb.Statements, len(locked))
	for i, cpf := range locked {
		deletes[i] = sqldb.NewStatement(
			`DELETE FROM person WHERE partner_id = $1 AND cpf = $2`+unsubscribed+alone,
			id,
			cpf,
		)
	}
	return tx.RunStatements(ctx, deletes)
}
