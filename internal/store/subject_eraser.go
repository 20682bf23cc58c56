package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subject"
)

// takenByErased is what a vendor's key says of the key that took it when that one was erased: it stays taken.
const takenByErased = "erased"

// eraseStep takes up to limit rows of one kind away, with what hangs on them, and tells how many it took; none ends it.
type eraseStep struct {
	// atOnce is how many may go in one transaction.
	atOnce int64
	take   func(e *eraser, ctx context.Context, limit int64) (int64, error)
}

// eraseSteps are in the order in which everybody takes locks: subscriptions, then what a person has, then events.
var eraseSteps = []eraseStep{
	{100, (*eraser).subscriptions}, {100, (*eraser).deleteValues}, {100, (*eraser).deleteCases}, {50, (*eraser).deleteDevices}, {200, (*eraser).deleteAnswers},
	{200, (*eraser).deleteScores}, {50, (*eraser).deleteEvents},
}

// hasFewRows reports whether a person can be erased in one transaction without keeping others waiting.
func (s Subjects) hasFewRows(ctx context.Context, x indexes) (bool, error) {
	user := x.userArguments()
	for _, of := range []struct {
		rows string
		most int64
		args []any
	}{
		{`SELECT 1 FROM event WHERE partner_id = $1 AND person IN ($2, $3)`, 50, user},
		{`SELECT 1 FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3)`, 50, user},
		{`SELECT 1 FROM score_day WHERE partner_id = $1 AND user_index IN ($2, $3)`, 200, user},
		{`SELECT 1 FROM case_move WHERE partner_id = $1 AND case_id IN (SELECT id FROM support_case WHERE partner_id = $1 AND user_index IN ($2, $3))`, 100, user},
		{`SELECT 1 FROM finding WHERE partner_id = $1 AND asset_id IN ` + assetIDsOfPerson, 100, x.assetArguments()},
		{`SELECT 1 FROM asset_history WHERE partner_id = $1 AND asset_id IN ` + assetIDsOfPerson, 100, x.assetArguments()},
		{`SELECT 1 FROM subscription WHERE partner_id = $1 AND cpf = $2 AND ended_at <> 0`, 50, []any{partnerNumber(x.partner), x.cpf}},
	} {
		var more bool
		args := append(slices.Clone(of.args), of.most)
		query := `SELECT EXISTS (` + of.rows + ` LIMIT 1 OFFSET $` + strconv.Itoa(len(args)) + `)`
		if err := s.readQuerier().QueryRowContext(ctx, query, args...).Scan(&more); err != nil || more {
			return false, classifyError(err)
		}
	}
	return true, nil
}

// tallies are rows that went, by what they were.
type tallies map[string]int64

// addToCounts adds the tallies to counts.
func (t tallies) addToCounts(counts map[string]int64) {
	for what, n := range t {
		counts[what] += n
	}
}

// eraseAhead deletes a person's rows up to a time, in transactions of a few rows. If it is interrupted, the process
// that resumes the erasure deletes the rest.
func (s Subjects) eraseAhead(ctx context.Context, x indexes, upTo int64) (tallies, error) {
	ahead := tallies{}
	for _, step := range eraseSteps {
		_, err := s.runBatches(ctx, step.atOnce, func(tx *sqldb.Tx, _, limit int64) (int64, error) {
			e := s.newEraser(tx, x, upTo)
			n, err := step.take(&e, ctx, limit)
			if err == nil {
				err = e.in.alertsArea().addPartnerEvents(ctx, tx, x.partner, e.told...)
			}
			tx.AfterCommit(func() { tallies(e.erased.Counts).addToCounts(ahead) })
			return n, err
		})
		if err != nil {
			return ahead, classifyError(fmt.Errorf("erase: %w", err))
		}
	}
	return ahead, nil
}

// eraseRowsOf deletes what is about a person and not newer than upTo, in the transaction of the caller.
func (s Subjects) eraseRowsOf(ctx context.Context, tx *sqldb.Tx, x indexes, upTo int64) (subject.Erased, error) {
	e := s.newEraser(tx, x, upTo)
	for _, step := range eraseSteps {
		for more := true; more; {
			n, err := step.take(&e, ctx, step.atOnce)
			if err != nil {
				return e.erased, fmt.Errorf("erase: %w", err)
			}
			more = n > 0
		}
	}
	err := e.in.alertsArea().addPartnerEvents(ctx, tx, x.partner, e.told...)
	if err == nil {
		err = e.deletePersonRows(ctx)
	}
	if err != nil {
		return e.erased, fmt.Errorf("erase: %w", err)
	}
	return e.erased, nil
}

