package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

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
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		if err := s.insertAttempts(ctx, tx, worker, results); err != nil {
			return err
		}
		delivered := map[endpointKey][]alert.Result{}
		endpoints := map[endpointKey]health{}
		for _, r := range results {
			k := endpointKey{r.Delivery.Partner, r.Delivery.Endpoint}
			h := endpoints[k]
			if r.State == alert.Delivered {
				delivered[k] = append(delivered[k], r)
				h.succeeded = true
			} else {
				if err := s.putBack(ctx, tx, worker, r); err != nil {
					return err
				}
				if h.failedAt == 0 && r.Attempts > r.Delivery.Attempts {
					h.failedAt = micros(r.Now)
				}
			}
			endpoints[k] = h
		}
		for k, list := range delivered {
			if err := markDelivered(ctx, tx, k, list); err != nil {
				return err
			}
		}
		return recordHealth(ctx, tx, endpoints)
	})
}

func (s *Store) insertAttempts(ctx context.Context, tx *sqldb.Tx, worker string, results []alert.Result) error {
	i := 0
	_, err := tx.Load(ctx, "attempt", []string{
		"partner_id", "endpoint_id", "seq", "at", "worker", "status", "failure", "duration", "answer",
	}, func() ([]any, error) {
		for i < len(results) && results[i].Outcome == nil {
			i++
		}
		if i == len(results) {
			return nil, nil
		}
		r := results[i]
		i++
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
			string(r.Delivery.Partner), string(r.Delivery.Endpoint), r.Delivery.Seq, micros(r.At), worker, int64(r.Outcome.Status),
			string(r.Outcome.Failure), r.Outcome.Duration.Microseconds(), answer,
		}, nil
	})
	if err != nil {
		return fmt.Errorf("record attempts: %w", err)
	}
	return nil
}

// putBack writes a delivery that did not arrive.
func (s *Store) putBack(ctx context.Context, tx *sqldb.Tx, worker string, r alert.Result) error {
	finished := int64(0)
	if r.State == alert.DeliveryFailed {
		finished = micros(r.Now)
	}
	_, err := tx.ExecContext(ctx, `UPDATE delivery SET state = $5, attempts = $6, next_at = $7, ordered = $8, finished_at = $9, lease = ''
		WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND lease = $4 AND state = 'pending'`,
		string(r.Delivery.Partner), string(r.Delivery.Endpoint), r.Delivery.Seq, worker, string(r.State), int64(r.Attempts),
		micros(r.NextAt), r.Ordered, finished)
	if err != nil {
		return fmt.Errorf("record delivery: %w", err)
	}
	return nil
}

// markDelivered writes deliveries of one endpoint that arrived: one statement for all that took as many tries.
func markDelivered(ctx context.Context, tx *sqldb.Tx, k endpointKey, results []alert.Result) error {
	byTries := map[int][]int64{}
	for _, r := range results {
		byTries[r.Attempts] = append(byTries[r.Attempts], r.Delivery.Seq)
	}
	for tries, seqs := range byTries {
		args := []any{string(k.partner), string(k.endpoint), micros(results[0].Now), int64(tries)}
		_, err := tx.ExecContext(ctx, `UPDATE delivery SET state = 'delivered', finished_at = $3, attempts = $4, lease = ''
			WHERE partner_id = $1 AND endpoint_id = $2 AND state IN ('pending', 'held') AND seq IN (`+padded(&args, seqs)+`)`, args...)
		if err != nil {
			return fmt.Errorf("record deliveries: %w", err)
		}
	}
	return nil
}

// recordHealth keeps the time since which an endpoint does nothing but fail. In a group with both, the success counts.
func recordHealth(ctx context.Context, tx *sqldb.Tx, endpoints map[endpointKey]health) error {
	var working []any
	var marks []string
	for k, h := range endpoints {
		if h.succeeded {
			working = append(working, string(k.partner), string(k.endpoint))
			marks = append(marks, fmt.Sprintf("($%d, $%d)", len(working)-1, len(working)))
			continue
		}
		if h.failedAt == 0 {
			continue
		}
		_, err := tx.ExecContext(ctx, `UPDATE endpoint SET failing_since = $3 WHERE partner_id = $1 AND id = $2 AND failing_since = 0`,
			string(k.partner), string(k.endpoint), h.failedAt)
		if err != nil {
			return fmt.Errorf("record endpoint: %w", err)
		}
	}
	if len(marks) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE endpoint SET failing_since = 0 WHERE failing_since <> 0 AND (partner_id, id) IN (VALUES `+
		strings.Join(marks, ", ")+`)`, working...)
	if err != nil {
		return fmt.Errorf("record endpoints: %w", err)
	}
	return nil
}
