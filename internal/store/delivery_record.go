package store

import (
	"context"
	"fmt"
	"strconv"

	"vigia/internal/alert"
	"vigia/internal/partner"
	"vigia/internal/seal"
	"vigia/internal/sqldb"
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

// RecordResults writes what became of claimed deliveries: the attempts, the deliveries, and since when an endpoint fails.
// That a delivery arrived is a fact whoever holds it by now; everything else counts only from the hand that holds it.
func (s *Store) RecordResults(ctx context.Context, worker string, results []alert.Result) error {
	statements := make([]sqldb.Statement, 0, 2*len(results)+2)
	endpoints := map[endpointKey]health{}
	for _, r := range results {
		if r.Outcome != nil {
			st, err := s.insertAttempt(worker, r)
			if err != nil {
				return err
			}
			statements = append(statements, st)
		}
		k := endpointKey{r.Delivery.Partner, r.Delivery.Endpoint}
		h := endpoints[k]
		switch {
		case r.State == alert.Delivered:
			h.succeeded = true
			statements = append(statements, markDelivered(r))
		default:
			if h.failedAt == 0 && r.Attempts > r.Delivery.Attempts {
				h.failedAt = micros(r.Now)
			}
			statements = append(statements, putBack(worker, r))
		}
		endpoints[k] = h
	}
	for k, h := range endpoints {
		if st, ok := h.write(k); ok {
			statements = append(statements, st)
		}
	}
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Run(ctx, statements); err != nil {
			return fmt.Errorf("record deliveries: %w", err)
		}
		return nil
	})
}

func (s *Store) insertAttempt(worker string, r alert.Result) (sqldb.Statement, error) {
	var answer []byte
	if r.Outcome.Answer != "" {
		place := attemptPlace(string(r.Delivery.Partner), string(r.Delivery.Endpoint), strconv.FormatInt(r.Delivery.Seq, 10),
			strconv.FormatInt(micros(r.At), 10), worker)
		var err error
		if answer, err = s.keys.Seal(place, []byte(r.Outcome.Answer)); err != nil {
			return sqldb.Statement{}, fmt.Errorf("seal answer: %w", err)
		}
	}
	return sqldb.Statement{Query: `INSERT INTO attempt (partner_id, endpoint_id, seq, at, worker, status, failure, duration, answer)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
		Args: []any{
			string(r.Delivery.Partner), string(r.Delivery.Endpoint), r.Delivery.Seq, micros(r.At), worker, int64(r.Outcome.Status),
			string(r.Outcome.Failure), r.Outcome.Duration.Microseconds(), answer,
		}}, nil
}

// putBack writes a delivery that did not arrive.
func putBack(worker string, r alert.Result) sqldb.Statement {
	finished := int64(0)
	if r.State == alert.DeliveryFailed {
		finished = micros(r.Now)
	}
	return sqldb.Statement{Query: `UPDATE delivery SET state = $5, attempts = $6, next_at = $7, ordered = $8, finished_at = $9, lease = ''
		WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND lease = $4 AND state = 'pending'`,
		Args: []any{
			string(r.Delivery.Partner), string(r.Delivery.Endpoint), r.Delivery.Seq, worker, string(r.State), int64(r.Attempts),
			micros(r.NextAt), r.Ordered, finished,
		}}
}

// markDelivered writes a delivery that arrived, also when it was held meanwhile.
func markDelivered(r alert.Result) sqldb.Statement {
	return sqldb.Statement{Query: `UPDATE delivery SET state = 'delivered', finished_at = $4, attempts = $5, lease = ''
		WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND state IN ('pending', 'held')`,
		Args: []any{string(r.Delivery.Partner), string(r.Delivery.Endpoint), r.Delivery.Seq, micros(r.Now), int64(r.Attempts)}}
}

// write keeps the time since which an endpoint does nothing but fail. In a group with both, the success counts.
func (h health) write(k endpointKey) (sqldb.Statement, bool) {
	switch {
	case h.succeeded:
		return sqldb.Statement{Query: `UPDATE endpoint SET failing_since = 0 WHERE partner_id = $1 AND id = $2 AND failing_since <> 0`,
			Args: []any{string(k.partner), string(k.endpoint)}}, true
	case h.failedAt != 0:
		return sqldb.Statement{Query: `UPDATE endpoint SET failing_since = $3 WHERE partner_id = $1 AND id = $2 AND failing_since = 0`,
			Args: []any{string(k.partner), string(k.endpoint), h.failedAt}}, true
	}
	return sqldb.Statement{}, false
}
