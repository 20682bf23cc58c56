package store

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// endpointKey names an endpoint within its partner.
type endpointKey struct {
	partner  partner.ID
	endpoint alert.EndpointID
}

// health is what a group of results says of an endpoint.
type health struct {
	// succeeded: something arrived; marked: the endpoint may bear the mark of one that fails; revived: it had been
	// given up before.
	succeeded, marked, revived bool
	// failedAt is the first failure of the group, 0 when there was none.
	failedAt int64
}

// RecordResults writes the outcomes of deliveries: the attempts, the states of the deliveries, and since when an
// endpoint has been failing. A delivery that arrived is recorded even if another worker holds the endpoint by now; a
// failure counts only if no other result was written since the delivery was read.
//
// The call may be repeated with results that were stored although the first call reported an error.
func (s Alerts) RecordResults(ctx context.Context, worker string, results []alert.Result) error {
	folded, arrived := map[endpointKey][]alert.Result{}, map[endpointKey][]alert.Delivery{}
	endpoints := map[endpointKey]health{}
	var statements sqldb.Statements
	var apart []alert.Result // tries that get a row of their own
	for _, r := range results {
		k := endpointKey{r.Delivery.Partner, r.Delivery.Endpoint}
		h := endpoints[k]
		switch {
		case isFoldable(r):
			folded[k] = append(folded[k], r)
		case r.State == alert.Delivered:
			apart, arrived[k] = append(apart, r), append(arrived[k], r.Delivery)
		default:
			apart, statements = append(apart, r), append(statements, requeueStatement(r))
			if h.failedAt == 0 && r.Attempts > r.Delivery.Attempts {
				h.failedAt = toMicros(r.Now)
			}
		}
		h.succeeded, h.marked, h.revived = h.succeeded ||
			r.State == alert.Delivered, h.marked ||
			!r.Well, h.revived ||
			r.Revived
		endpoints[k] = h
	}
	for k, h := range endpoints {
		if st, ok := h.healthStatement(k); ok {
			statements = append(statements, st)
		}
		if h.revived { // what was tried in vain need not wait for hours now
			statements.Add(
				`UPDATE delivery SET next_at = $3 WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending'
					AND next_at > $3`,
				k.partner,
				k.endpoint,
				s.now(),
			)
		}
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		there, err := s.keepDeliveries(ctx, tx, apart)
		if err != nil {
			return err
		}
		// Tries that an earlier call has written are left as they are.
		_, err = tx.LoadMissing(
			ctx,
			"attempt",
			attemptColumns,
			"",
			rowsOf(there, func(_ int, r alert.Result) ([]any, error) {
				return s.attemptRow(worker, r)
			}),
		)
		if err != nil {
			return err
		}
		return s.recordResults(ctx, tx, worker, folded, arrived, statements, toMicros(s.now()))
	})
}

