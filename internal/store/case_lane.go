package store

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// nothingDue stands where a time to be ready by would: after every other.
const nothingDue = math.MaxInt64

// openStatuses are the statuses of cases that still need work.
const openStatuses = `'` + string(cyber.CaseOpen) + `', '` +
	string(cyber.CaseInProgress) + `', '` +
	string(cyber.CaseWaiting) + `'`

// closedStatuses are the others.
const closedStatuses = `'` + string(cyber.CaseResolved) + `', '` +
	string(cyber.CaseClosed) + `', '` +
	string(cyber.CaseCancelled) + `'`

// dueTimeMicros returns when a case is due, as its column keeps it.
func dueTimeMicros(c cyber.Case) int64 {
	if due, ok := c.Clock.Due(); ok {
		return toMicros(due)
	}
	return nothingDue
}

// ListLane returns a page of the cases in one status: see cyber.CaseStore. The operator's question: it may name no
// partner.
func (s Cases) ListLane(ctx context.Context, f cyber.LaneFilter) (cyber.Lane, error) {
	lane := cyber.Lane{Status: f.Status}
	c, err := s.casesThatFit(ctx, f)
	if err != nil {
		return lane, err
	}
	counted := c
	counted.args = slices.Clone(c.args)
	err = readColumns(ctx, s.readQuerier(), []any{&lane.Total},
		`SELECT count(*) FROM (SELECT 1 AS one FROM support_case c WHERE true`+
			counted.text+counted.addLimit(cyber.MaxLaneTotal)+`) AS lane`,
		counted.args...)
	if err != nil {
		return lane, err
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
		c.addPastCondition(column+`, c.id`, past, at, f.After.ID)
	}
	lane.Cases, err = collectRows(
		ctx,
		s.readQuerier(),
		s.scanCase,
		`SELECT `+caseColumns+` FROM support_case c WHERE true`+c.text+order+c.addLimit(f.Limit),
		c.args...,
	)
	return lane, err
}

// casesThatFit returns the conditions of a filter; lists and counts both use them, so that they agree.
func (s Cases) casesThatFit(ctx context.Context, f cyber.LaneFilter) (c conditions, err error) {
	if f.Status != "" {
		c.addCondition(`c.status = `, f.Status)
	} else {
		c.text += ` AND c.status IN (` + openStatuses + `)`
	}
	addFilter(&c, `c.partner_id = `, f.Partner)
	c.addLiveOnly(`c.partner_id`, f.LiveOnly)
	err = s.addPerson(ctx, &c, `c.user_index`, f.Partner, f.User)
	addFilter(&c, `c.service_id = `, f.Service)
	addFilter(&c, `c.assignee = `, f.Assignee)
	if f.Unassigned {
		c.addCondition(`c.assignee = `, "")
	}
	c.addPeriod(`c.created_at`, f.From, f.To)
	c.addPeriod(`c.due_at`, f.DueFrom, f.DueTo)
	return c, err
}

// ListCases returns the newest cases that fit. The operator's question: it may name no partner.
func (s Cases) ListCases(ctx context.Context, f cyber.CaseFilter) ([]cyber.Case, error) {
	return collectRows(ctx, s.readQuerier(), s.scanCase, `SELECT `+caseColumns+` FROM support_case c
		WHERE ($1 = 0 OR c.partner_id = $1) AND ($2 = '' OR c.service_id = $2) AND ($3 = '' OR c.status = $3)
			AND ($4 = '' OR c.assignee = $4) AND (NOT $5 OR c.status IN (`+openStatuses+`))
		ORDER BY c.created_at DESC, c.id DESC LIMIT $6`,
		f.Partner,
		f.Service,
		f.Status,
		f.Assignee,
		f.OpenOnly,
		f.Limit,
	)
}

// WaitingCases counts what waits at the desk: see cyber.CaseStore. The rows that a number counts are those that Lane
// returns with the same filter.
func (s Cases) WaitingCases(
	ctx context.Context, f cyber.LaneFilter, assignee string, now, dayEnd time.Time,
) (cyber.WaitingCases, error) {
	var n cyber.WaitingCases
	c, err := s.casesThatFit(ctx, f)
	if err != nil {
		return n, err
	}
	mark := func(arg any) string {
		c.args = append(c.args, arg)
		return `$` + strconv.Itoa(len(c.args))
	}
	present, end, me := mark(now), mark(dayEnd), mark(assignee)
	// Each from a range of an index: most cases are neither late nor mine.
	open := `(SELECT count(*) FROM support_case c WHERE true` + c.text
	err = readColumns(
		ctx,
		s.readQuerier(),
		[]any{&n.Late, &n.Today, &n.Free, &n.Mine, &n.Open},
		`SELECT `+open+` AND due_at < `+present+`), `+
			open+` AND due_at >= `+present+` AND due_at < `+end+`), `+open+` AND assignee = ''),
				`+open+` AND assignee = `+me+`), `+open+`)`,
		c.args...,
	)
	return n, err
}
