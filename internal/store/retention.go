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

// Sweep removes what is past its time and returns how many rows went, by what they were. Many processes may sweep at
// once.
func (s Upkeep) Sweep(ctx context.Context, r Retention) (map[string]int64, error) {
	removed := map[string]int64{}
	for _, class := range []struct {
		name string
		keep time.Duration
		step func(tx *sqldb.Tx, limit int64) (int64, error)
	}{
		{"attempts", r.Attempts, func(tx *sqldb.Tx, limit int64) (int64, error) { return sweepAttempts(ctx, tx, limit) }},
		{"subscriptions", r.Subscriptions, func(tx *sqldb.Tx, limit int64) (int64, error) { return sweepSubscriptions(ctx, tx, limit) }},
		{"cases", r.Cases, func(tx *sqldb.Tx, limit int64) (int64, error) { return sweepCases(ctx, tx, limit) }},
		{"devices", r.Devices, func(tx *sqldb.Tx, limit int64) (int64, error) { return sweepDevices(ctx, tx, limit) }},
		{"scores", r.Scores, func(tx *sqldb.Tx, limit int64) (int64, error) {
			return affected(tx.ExecContext(ctx, `DELETE FROM score_day WHERE day < $1`, limit/dayMicros))
		}},
		{"jobs", r.Jobs, func(tx *sqldb.Tx, limit int64) (int64, error) {
			return affected(tx.ExecContext(ctx, `DELETE FROM job WHERE finished_at > 0 AND finished_at <= $1
				AND id IN (SELECT id FROM job WHERE finished_at > 0 AND finished_at <= $1 LIMIT $2)`, limit, int64(sweepBatch)))
		}},
	} {
		if class.keep <= 0 {
			continue
		}
		limit := micros(s.now().Add(-class.keep))
		n, err := s.alerts().inBatches(ctx, func(tx *sqldb.Tx) (int64, error) { return class.step(tx, limit) })
		if err != nil {
			return removed, fmt.Errorf("sweep %s: %w", class.name, err)
		}
		removed[class.name] = n
	}
	if err := s.sweepGaps(ctx); err != nil {
		return removed, err
	}
	if err := s.sweepNames(ctx); err != nil {
		return removed, err
	}
	if r.Audit <= 0 {
		return removed, nil
	}
	n, err := s.audit().SweepAudit(ctx, r.Audit)
	removed["audit lines"] = n
	return removed, err
}

// sweepAttempts goes by the events' age, whose index is there; tries of pending deliveries stay.
func sweepAttempts(ctx context.Context, tx *sqldb.Tx, limit int64) (int64, error) {
	const finished = ` FROM event e JOIN endpoint n ON n.partner_id = e.partner_id
		JOIN delivery d ON d.partner_id = e.partner_id AND d.endpoint_id = n.id AND d.seq = e.seq AND d.state IN ('delivered', 'failed')`
	apart, err := affected(tx.ExecContext(ctx, `DELETE FROM attempt WHERE at <= $1 AND (partner_id, endpoint_id, seq, at, worker) IN (
		SELECT a.partner_id, a.endpoint_id, a.seq, a.at, a.worker`+finished+`
		JOIN attempt a ON a.partner_id = d.partner_id AND a.endpoint_id = d.endpoint_id AND a.seq = d.seq AND a.at <= $1
		WHERE e.created_at <= $1 LIMIT $2)`, limit, int64(sweepBatch)))
	if err != nil {
		return 0, err
	}
	folded, err := affected(tx.ExecContext(ctx, `UPDATE delivery SET tried = NULL WHERE (partner_id, endpoint_id, seq) IN (
		SELECT d.partner_id, d.endpoint_id, d.seq`+finished+` AND d.tried IS NOT NULL AND d.finished_at <= $1
		WHERE e.created_at <= $1 LIMIT $2)`, limit, int64(sweepBatch)))
	return apart + folded, err
}

// personsRest are the tables that keep a person's row alive.
var personsRest = []string{"asset", "epp_key", "support_case", "content_answer", "score_day"}

// hasNothing is the condition, to be joined by AND, that nothing of a person is kept under some indexes.
func hasNothing(partner, indexes string) string {
	alone := ""
	for _, table := range personsRest {
		alone += ` AND NOT EXISTS (SELECT 1 FROM ` + table + ` t WHERE t.partner_id = ` + partner + ` AND t.user_index IN (` + indexes + `))`
	}
	return alone
}

// BUG(store): sweepNames reads all of person_name once an hour, since nothing says which names have lost their last row.
// The time it takes grows with the number of people, and it finds nothing in most hours.