// eraser is one transaction of an erasure.
type eraser struct {
	in     Subjects
	tx     *sqldb.Tx
	x      indexes
	upTo   int64
	erased subject.Erased
	// told are the events that the erasure itself causes; they name no person.
	told []alert.Event
}

// newEraser returns what deletes a person's rows in a transaction.
func (s Subjects) newEraser(tx *sqldb.Tx, x indexes, upTo int64) eraser {
	return eraser{in: s.insideTx(tx), tx: tx, x: x, upTo: upTo, erased: subject.Erased{Partner: x.partner, Counts: map[string]int64{}}}
}

// deleteRows runs a statement, counts what it took away and tells how much that was.
func (e *eraser) deleteRows(ctx context.Context, what, statement string, args ...any) (int64, error) {
	n, err := rowsAffected(e.tx.ExecContext(ctx, statement, args...))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	if n > 0 {
		e.erased.Counts[what] += n
	}
	return n, nil
}

// userArguments returns the arguments of statements that begin with partner_id = $1 AND user_index IN ($2, $3),
// followed by the time and others.
func (e *eraser) userArguments(more ...any) []any {
	return append(append(e.x.userArguments(), e.upTo), more...)
}

// readIDs reads names of rows.
func (e *eraser) readIDs(ctx context.Context, query string, args ...any) ([]string, error) {
	return collectRows(ctx, e.tx, func(row scanner) (id string, err error) { return id, row.Scan(&id) }, query, args...)
}

// namedArguments returns the arguments for rows of the partner that names lead to, and the marks of the names.
func (e *eraser) namedArguments(names []string) (args []any, marks string) {
	args = []any{partnerNumber(e.x.partner)}
	marks = appendListMarks(&args, names)
	return args, marks
}

// subscriptions deletes up to limit subscriptions of the CPF and takes the live ones off the partner's counts. The
// partner's counter is locked first, as every change of subscriptions does.
func (e *eraser) subscriptions(ctx context.Context, limit int64) (int64, error) {
	if len(e.x.cpf) == 0 {
		return 0, nil
	}
	if _, err := lockSubscriptions(ctx, e.tx, e.x.partner); err != nil {
		return 0, err
	}
	for _, half := range []string{`ended_at = 0`, `ended_at <> 0`} { // see unsubscribed
		seats, err := collectRows(ctx, e.tx, scanSeatRow, `SELECT seq, expiry_day FROM subscription WHERE partner_id = $1 AND cpf = $2 AND created_at <= $3 AND `+half+`
			LIMIT $4`, partnerNumber(e.x.partner), e.x.cpf, e.upTo, limit)
		if err != nil || len(seats) == 0 {
			if err != nil {
				return 0, err
			}
			continue
		}
		args := []any{partnerNumber(e.x.partner)}
		seqs := make([]int64, len(seats))
		for i, seat := range seats {
			seqs[i] = seat.seq
		}
		n, err := e.deleteRows(ctx, "subscriptions", `DELETE FROM subscription WHERE partner_id = $1 AND seq IN (`+appendSeqMarks(&args, seqs)+`)`, args...)
		if err == nil && half == `ended_at = 0` {
			err = e.in.subscriptions().removeActive(ctx, e.tx, e.x.partner, seats)
		}
		return n, err
	}
	return 0, nil
}

// valuesAtOnce is how many watched values, or cases, are looked at for what hangs on them.
const valuesAtOnce = 20

// deleteValues deletes watched values: first what hangs on some of them, then these.
func (e *eraser) deleteValues(ctx context.Context, limit int64) (int64, error) {
	values, err := e.readIDs(ctx, `SELECT id FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3) AND created_at <= $4 LIMIT $5`, e.userArguments(int64(valuesAtOnce))...)
	if err == nil && len(values) == 0 { // the person's CPF, where others watch it
		args := e.x.assetArguments()
		values, err = e.readIDs(ctx, `SELECT id FROM asset WHERE partner_id = $1 AND kind = $2 AND value_index = $3 AND created_at <= $4 LIMIT $5`,
			args[0], args[3], args[4], e.upTo, int64(valuesAtOnce))
	}
	if err != nil || len(values) == 0 {
		return 0, err
	}
	args, marks := e.namedArguments(values)
	findings, err := e.readIDs(ctx, `SELECT id FROM finding WHERE partner_id = $1 AND asset_id IN (`+marks+`)`+appendLimit(&args, limit), args...)
	if err != nil {
		return 0, err
	}
	if len(findings) > 0 {
		args, marks := e.namedArguments(findings)
		if _, err := e.deleteRows(ctx, "steps", `DELETE FROM finding_step WHERE partner_id = $1 AND finding_id IN (`+marks+`)`, args...); err != nil {
			return 0, err
		}
		return e.deleteRows(ctx, "findings", `DELETE FROM finding WHERE partner_id = $1 AND id IN (`+marks+`)`, args...)
	}
	args, marks = e.namedArguments(values)
	n, err := e.deleteRows(ctx, "status changes", `DELETE FROM asset_history WHERE partner_id = $1 AND (asset_id, seq) IN (
		SELECT asset_id, seq FROM asset_history WHERE partner_id = $1 AND asset_id IN (`+marks+`)`+appendLimit(&args, limit)+`)`, args...)
	if err != nil || n > 0 {
		return n, err
	}
	args, marks = e.namedArguments(values)
	if _, err := e.deleteRows(ctx, "hits", `DELETE FROM match_hit WHERE partner_id = $1 AND asset_id IN (`+marks+`)`, args...); err != nil {
		return 0, err
	}
	return e.deleteRows(ctx, "watched values", `DELETE FROM asset WHERE partner_id = $1 AND id IN (`+marks+`)`, args...)
}