// keepDeliveries returns the results whose deliveries are there, and keeps those from being deleted until the
// transaction ends. A delivery that was swept or erased while it was on its way gets no try: nothing would delete it.
func (s Alerts) keepDeliveries(ctx context.Context, tx *sqldb.Tx, results []alert.Result) ([]alert.Result, error) {
	seqs := map[endpointKey][]int64{}
	for _, r := range results {
		k := endpointKey{r.Delivery.Partner, r.Delivery.Endpoint}
		seqs[k] = append(seqs[k], r.Delivery.Seq)
	}
	type deliveryKey struct {
		endpointKey
		seq int64
	}
	there := map[deliveryKey]bool{}
	for k, list := range seqs {
		args := []any{k.partner, k.endpoint}
		kept, err := collectValues[int64](ctx, tx, `SELECT seq FROM delivery WHERE partner_id = $1 AND endpoint_id = $2
			AND seq `+tx.EngineName().NumbersCondition(&args, list)+` ORDER BY seq`+s.db.KeepRows(),
			args...,
		)
		if err != nil {
			return nil, err
		}
		for _, seq := range kept {
			there[deliveryKey{k, seq}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(results), func(r alert.Result) bool {
		return !there[deliveryKey{endpointKey{r.Delivery.Partner, r.Delivery.Endpoint}, r.Delivery.Seq}]
	}), nil
}

// recordResults writes what became of deliveries, all endpoints' in one round trip. A second one follows for those that
// were not pending any more: held meanwhile, or written by another worker or before.
func (s Alerts) recordResults(
	ctx context.Context,
	tx *sqldb.Tx,
	worker string,
	folded map[endpointKey][]alert.Result,
	arrived map[endpointKey][]alert.Delivery,
	statements sqldb.Statements,
	now int64,
) error {
	var runs []deliveredRun
	for k, list := range folded {
		runs = append(runs, s.foldedRuns(worker, k, list, now)...)
	}
	for k, list := range arrived {
		runs = append(runs, arrivedRun(tx, k, list, now))
	}
	all := make(sqldb.Statements, len(runs), len(runs)+len(statements))
	for i, r := range runs {
		all[i] = r.write
	}
	written, err := tx.RunCounting(ctx, append(all, statements...))
	if err != nil {
		return err
	}
	var rest sqldb.Statements
	for i, r := range runs {
		if written[i] < r.count {
			rest = append(rest, r.rest()...)
		}
	}
	return tx.RunStatements(ctx, rest)
}

// deliveredRun is a statement for deliveries of one endpoint that arrived, how many rows it should write, and what is
// to be done when it wrote fewer.
type deliveredRun struct {
	write sqldb.Statement
	count int64
	rest  func() sqldb.Statements
}

// requeueStatement writes a delivery that did not arrive. The tries it had say whether that is news: a worker that lost
// its hold in the middle of an attempt does not count one twice.
func requeueStatement(r alert.Result) sqldb.Statement {
	finished := int64(0)
	if r.State == alert.DeliveryFailed {
		finished = toMicros(r.Now)
	}
	return sqldb.NewStatement(
		`UPDATE delivery SET state = $5, attempts = $6, next_at = $7, ordered = $8, finished_at = $9
		WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND state = 'pending' AND attempts = $4`,
		r.Delivery.Partner,
		r.Delivery.Endpoint,
		r.Delivery.Seq,
		r.Delivery.Attempts,
		r.State,
		r.Attempts,
		r.NextAt,
		r.Ordered,
		finished,
	)
}

// arrivedRun writes deliveries of one endpoint that arrived and whose tries have rows of their own.
func arrivedRun(tx *sqldb.Tx, k endpointKey, list []alert.Delivery, now int64) deliveredRun {
	args := []any{k.endpoint, now, k.partner}
	write := sqldb.Statement{Query: `UPDATE delivery SET state = 'delivered', finished_at = $2, attempts = attempts + 1
		WHERE partner_id = $3 AND endpoint_id = $1 AND ` + openDeliveriesCondition(tx, &args, list)}
	write.Args = args
	return deliveredRun{write, int64(len(list)), func() sqldb.Statements {
		held := make(sqldb.Statements, len(list))
		for i, d := range list {
			held[i] = sqldb.NewStatement(
				`UPDATE delivery SET state = 'delivered', finished_at = $4, attempts = attempts + 1
				WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND state = 'held'`,
				k.partner,
				k.endpoint,
				d.Seq,
				now,
			)
		}
		return held
	}}
}

// healthStatement keeps the time since which an endpoint does nothing but fail. In a group with both, the success
// counts.
func (h health) healthStatement(k endpointKey) (sqldb.Statement, bool) {
	switch {
	case h.succeeded:
		return sqldb.NewStatement(`UPDATE endpoint SET failing_since = 0
			WHERE partner_id = $1 AND id = $2 AND failing_since <> 0`,
			k.partner,
			k.endpoint,
		), h.marked
	case h.failedAt != 0:
		return sqldb.NewStatement(`UPDATE endpoint SET failing_since = $3
			WHERE partner_id = $1 AND id = $2 AND failing_since = 0`,
			k.partner,
			k.endpoint,
			h.failedAt,
		), true
	}
	return sqldb.Statement{}, false
}