// sweepNames forgets how people were named of whom nothing else is kept. They are looked for outside of a transaction,
// so that nobody waits for it, and a name of today is left alone: its first row may be on its way.
func (s Upkeep) sweepNames(ctx context.Context) error {
	alone := `named_at <= $1 AND NOT EXISTS (SELECT 1 FROM person p WHERE p.partner_id = person_name.partner_id AND p.user_512 = person_name.user_index)
		AND NOT EXISTS (SELECT 1 FROM person p WHERE p.partner_id = person_name.partner_id AND p.user_256 = person_name.user_index)` +
		hasNothing(`person_name.partner_id`, `person_name.user_index`)
	limit := micros(s.now().Add(-24 * time.Hour))
	for {
		type name struct {
			partner int64
			index   []byte
		}
		old, err := collect(ctx, s.reader(), func(row scanner) (n name, err error) {
			err = row.Scan(&n.partner, &n.index)
			return n, err
		}, `SELECT partner_id, user_index FROM person_name WHERE `+alone+` LIMIT $2`, limit, int64(sweepBatch))
		if err == nil {
			err = s.inTx(ctx, func(tx *sqldb.Tx) error {
				for _, n := range old {
					if _, err := tx.ExecContext(ctx, `DELETE FROM person_name WHERE `+alone+` AND partner_id = $2 AND user_index = $3`, limit, n.partner, n.index); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err != nil {
			return fmt.Errorf("sweep names: %w", err)
		}
		if len(old) < sweepBatch {
			return nil
		}
	}
}

// sweepSubscriptions removes ended subscriptions, and people who have nothing else.
func sweepSubscriptions(ctx context.Context, tx *sqldb.Tx, limit int64) (int64, error) {
	type ended struct {
		partner partner.ID
		seq     int64
		cpf     []byte
	}
	old, err := collect(ctx, tx, func(row scanner) (e ended, err error) {
		err = row.Scan(numbered(&e.partner), &e.seq, &e.cpf)
		return e, err
	}, `SELECT partner_id, seq, cpf FROM subscription WHERE ended_at <> 0 AND ended_at <= $1 ORDER BY ended_at LIMIT $2`, limit, int64(sweepBatch))
	if err != nil {
		return 0, err
	}
	alone := hasNothing(`person.partner_id`, `person.user_256, person.user_512`)
	for _, e := range old { // an end is final: none of them can have come back since it was read
		if _, err := tx.ExecContext(ctx, `DELETE FROM subscription WHERE partner_id = $1 AND seq = $2`, number(e.partner), e.seq); err != nil {
			return 0, err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM person WHERE partner_id = $1 AND cpf = $2 AND NOT EXISTS (
			SELECT 1 FROM subscription b WHERE b.partner_id = $1 AND b.cpf = $2)`+alone, number(e.partner), e.cpf)
		if err != nil {
			return 0, err
		}
	}
	return int64(len(old)), nil
}

var closedStatuses = []cyber.CaseStatus{cyber.CaseResolved, cyber.CaseClosed, cyber.CaseCancelled}

// sweepCases removes closed cases with their moves and bookings.
func sweepCases(ctx context.Context, tx *sqldb.Tx, limit int64) (int64, error) {
	var args []any
	closed := list(&args, closedStatuses)
	args = append(args, limit, int64(sweepBatch))
	type old struct {
		partner int64
		id      string
	}
	cases, err := collect(ctx, tx, func(row scanner) (c old, err error) { return c, row.Scan(&c.partner, &c.id) },
		fmt.Sprintf(`SELECT partner_id, id FROM support_case WHERE status IN (%s) AND changed_at <= $%d ORDER BY changed_at LIMIT $%d`, closed, len(args)-1, len(args)), args...)
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
func sweepDevices(ctx context.Context, tx *sqldb.Tx, limit int64) (int64, error) {
	const old = `SELECT id FROM epp_key WHERE valid_until <= $1 ORDER BY valid_until LIMIT $2`
	if _, err := tx.ExecContext(ctx, `UPDATE epp_pool SET taken_by = $3 WHERE taken_by IN (`+old+`)`, limit, int64(sweepBatch), takenByErased); err != nil {
		return 0, err
	}
	return affected(tx.ExecContext(ctx, `DELETE FROM epp_key WHERE id IN (`+old+`)`, limit, int64(sweepBatch)))
}

// sweepGaps removes tries of erased deliveries that were on their way at the time, and forgets gaps before the oldest
// event.
func (s Upkeep) sweepGaps(ctx context.Context) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM attempt WHERE (partner_id, endpoint_id, seq) IN (
			SELECT n.partner_id, n.id, g.seq FROM event_gap g JOIN endpoint n ON n.partner_id = g.partner_id)`)
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM event_gap WHERE seq < (SELECT min(e.seq) FROM event e WHERE e.partner_id = event_gap.partner_id)`)
		}
		if err != nil {
			return fmt.Errorf("sweep gaps: %w", err)
		}
		return nil
	})
}