// appendLimit appends how many rows are wanted at most.
func appendLimit(args *[]any, limit int64) string {
	*args = append(*args, limit)
	return ` LIMIT $` + strconv.Itoa(len(*args))
}

// deleteCases deletes cases: first the moves of some of them, then these.
func (e *eraser) deleteCases(ctx context.Context, limit int64) (int64, error) {
	cases, err := e.readIDs(ctx, `SELECT id FROM support_case WHERE partner_id = $1 AND user_index IN ($2, $3) AND created_at <= $4 LIMIT $5`, e.userArguments(int64(valuesAtOnce))...)
	if err != nil || len(cases) == 0 {
		return 0, err
	}
	args, marks := e.namedArguments(cases)
	n, err := e.deleteRows(ctx, "case moves", `DELETE FROM case_move WHERE partner_id = $1 AND (case_id, number) IN (
		SELECT case_id, number FROM case_move WHERE partner_id = $1 AND case_id IN (`+marks+`)`+appendLimit(&args, limit)+`)`, args...)
	if err != nil || n > 0 {
		return n, err
	}
	for _, id := range cases { // one after the other, since bookings may be on another machine than cases
		if _, err := e.deleteRows(ctx, "bookings", `DELETE FROM case_booking WHERE partner_id = $1 AND case_id = $2`, partnerNumber(e.x.partner), id); err != nil {
			return 0, err
		}
	}
	args, marks = e.namedArguments(cases)
	return e.deleteRows(ctx, "cases", `DELETE FROM support_case WHERE partner_id = $1 AND id IN (`+marks+`)`, args...)
}

// deleteDevices deletes keys. Keys that were live end with it, and the partner that installed them is told, by the
// key's ID alone.
func (e *eraser) deleteDevices(ctx context.Context, limit int64) (int64, error) {
	keys, err := e.readIDs(ctx, `SELECT id FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3) AND issued_at <= $4 LIMIT $5`, e.userArguments(limit)...)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	now := e.in.now()
	if err := e.addEndEvents(ctx, keys, now); err != nil {
		return 0, err
	}
	args, marks := e.namedArguments(keys)
	args = append(args, takenByErased)
	if err := execStatement(ctx, e.tx, "vendor keys", `UPDATE epp_pool SET taken_by = $`+strconv.Itoa(len(args))+` WHERE key_index IN (
		SELECT key_index FROM epp_key WHERE partner_id = $1 AND id IN (`+marks+`)) AND taken_by <> ''`, args...); err != nil {
		return 0, err
	}
	args, marks = e.namedArguments(keys)
	return e.deleteRows(ctx, "devices", `DELETE FROM epp_key WHERE partner_id = $1 AND id IN (`+marks+`)`, args...)
}

