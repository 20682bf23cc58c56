package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

func attemptPlace(id, endpoint, seq, at, worker string) seal.Place {
	return seal.Place{Table: "attempt", Column: "answer", Partner: id, Row: endpoint + "/" + seq + "/" + at + "/" + worker}
}

// endpointKey names an endpoint within its partner.
type endpointKey struct {
	partner  partner.ID
	endpoint alert.EndpointID
}

// health is what a group of results says of an endpoint.
type health struct {
	succeeded bool
	// failedAt is the first failure of the group, 0 when there was none.
	failedAt int64
}

// RecordResults writes what became of deliveries: the attempts, the deliveries, and since when an endpoint fails. That
// a delivery arrived is a fact whoever holds its endpoint by now; everything else counts only from the hand that holds
// it.
//
// It may be called again with results whose first writing was reported as failed and had succeeded all the same.
func (s Alerts) RecordResults(ctx context.Context, worker string, results []alert.Result) error {
	err := s.recordResults(ctx, worker, results, s.loadAttempts)
	if sqldb.IsUnique(err) {
		err = s.recordResults(ctx, worker, results, s.mergeAttempts)
	}
	return err
}

type writeAttempts func(ctx context.Context, tx *sqldb.Tx, worker string, results []alert.Result) error

func (s Alerts) recordResults(ctx context.Context, worker string, results []alert.Result, attempts writeAttempts) error {
	folded, arrived := map[endpointKey][]alert.Result{}, map[endpointKey][]alert.Delivery{}
	endpoints := map[endpointKey]health{}
	var statements []sqldb.Statement
	var apart []alert.Result // tries that get a row of their own
	for _, r := range results {
		k := endpointKey{r.Delivery.Partner, r.Delivery.Endpoint}
		h := endpoints[k]
		switch {
		case foldable(r):
			folded[k] = append(folded[k], r)
		case r.State == alert.Delivered:
			apart, arrived[k] = append(apart, r), append(arrived[k], r.Delivery)
		default:
			apart, statements = append(apart, r), append(statements, putBack(worker, r))
			if h.failedAt == 0 && r.Attempts > r.Delivery.Attempts {
				h.failedAt = micros(r.Now)
			}
		}
		h.succeeded = h.succeeded || r.State == alert.Delivered
		endpoints[k] = h
	}
	for k, h := range endpoints {
		if st, ok := h.write(k); ok {
			statements = append(statements, st)
		}
	}
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		if err := attempts(ctx, tx, worker, apart); err != nil {
			return err
		}
		now := micros(s.now())
		for k, list := range folded {
			if err := foldDelivered(ctx, tx, worker, k, list, now); err != nil {
				return fmt.Errorf("record deliveries: %w", err)
			}
		}
		for k, list := range arrived {
			if err := markDelivered(ctx, tx, k, list, now); err != nil {
				return fmt.Errorf("record deliveries: %w", err)
			}
		}
		if err := tx.Run(ctx, statements); err != nil {
			return fmt.Errorf("record deliveries: %w", err)
		}
		return nil
	})
}

var attemptColumns = []string{"partner_id", "endpoint_id", "seq", "at", "worker", "status", "failure", "duration", "answer"}

// attemptRow gives the columns of an attempt.
func (s Alerts) attemptRow(worker string, r alert.Result) ([]any, error) {
	var answer []byte
	if r.Outcome.Answer != "" {
		place := attemptPlace(string(r.Delivery.Partner), string(r.Delivery.Endpoint), strconv.FormatInt(r.Delivery.Seq, 10),
			strconv.FormatInt(micros(r.At), 10), worker)
		var err error
		if answer, err = s.keys.Seal(place, []byte(r.Outcome.Answer)); err != nil {
			return nil, fmt.Errorf("seal answer: %w", err)
		}
	}
	return []any{
		number(r.Delivery.Partner), string(r.Delivery.Endpoint), r.Delivery.Seq, micros(r.At), worker, int64(r.Outcome.Status),
		string(r.Outcome.Failure), r.Outcome.Duration.Microseconds(), answer,
	}, nil
}

// loadAttempts is the fast way.
func (s Alerts) loadAttempts(ctx context.Context, tx *sqldb.Tx, worker string, results []alert.Result) error {
	if len(results) == 0 {
		return nil
	}
	i := 0
	_, err := tx.Load(ctx, "attempt", attemptColumns, func() ([]any, error) {
		if i == len(results) {
			return nil, nil
		}
		i++
		return s.attemptRow(worker, results[i-1])
	})
	return err
}

// mergeAttempts is the way for results of which some are there already.
func (s Alerts) mergeAttempts(ctx context.Context, tx *sqldb.Tx, worker string, results []alert.Result) error {
	var statements []sqldb.Statement
	for _, r := range results {
		row, err := s.attemptRow(worker, r)
		if err != nil {
			return err
		}
		statements = append(statements, sqldb.Statement{Query: `INSERT INTO attempt
			(partner_id, endpoint_id, seq, at, worker, status, failure, duration, answer)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`, Args: row})
	}
	return tx.Run(ctx, statements)
}

// putBack writes a delivery that did not arrive.
func putBack(worker string, r alert.Result) sqldb.Statement {
	finished := int64(0)
	if r.State == alert.DeliveryFailed {
		finished = micros(r.Now)
	}
	return sqldb.Statement{Query: `UPDATE delivery SET state = $5, attempts = $6, next_at = $7, ordered = $8, finished_at = $9, lease = ''
		WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND state = 'pending'
		AND (lease = $4 OR EXISTS (SELECT 1 FROM endpoint_lease l WHERE l.endpoint_id = $2 AND l.worker = $4))`,
		Args: []any{
			number(r.Delivery.Partner), string(r.Delivery.Endpoint), r.Delivery.Seq, worker, string(r.State), int64(r.Attempts),
			micros(r.NextAt), r.Ordered, finished,
		}}
}

// markDelivered writes deliveries of one endpoint that arrived. Those that are not pending any more were held
// meanwhile, or another worker has said the same.
func markDelivered(ctx context.Context, tx *sqldb.Tx, k endpointKey, list []alert.Delivery, now int64) error {
	args := []any{string(k.endpoint), now}
	n, err := affected(tx.ExecContext(ctx, `UPDATE delivery SET state = 'delivered', finished_at = $2, attempts = attempts + 1, lease = ''
		WHERE endpoint_id = $1 AND `+amongOpen(tx, &args, list), args...))
	if err != nil || n == int64(len(list)) {
		return err
	}
	statements := make([]sqldb.Statement, len(list))
	for i, d := range list {
		statements[i] = sqldb.Statement{Query: `UPDATE delivery SET state = 'delivered', finished_at = $4, attempts = attempts + 1, lease = ''
			WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND state = 'held'`,
			Args: []any{number(k.partner), string(k.endpoint), d.Seq, now}}
	}
	return tx.Run(ctx, statements)
}

// write keeps the time since which an endpoint does nothing but fail. In a group with both, the success counts.
func (h health) write(k endpointKey) (sqldb.Statement, bool) {
	switch {
	case h.succeeded:
		return sqldb.Statement{Query: `UPDATE endpoint SET failing_since = 0 WHERE partner_id = $1 AND id = $2 AND failing_since <> 0`,
			Args: []any{number(k.partner), string(k.endpoint)}}, true
	case h.failedAt != 0:
		return sqldb.Statement{Query: `UPDATE endpoint SET failing_since = $3 WHERE partner_id = $1 AND id = $2 AND failing_since = 0`,
			Args: []any{number(k.partner), string(k.endpoint), h.failedAt}}, true
	}
	return sqldb.Statement{}, false
}
