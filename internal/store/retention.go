package store

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
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

// SweepExpired removes what is past its time and returns how many rows went, by what they were. Many processes may sweep at
// once. What no index leads to is looked for outside of transactions: see sweepFound.
func (s Upkeep) SweepExpired(ctx context.Context, r Retention) (map[string]int64, error) {
	removed := map[string]int64{}
	inBatches := func(step func(ctx context.Context, tx *sqldb.Tx, before, limit int64) (int64, error)) func(int64) (int64, error) {
		return func(before int64) (int64, error) {
			return s.runInBatches(ctx, func(tx *sqldb.Tx, limit int64) (int64, error) { return step(ctx, tx, before, limit) })
		}
	}
	for _, class := range []struct {
		name  string
		keep  time.Duration
		sweep func(before int64) (int64, error)
	}{
		{"attempts", r.Attempts, func(before int64) (int64, error) { return s.sweepAttempts(ctx, before) }},
		{"subscriptions", r.Subscriptions, inBatches(sweepSubscriptions)},
		{"cases", r.Cases, inBatches(sweepCases)},
		{"devices", r.Devices, inBatches(sweepDevices)},
		{"scores", r.Scores, func(before int64) (int64, error) { return s.sweepScores(ctx, before/dayMicros) }},
		{"jobs", r.Jobs, inBatches(func(ctx context.Context, tx *sqldb.Tx, before, limit int64) (int64, error) {
			return rowsAffected(tx.ExecContext(ctx, `DELETE FROM job WHERE finished_at > 0 AND finished_at <= $1
				AND id IN (SELECT id FROM job WHERE finished_at > 0 AND finished_at <= $1 LIMIT $2)`, before, limit))
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
	if err := s.sweepEventGaps(ctx); err != nil {
		return removed, err
	}
	if err := s.sweepNames(ctx); err != nil {
		return removed, err
	}
	if err := s.sweepPeople(ctx); err != nil {
		return removed, err
	}
	if r.Audit <= 0 {
		return removed, nil
	}
	n, err := s.auditArea().SweepAudit(ctx, r.Audit)
	removed["audit lines"] = n
	return removed, err
}

// personsRest are the tables that keep a person's row alive.
var personsRest = []string{"asset", "epp_key", "support_case", "content_answer", "score_day"}

// hasNothing returns the condition, to be joined by AND, that nothing of a person is kept under some indexes.
func hasNothing(partner, indexes string) string {
	alone := ""
	for _, table := range personsRest {
		alone += ` AND NOT EXISTS (SELECT 1 FROM ` + table + ` t WHERE t.partner_id = ` + partner + ` AND t.user_index IN (` + indexes + `))`
	}
	return alone
}

// BUG(store): sweepNames, sweepScores and sweepAttempts read all of their table once an hour, since no index says which
// rows are past their time. They do so outside of transactions, but the time it takes grows with the tables.

// sweepNames deletes the spellings of people's hashes when nothing else about the person is stored. A spelling of today
// is kept: the first row that needs it may not be committed yet.
func (s Upkeep) sweepNames(ctx context.Context) error {
	alone := ` AND named_at <= $3 AND NOT EXISTS (SELECT 1 FROM person p WHERE p.partner_id = person_name.partner_id AND p.user_512 = person_name.user_index)
		AND NOT EXISTS (SELECT 1 FROM person p WHERE p.partner_id = person_name.partner_id AND p.user_256 = person_name.user_index)` +
		hasNothing(`person_name.partner_id`, `person_name.user_index`)
	_, err := s.sweepFound(ctx, found{
		first: []any{int64(0), []byte{}}, args: []any{toMicros(s.now().Add(-24 * time.Hour))},
		find: `SELECT partner_id, user_index FROM person_name WHERE (partner_id, user_index) > ($1, $2)` + alone + `
			ORDER BY partner_id, user_index LIMIT $4`,
		change: `DELETE FROM person_name WHERE partner_id = $1 AND user_index = $2` + alone,
	})
	return wrapError("sweep names", err)
}

// sweepScores removes those of days before one.
func (s Upkeep) sweepScores(ctx context.Context, day int64) (int64, error) {
	return s.sweepFound(ctx, found{
		first: []any{int64(0), []byte{}, int64(0)}, args: []any{day},
		find: `SELECT partner_id, user_index, day FROM score_day WHERE (partner_id, user_index, day) > ($1, $2, $3) AND day < $4
			ORDER BY partner_id, user_index, day LIMIT $5`,
		change: `DELETE FROM score_day WHERE partner_id = $1 AND user_index = $2 AND day = $3 AND day < $4`,
	})
}

// sweepAttempts removes the tries of finished deliveries: those with a row of their own, and those in the delivery's.
func (s Upkeep) sweepAttempts(ctx context.Context, before int64) (int64, error) {
	const finished = ` AND EXISTS (SELECT 1 FROM delivery d WHERE d.partner_id = attempt.partner_id AND d.endpoint_id = attempt.endpoint_id
		AND d.seq = attempt.seq AND d.state IN ('delivered', 'failed'))`
	total, err := s.sweepFound(ctx, found{
		first: []any{int64(0), "", int64(0), int64(0), ""}, args: []any{before},
		find: `SELECT partner_id, endpoint_id, seq, at, worker FROM attempt
			WHERE (partner_id, endpoint_id, seq, at, worker) > ($1, $2, $3, $4, $5) AND at <= $6` + finished + `
			ORDER BY partner_id, endpoint_id, seq, at, worker LIMIT $7`,
		change: `DELETE FROM attempt WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND at = $4 AND worker = $5 AND at <= $6` + finished,
	})
	if err != nil {
		return total, err
	}
	const tried = ` AND tried IS NOT NULL AND state IN ('delivered', 'failed') AND finished_at > 0 AND finished_at <= $4`
	folded, err := s.sweepFound(ctx, found{
		first: []any{int64(0), "", int64(0)}, args: []any{before},
		find: `SELECT partner_id, endpoint_id, seq FROM delivery WHERE (partner_id, endpoint_id, seq) > ($1, $2, $3)` + tried + `
			ORDER BY partner_id, endpoint_id, seq LIMIT $5`,
		change: `UPDATE delivery SET tried = NULL WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3` + tried,
	})
	return total + folded, err
}

// sweepEventGaps removes tries of erased deliveries that were on their way at the time, and forgets gaps before the oldest
// event.
func (s Upkeep) sweepEventGaps(ctx context.Context) error {
	const erased = ` AND EXISTS (SELECT 1 FROM event_gap g WHERE g.partner_id = attempt.partner_id AND g.seq = attempt.seq)`
	const past = ` AND seq < (SELECT min(e.seq) FROM event e WHERE e.partner_id = event_gap.partner_id)`
	for _, f := range []found{
		{
			first: []any{int64(0), "", int64(0), int64(0), ""},
			find: `SELECT partner_id, endpoint_id, seq, at, worker FROM attempt
				WHERE (partner_id, endpoint_id, seq, at, worker) > ($1, $2, $3, $4, $5)` + erased + `
				ORDER BY partner_id, endpoint_id, seq, at, worker LIMIT $6`,
			change: `DELETE FROM attempt WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND at = $4 AND worker = $5` + erased,
		},
		{
			first: []any{int64(0), int64(0)},
			find: `SELECT partner_id, seq FROM event_gap WHERE (partner_id, seq) > ($1, $2)` + past + `
				ORDER BY partner_id, seq LIMIT $3`,
			change: `DELETE FROM event_gap WHERE partner_id = $1 AND seq = $2` + past,
		},
	} {
		if _, err := s.sweepFound(ctx, f); err != nil {
			return fmt.Errorf("sweep gaps: %w", err)
		}
	}
	return nil
}

// unsubscribed is the condition, to be joined by AND, that a partner $1 has no subscription of a CPF $2. It asks twice
// because each of the two indexes by CPF holds only one half: without either it would read all of the partner's.
const unsubscribed = ` AND NOT EXISTS (SELECT 1 FROM subscription b WHERE b.partner_id = $1 AND b.cpf = $2 AND b.ended_at = 0)
	AND NOT EXISTS (SELECT 1 FROM subscription b WHERE b.partner_id = $1 AND b.cpf = $2 AND b.ended_at <> 0)`

// sweepPeople deletes people who were inserted ahead of a bulk request that then failed: a day later nothing else is
// stored about them. It looks at two days' people only; the sweep of subscriptions deletes people with their last one.
func (s Upkeep) sweepPeople(ctx context.Context) error {
	yesterday := s.now().Add(-24 * time.Hour)
	alone := hasNothing(`person.partner_id`, `person.user_256, person.user_512`)
	for _, ended := range []string{`= 0`, `<> 0`} { // each half has an index of its own
		alone += ` AND NOT EXISTS (SELECT 1 FROM subscription b WHERE b.partner_id = person.partner_id AND b.cpf = person.cpf AND b.ended_at ` + ended + `)`
	}
	_, err := s.sweepFound(ctx, found{
		first: []any{toMicros(yesterday.Add(-48 * time.Hour)), int64(0), []byte{}}, args: []any{toMicros(yesterday)},
		find: `SELECT created_at, partner_id, cpf FROM person WHERE (created_at, partner_id, cpf) > ($1, $2, $3) AND created_at <= $4` + alone + `
			ORDER BY created_at, partner_id, cpf LIMIT $5`,
		change: `DELETE FROM person WHERE created_at = $1 AND partner_id = $2 AND cpf = $3 AND created_at <= $4` + alone,
	})
	return wrapError("sweep people", err)
}

// sweepSubscriptions removes ended subscriptions, and people who have nothing else.
func sweepSubscriptions(ctx context.Context, tx *sqldb.Tx, before, limit int64) (int64, error) {
	type ended struct {
		partner partner.ID
		seq     int64
		cpf     []byte
	}
	old, err := collectRows(ctx, tx, func(row scanner) (e ended, err error) {
		err = row.Scan(scanPartnerID(&e.partner), &e.seq, &e.cpf)
		return e, err
	}, `SELECT partner_id, seq, cpf FROM subscription WHERE ended_at <> 0 AND ended_at <= $1 ORDER BY ended_at LIMIT $2`, before, limit)
	if err != nil {
		return 0, err
	}
	alone := hasNothing(`person.partner_id`, `person.user_256, person.user_512`)
	for _, e := range old { // an end is final: none of them can have come back since it was read
		if _, err := tx.ExecContext(ctx, `DELETE FROM subscription WHERE partner_id = $1 AND seq = $2`, partnerNumber(e.partner), e.seq); err != nil {
			return 0, err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM person WHERE partner_id = $1 AND cpf = $2`+unsubscribed+alone, partnerNumber(e.partner), e.cpf)
		if err != nil {
			return 0, err
		}
	}
	return int64(len(old)), nil
}

var closedStatuses = []cyber.CaseStatus{cyber.CaseResolved, cyber.CaseClosed, cyber.CaseCancelled}

// sweepCases removes closed cases with their moves and bookings.
func sweepCases(ctx context.Context, tx *sqldb.Tx, before, limit int64) (int64, error) {
	var args []any
	closed := appendListMarks(&args, closedStatuses)
	args = append(args, before, limit)
	type old struct {
		partner int64
		id      string
	}
	cases, err := collectRows(ctx, tx, func(row scanner) (c old, err error) { return c, row.Scan(&c.partner, &c.id) },
		fmt.Sprintf(`SELECT partner_id, id FROM support_case WHERE status IN (%s) AND changed_at <= $%d LIMIT $%d`, closed, len(args)-1, len(args)), args...)
	if err != nil {
		return 0, err
	}
	for _, c := range cases {
		for _, statement := range []string{
			`DELETE FROM case_booking WHERE partner_id = $1 AND case_id = $2`, `DELETE FROM case_move WHERE partner_id = $1 AND case_id = $2`,
			`DELETE FROM support_case WHERE partner_id = $1 AND id = $2`,
		} {
			if _, err := tx.ExecContext(ctx, statement, c.partner, c.id); err != nil {
				return 0, err
			}
		}
	}
	return int64(len(cases)), nil
}

// sweepDevices removes keys that ended, by their time or before it.
func sweepDevices(ctx context.Context, tx *sqldb.Tx, before, limit int64) (int64, error) {
	type old struct {
		partner int64
		id      string
		index   []byte
	}
	keys, err := collectRows(ctx, tx, func(row scanner) (k old, err error) { return k, row.Scan(&k.partner, &k.id, &k.index) },
		`SELECT partner_id, id, key_index FROM epp_key WHERE valid_until <= $1 ORDER BY valid_until LIMIT $2`, before, limit)
	if err != nil {
		return 0, err
	}
	var list []sqldb.Statement
	for _, k := range keys {
		list = append(list,
			sqldb.Statement{Query: `UPDATE epp_pool SET taken_by = $3 WHERE key_index = $1 AND taken_by = $2`, Args: []any{k.index, k.id, takenByErased}},
			sqldb.Statement{Query: `DELETE FROM epp_key WHERE partner_id = $1 AND id = $2`, Args: []any{k.partner, k.id}})
	}
	return int64(len(keys)), tx.RunStatements(ctx, list)
}
