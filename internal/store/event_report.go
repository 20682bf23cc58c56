package store

import (
	"context"
	"math"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// timeWindow gives a window of times as the store keeps them; a zero time is an open end.
func timeWindow(from, to time.Time) (int64, int64) {
	if to.IsZero() {
		return toMicros(from), math.MaxInt64
	}
	return toMicros(from), toMicros(to)
}

// outOfOrder is how far the times of events may be from the order of their numbers: longer than any transaction takes.
const outOfOrder = time.Hour

// seqRange returns the numbers between which the events of a window lie; there may be others between them.
func (c core) seqRange(
	ctx context.Context, q querier, id partner.ID, from, to time.Time,
) (first, last int64, err error) {
	first, last = 0, math.MaxInt64
	if !from.IsZero() {
		first, err = readValue[int64](
			ctx,
			q,
			`SELECT coalesce((SELECT seq FROM event WHERE partner_id = $1 AND created_at >= $2
			ORDER BY created_at, seq LIMIT 1), $3)`,
			id,
			from.Add(-outOfOrder),
			int64(math.MaxInt64),
		)
	}
	if err == nil && !to.IsZero() {
		last, err = readValue[int64](
			ctx,
			q,
			`SELECT coalesce((SELECT seq FROM event WHERE partner_id = $1 AND created_at < $2
			ORDER BY created_at DESC, seq DESC LIMIT 1), 0)`,
			id,
			to.Add(outOfOrder),
		)
	}
	return first, last, err
}

// reportAtOnce is how many events are read at a time.
const reportAtOnce = 1000

// EventReport compares events with what was pushed and pulled: see alert.Tally. Test events do not count: losing one
// does no harm.
func (s Alerts) EventReport(ctx context.Context, id partner.ID, of alert.ReportOf) (alert.Report, error) {
	pulled, err := s.loadPulls(ctx, id)
	if err != nil {
		return alert.Report{}, err
	}
	q := s.readQuerier()
	first, last, err := s.seqRange(ctx, q, id, of.From, of.To)
	if err != nil {
		return alert.Report{}, err
	}
	endpoints, err := collectRows(
		ctx,
		q,
		func(row scanner, e *alert.EndpointReport) error { return row.Scan(&e.Endpoint, &e.State) },
		`SELECT id, state FROM endpoint WHERE partner_id = $1 ORDER BY created_at, id`,
		id,
	)
	if err != nil {
		return alert.Report{}, err
	}
	tally := alert.NewTally(of, pulled, endpoints)
	from, to := timeWindow(of.From, of.To)
	for after, more := max(of.After, first-1), true; ; {
		args, most := []any{id, after, last, from, to}, tally.Remaining(reportAtOnce)
		if !more || most == 0 {
			return s.finishReport(ctx, id, tally, more, args)
		}
		rows, err := collectRows(
			ctx,
			q,
			func(row scanner, e *alert.Sent) error { return row.Scan(&e.Seq, &e.At, &e.Type, &e.Endpoint, &e.State) },
			`SELECT e.seq, e.created_at, e.type, coalesce(d.endpoint_id, ''), coalesce(d.state, '')
			FROM (SELECT partner_id, seq, created_at, type FROM event
			WHERE partner_id = $1 AND seq > $2 AND seq <= $3 AND created_at >= $4 AND created_at < $5
				AND type <> 'webhook.test' ORDER BY seq LIMIT $6) e
			LEFT JOIN delivery d ON d.partner_id = e.partner_id AND d.seq = e.seq AND d.endpoint_id IN (SELECT id
			FROM endpoint WHERE partner_id = $1)
			ORDER BY e.seq`,
			append(args, most)...,
		)
		if err != nil {
			return alert.Report{}, err
		}
		var read int64
		read, after = tally.AddEvents(rows)
		more = read == most
	}
}

// finishReport names the first of what is missing. Where as many events were looked at as should be, it asks whether
// there are more.
func (s Alerts) finishReport(
	ctx context.Context, id partner.ID, tally *alert.Tally, more bool, rest []any,
) (alert.Report, error) {
	q := s.readQuerier()
	var err error
	if more {
		more, err = readValue[bool](ctx, q,
			`SELECT EXISTS (SELECT 1 FROM event WHERE partner_id = $1 AND seq > $2 AND seq <= $3 AND created_at >= $4
			AND created_at < $5 AND type <> 'webhook.test')`,
			rest...)
		if err != nil {
			return alert.Report{}, err
		}
	}
	r, oldest := tally.FinishReport(more)
	if len(oldest) == 0 {
		return r, nil
	}
	args := []any{id}
	r.Oldest, err = collectRows(
		ctx,
		q,
		s.scanKeptEvent(id),
		`SELECT `+keptColumns+` FROM event WHERE partner_id = $1 AND seq IN (`+appendMarks(&args, oldest)+`)
		ORDER BY seq`,
		args...,
	)
	return r, err
}
