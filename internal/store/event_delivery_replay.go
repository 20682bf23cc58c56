package store

import (
	"context"
	"math"
	"slices"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// RequeueDeliveries makes deliveries pending again with new tries. For an event or a window it also makes those that
// never were: for endpoints that came later, or whose filter has widened. What is pending already is left alone in a
// window, since it goes by itself; who names one event wants it now. Large windows go in batches.
func (s Alerts) RequeueDeliveries(ctx context.Context, id partner.ID, sel alert.Selection) (int64, error) {
	if sel.Failed {
		return s.requeueFailed(ctx, id, sel.Endpoint)
	}
	first, end := timeWindow(sel.From, sel.To)
	after, upTo := int64(0), int64(math.MaxInt64)
	without := string(alert.WebhookTest) // a test was meant for one endpoint, once
	if sel.Event != "" {
		seq, err := s.eventSeq(ctx, s.readQuerier(), id, sel.Event)
		if err != nil {
			return 0, err
		}
		after, upTo, without = seq-1, seq, ""
	} else {
		lowest, highest, err := s.seqRange(ctx, s.readQuerier(), id, sel.From, sel.To)
		if err != nil {
			return 0, err
		}
		after, upTo = lowest-1, highest
	}
	var total int64
	for {
		var seen, most int
		var n int64
		last := after
		err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
			endpoints, err := s.replayTargets(ctx, tx, id, sel.Endpoint)
			if err != nil {
				return err
			}
			most = max(1, sweepBatch/max(1, len(endpoints)))
			events, err := collectRows(
				ctx,
				tx,
				func(row scanner, e *keptEvent) error { return row.Scan(&e.id, &e.kind, &e.seq, &e.person) },
				`SELECT id, type, seq, person FROM event
				WHERE partner_id = $1 AND seq > $2 AND seq <= $3 AND created_at >= $4 AND created_at < $5
				AND type <> $6 ORDER BY seq LIMIT $7`,
				id,
				after,
				upTo,
				first,
				end,
				without,
				most,
			)
			if err != nil {
				return err
			}
			if seen = len(events); seen > 0 {
				last = events[seen-1].seq
			}
			n, err = s.requeueEvents(ctx, tx, id, events, endpoints, sel.Event != "")
			return err
		})
		if err == nil {
			after, total = last, total+n
		}
		if err != nil || seen < most {
			return total, err
		}
	}
}

// replayTargets returns the endpoints to replay to, held still until the transaction ends.
func (s Alerts) replayTargets(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, only alert.EndpointID,
) ([]alert.Endpoint, error) {
	if err := s.lockEvents(ctx, tx, id); err != nil {
		return nil, err
	}
	all, err := s.endpointFilters(ctx, tx, id)
	if err != nil || only == "" {
		return all, err
	}
	for _, e := range all {
		if e.ID == only {
			return []alert.Endpoint{e}, nil
		}
	}
	return nil, alert.ErrEndpointNotFound
}

// requeueEvents makes deliveries of events pending with new tries; those that are pending already too if again says so.
func (s Alerts) requeueEvents(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, events []keptEvent, endpoints []alert.Endpoint, again bool,
) (int64, error) {
	now := toMicros(s.now())
	var total int64
	for _, to := range endpoints {
		for _, e := range events {
			if !to.WantsType(e.kind) {
				continue
			}
			n, err := execCounting(
				ctx,
				tx,
				`INSERT INTO delivery (partner_id, endpoint_id, seq, event_id, person, state, ordered, attempts,
				next_at, created_at, finished_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $8, 0)
				ON CONFLICT (partner_id, endpoint_id, seq) DO UPDATE SET state = $6, ordered = $7, attempts = 0,
				next_at = $8, finished_at = 0
				WHERE delivery.state <> 'pending' OR $9`,
				id,
				to.ID,
				e.seq,
				e.id,
				orEmptyBytes(e.person),
				to.InitialDeliveryState(),
				len(e.person) > 0,
				now,
				again,
			)
			if err != nil {
				return 0, err
			}
			total += n
		}
	}
	if total > 0 {
		tx.AfterCommit(s.signalDue)
	}
	return total, nil
}

// requeueFailed repeats every delivery whose tries are used up.
func (s Alerts) requeueFailed(ctx context.Context, id partner.ID, only alert.EndpointID) (total int64, err error) {
	endpoints, err := s.endpointFilters(ctx, s.readQuerier(), id)
	if err != nil {
		return 0, err
	}
	if only != "" {
		endpoints = slices.DeleteFunc(endpoints, func(e alert.Endpoint) bool { return e.ID != only })
		if len(endpoints) == 0 {
			return 0, alert.ErrEndpointNotFound
		}
	}
	for _, to := range endpoints {
		for after := int64(0); ; {
			seqs, err := collectValues[int64](
				ctx,
				s.readQuerier(),
				`SELECT seq FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND seq > $3
				AND state = 'failed' ORDER BY seq LIMIT $4`,
				id,
				to.ID,
				after,
				sweepBatch,
			)
			if err != nil {
				return total, err
			}
			if len(seqs) == 0 {
				break
			}
			_, err = runInParts(ctx, s.core, seqs, sweepBatch, func(tx *sqldb.Tx, part []int64) error {
				n, err := s.requeueSeqs(ctx, tx, id, to.ID, part)
				tx.AfterCommit(func() { total += n })
				return err
			})
			if err != nil {
				return total, err
			}
			after = seqs[len(seqs)-1]
		}
	}
	return total, nil
}

// requeueSeqs repeats failed deliveries of an endpoint that is still there.
func (s Alerts) requeueSeqs(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, endpoint alert.EndpointID, seqs []int64,
) (total int64, err error) {
	to, err := s.replayTargets(ctx, tx, id, endpoint)
	if err != nil {
		return 0, err
	}
	state, now := to[0].InitialDeliveryState(), toMicros(s.now())
	updates := make(sqldb.Statements, len(seqs))
	for i, seq := range seqs {
		updates[i] = sqldb.NewStatement(
			`UPDATE delivery SET state = $4, ordered = (length(person) > 0), attempts = 0, next_at = $5, finished_at = 0
			WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND state = 'failed'`,
			id,
			endpoint,
			seq,
			state,
			now,
		)
	}
	changed, err := tx.RunCounting(ctx, updates)
	for _, n := range changed {
		total += n
	}
	tx.AfterCommit(s.signalDue)
	return total, err
}
