package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// nothingDue stands where a time to be ready by would: after every other.
const nothingDue = math.MaxInt64

// openStatuses are the statuses of cases that still need work.
const openStatuses = `'` + string(cyber.CaseOpen) + `', '` + string(cyber.CaseInProgress) + `', '` + string(cyber.CaseWaiting) + `'`

// dueTimeMicros returns when a case is due, as its column keeps it.
func dueTimeMicros(c cyber.Case) int64 {
	if due, ok := c.Clock.Due(); ok {
		return toMicros(due)
	}
	return nothingDue
}

// ListLane returns a page of the cases in one status: see cyber.CaseStore. The operator's question: it may name no partner.
func (s Cases) ListLane(ctx context.Context, f cyber.LaneFilter) (cyber.Lane, error) {
	lane := cyber.Lane{Status: f.Status}
	c, err := s.casesThatFit(ctx, f)
	if err != nil {
		return lane, err
	}
	counted := c
	counted.args = slices.Clone(c.args)
	err = s.readQuerier().QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 AS one FROM support_case c WHERE true`+counted.text+counted.addLimit(cyber.MaxLaneTotal)+`) AS lane`,
		counted.args...).Scan(&lane.Total)
	if err != nil {
		return lane, classifyError(fmt.Errorf("count lane: %w", err))
	}
	column, turned, at := `c.due_at`, !f.Status.Open(), int64(nothingDue)
	if f.Order != cyber.LaneUrgent {
		column, turned = `c.created_at`, f.Order == cyber.LaneNewest
	}
	order, past := ` ORDER BY `+column+`, c.id`, `>`
	if turned {
		order, past = ` ORDER BY `+column+` DESC, c.id DESC`, `<`
	}
	if !f.After.Due.IsZero() {
		at = toMicros(f.After.Due)
	}
	if f.After.ID != "" {
		c.addPast(column+`, c.id`, past, at, string(f.After.ID))
	}
	lane.Cases, err = collectRows(ctx, s.readQuerier(), s.scanCase, `SELECT `+caseColumns+` FROM support_case c WHERE true`+c.text+order+c.addLimit(f.Limit), c.args...)
	return lane, wrapError("read lane", err)
}

// casesThatFit returns the conditions of a filter; lists and counts both use them, so that they agree.
func (s Cases) casesThatFit(ctx context.Context, f cyber.LaneFilter) (c conditions, err error) {
	if f.Status != "" {
		c.addCondition(`c.status = `, string(f.Status))
	} else {
		c.text += ` AND c.status IN (` + openStatuses + `)`
	}
	if f.Partner != "" {
		c.addCondition(`c.partner_id = `, partnerNumber(f.Partner))
	}
	if f.User != "" {
		u, err := s.findUser(ctx, s.readQuerier(), f.Partner, f.User)
		if err != nil {
			return c, err
		}
		c.addEither(`c.user_index`, u.write, u.other)
	}
	if f.Service != "" {
		c.addCondition(`c.service_id = `, string(f.Service))
	}
	if f.Assignee != "" {
		c.addCondition(`c.assignee = `, f.Assignee)
	}
	if f.Unassigned {
		c.addCondition(`c.assignee = `, "")
	}
	c.addPeriod(`c.created_at`, f.From, f.To)
	c.addPeriod(`c.due_at`, f.DueFrom, f.DueTo)
	return c, nil
}

// WaitingCases counts what waits at the desk: see cyber.CaseStore. The rows that a number counts are those that Lane returns with
// the same filter.
func (s Cases) WaitingCases(ctx context.Context, f cyber.LaneFilter, assignee string, now, dayEnd time.Time) (cyber.WaitingCases, error) {
	var n cyber.WaitingCases
	c, err := s.casesThatFit(ctx, f)
	if err != nil {
		return n, err
	}
	mark := func(arg any) string {
		c.args = append(c.args, arg)
		return `$` + strconv.Itoa(len(c.args))
	}
	present, end, me := mark(toMicros(now)), mark(toMicros(dayEnd)), mark(assignee)
	// Each from a range of an index: most cases are neither late nor mine.
	open := `(SELECT count(*) FROM support_case c WHERE true` + c.text
	err = s.readQuerier().QueryRowContext(ctx, `SELECT `+open+` AND due_at < `+present+`), `+open+` AND due_at >= `+present+` AND due_at < `+end+`), `+open+` AND assignee = ''), `+
		open+` AND assignee = `+me+`), `+open+`)`, c.args...).Scan(&n.Late, &n.Today, &n.Free, &n.Mine, &n.Open)
	return n, classifyError(wrapError("count cases", err))
}

// EndingCases returns cases whose final move is due: see cyber.CaseStore.
func (s Cases) EndingCases(ctx context.Context, now time.Time, limit int) ([]cyber.CaseID, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner) (id cyber.CaseID, err error) { return id, row.Scan(&id) },
		`SELECT id FROM support_case WHERE ending_at > 0 AND ending_at <= $1 ORDER BY ending_at LIMIT $2`, toMicros(now), int64(limit))
}

// SetWriter notes who is writing: see cyber.CaseStore.
func (s Cases) SetWriter(ctx context.Context, key cyber.CaseKey, writer string, now time.Time) error {
	owner, err := s.caseOwner(ctx, key.ID)
	if err == nil && key.Partner != "" && owner != key.Partner {
		err = cyber.ErrCaseNotFound.With("case", fault.NoSuchID)
	}
	if err != nil {
		return err
	}
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE support_case SET writer = $3, writing_at = $4 WHERE partner_id = $1 AND id = $2`, partnerNumber(owner), string(key.ID), writer, toMicros(now))
		return err
	})
}
