package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// nothingDue stands where a time to be ready by would: after every other.
const nothingDue = math.MaxInt64

// openStatuses are those of cases that somebody still has to do something about.
const openStatuses = `'` + string(cyber.CaseOpen) + `', '` + string(cyber.CaseInProgress) + `', '` + string(cyber.CaseWaiting) + `'`

func dueMicros(c cyber.Case) int64 {
	if due, ok := c.Clock.Due(); ok {
		return micros(due)
	}
	return nothingDue
}

// Lane returns a page of the cases in one status: see cyber.CaseStore. The operator's question: it may name no partner.
func (s Cases) Lane(ctx context.Context, f cyber.LaneFilter) (cyber.Lane, error) {
	lane := cyber.Lane{Status: f.Status}
	const fits = `c.status = $1 AND ($2 = 0 OR c.partner_id = $2) AND ($3 = '' OR c.service_id = $3)
		AND ($4 = '' OR c.assignee = $4) AND (NOT $5 OR c.assignee = '')`
	args := []any{string(f.Status), number(f.Partner), string(f.Service), f.Assignee, f.Unassigned}
	err := s.reader().QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 AS one FROM support_case c WHERE `+fits+` LIMIT $6) AS lane`,
		append(args, int64(cyber.MaxLaneTotal))...).Scan(&lane.Total)
	if err != nil {
		return lane, classify(fmt.Errorf("count lane: %w", err))
	}
	order, past := ` ORDER BY c.due_at, c.id`, `>`
	if !f.Status.Open() {
		order, past = ` ORDER BY c.due_at DESC, c.id DESC`, `<`
	}
	due := int64(nothingDue)
	if !f.After.Due.IsZero() {
		due = micros(f.After.Due)
	}
	lane.Cases, err = collect(ctx, s.reader(), s.scanCase, `SELECT `+caseColumns+` FROM support_case c WHERE `+fits+`
		AND ($7 = '' OR (c.due_at, c.id) `+past+` ($6, $7))`+order+` LIMIT $8`, append(args, due, string(f.After.ID), int64(f.Limit))...)
	if err != nil {
		return lane, fmt.Errorf("read lane: %w", err)
	}
	return lane, nil
}

// DeskCounts counts what waits at the desk: see cyber.CaseStore.
func (s Cases) DeskCounts(ctx context.Context, assignee string, now, dayEnd time.Time) (cyber.DeskCounts, error) {
	var n cyber.DeskCounts
	err := s.reader().QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE due_at < $1), count(*) FILTER (WHERE due_at >= $1 AND due_at < $2),
		count(*) FILTER (WHERE assignee = ''), count(*) FILTER (WHERE assignee = $3) FROM support_case WHERE status IN (`+openStatuses+`)`, micros(now), micros(dayEnd), assignee).
		Scan(&n.Late, &n.Today, &n.Free, &n.Mine)
	if err != nil {
		return n, classify(fmt.Errorf("count cases: %w", err))
	}
	return n, nil
}