// addEndEvents makes the events of keys that were live.
func (e *eraser) addEndEvents(ctx context.Context, keys []string, now time.Time) error {
	args, marks := e.namedArguments(keys)
	args = append(args, toMicros(now))
	live, err := collectRows(ctx, e.tx, e.in.devicesArea().scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND id IN (`+marks+`)
		AND ended_at = 0 AND valid_until > $`+strconv.Itoa(len(args)), args...)
	if err != nil {
		return err
	}
	for _, d := range live {
		d.EndedAt, d.EndReason = now, cyber.EndErased
		told, err := alert.NewKeyEndEvent(d, now, "")
		if err != nil {
			return err
		}
		e.told = append(e.told, told)
	}
	return nil
}

// deleteAnswers deletes answers to questions of the content.
func (e *eraser) deleteAnswers(ctx context.Context, limit int64) (int64, error) {
	return e.deleteRows(ctx, "answers", `DELETE FROM content_answer WHERE partner_id = $1 AND (user_index, content_id) IN (SELECT user_index, content_id
		FROM content_answer WHERE partner_id = $1 AND user_index IN ($2, $3) AND answered_at <= $4 LIMIT $5)`, e.userArguments(limit)...)
}

// deleteScores deletes days. A score counts for its whole day: one of the day of the erasure goes too.
func (e *eraser) deleteScores(ctx context.Context, limit int64) (int64, error) {
	return e.deleteRows(ctx, "scores", `DELETE FROM score_day WHERE partner_id = $1 AND (user_index, day) IN (SELECT user_index, day
		FROM score_day WHERE partner_id = $1 AND user_index IN ($2, $3) AND day <= $4 LIMIT $5)`, append(e.x.userArguments(), e.upTo/dayMicros, limit)...)
}

// deleteEvents deletes what the partner was told, on its way or kept, and remembers the numbers: they are not losses.
func (e *eraser) deleteEvents(ctx context.Context, limit int64) (int64, error) {
	if err := e.in.alertsArea().lockEvents(ctx, e.tx, e.x.partner); err != nil {
		return 0, err
	}
	seqs, err := collectRows(ctx, e.tx, scanInteger, `SELECT seq FROM event WHERE partner_id = $1 AND person IN ($2, $3) AND created_at <= $4 LIMIT $5`, e.userArguments(limit)...)
	if err != nil || len(seqs) == 0 {
		return 0, err
	}
	endpoints, err := deliveredTo(ctx, e.tx, e.x.partner)
	if err != nil {
		return 0, err
	}
	return int64(len(seqs)), e.eraseEvents(ctx, seqs, endpoints)
}

// eraseEvents deletes events by their numbers.
func (e *eraser) eraseEvents(ctx context.Context, seqs []int64, endpoints []alert.EndpointID) error {
	for _, endpoint := range endpoints {
		args := []any{partnerNumber(e.x.partner), string(endpoint)}
		marks := appendSeqMarks(&args, seqs)
		for _, of := range []struct{ what, statement string }{
			{"attempts", `DELETE FROM attempt WHERE partner_id = $1 AND endpoint_id = $2 AND seq IN (` + marks + `)`},
			{"attempts", `UPDATE delivery SET tried = NULL WHERE partner_id = $1 AND endpoint_id = $2 AND seq IN (` + marks + `) AND tried IS NOT NULL`},
			{"deliveries", `DELETE FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND seq IN (` + marks + `)`},
		} {
			if _, err := e.deleteRows(ctx, of.what, of.statement, args...); err != nil {
				return err
			}
		}
	}
	args := []any{partnerNumber(e.x.partner)}
	marks := appendSeqMarks(&args, seqs)
	if _, err := e.tx.ExecContext(ctx, `INSERT INTO event_gap (partner_id, seq) SELECT partner_id, seq FROM event
		WHERE partner_id = $1 AND seq IN (`+marks+`) ON CONFLICT (partner_id, seq) DO NOTHING`, args...); err != nil {
		return err
	}
	_, err := e.deleteRows(ctx, "events", `DELETE FROM event WHERE partner_id = $1 AND seq IN (`+marks+`)`, args...)
	return err
}

// appendSeqMarks appends numbers to args and returns their marks for an IN list.
func appendSeqMarks(args *[]any, seqs []int64) string {
	marks := make([]byte, 0, 6*len(seqs))
	for i, n := range seqs {
		if i > 0 {
			marks = append(marks, ", "...)
		}
		*args = append(*args, n)
		marks = strconv.AppendInt(append(marks, '$'), int64(len(*args)), 10)
	}
	return string(marks)
}

// deletePersonRows deletes what is one row of a person's: holder of keys, how the partner spelt the hash, and the row that joins
// the forms of it unless a newer enrolment uses that.
func (e *eraser) deletePersonRows(ctx context.Context) error {
	_, err := e.tx.ExecContext(ctx, `DELETE FROM epp_holder WHERE partner_id = $1 AND user_index IN ($2, $3) AND NOT EXISTS (
		SELECT 1 FROM epp_key k WHERE k.partner_id = $1 AND k.user_index IN ($2, $3))`, e.x.userArguments()...)
	if err != nil {
		return err
	}
	if _, err := e.deleteRows(ctx, "names", `DELETE FROM person_name WHERE partner_id = $1 AND user_index IN ($2, $3) AND named_at <= $4`, e.userArguments()...); err != nil {
		return err
	}
	if len(e.x.cpf) == 0 {
		return nil
	}
	_, err = e.deleteRows(ctx, "person", `DELETE FROM person WHERE partner_id = $1 AND cpf = $2 AND created_at <= $3`+unsubscribed, partnerNumber(e.x.partner), e.x.cpf, e.upTo)
	return err
}
