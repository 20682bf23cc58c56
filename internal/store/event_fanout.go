package store

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// endpointFilters returns the endpoints of a partner with what fan-out needs of them. It comes after the events were
// numbered: from then on no endpoint of the partner changes until the transaction ends.
func (c core) endpointFilters(ctx context.Context, q querier, id partner.ID) ([]alert.Endpoint, error) {
	return collectGenuine(ctx, q, func(row scanner, into *checked[alert.Endpoint]) error {
		e := &into.value
		e.Partner = id
		return row.Scan(
			&e.ID,
			splitsTexts(&e.Types),
			&e.State,
			&e.Reason,
			&e.CreatedAt,
			c.checksMAC(&into.forged, "endpoint", func() *grant { return endpointGrant(*e) }),
		)
	}, `SELECT id, types, state, reason, created_at, mac FROM endpoint WHERE partner_id = $1`, id)
}

// deliveryColumns are those of a new delivery, as bulk inserts write them.
var deliveryColumns = []string{
	"partner_id",
	"endpoint_id",
	"seq",
	"event_id",
	"person",
	"state",
	"ordered",
	"attempts",
	"next_at",
	"created_at",
	"finished_at",
}

// insertDeliveries makes one delivery per event and endpoint that wants it; for a disabled endpoint it is held.
func (s Alerts) insertDeliveries(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, events []keptEvent, endpoints []alert.Endpoint,
) error {
	now := toMicros(s.now())
	i, j, due := 0, -1, false
	err := tx.InsertRows(ctx, "delivery", deliveryColumns, func() ([]any, error) {
		for {
			if j++; j == len(endpoints) {
				i, j = i+1, 0
			}
			if i == len(events) {
				return nil, nil
			}
			e, to := events[i], endpoints[j]
			if !to.WantsType(e.kind) {
				continue
			}
			state := to.InitialDeliveryState()
			due = due || state == alert.Pending
			return []any{
				id, to.ID, e.seq, e.id, e.person, state, len(e.person) > 0, 0, now, now, 0,
			}, nil
		}
	})
	if err != nil {
		return fmt.Errorf("keep deliveries: %w", err)
	}
	if due {
		tx.AfterCommit(s.signalDue)
	}
	return nil
}

// ClaimTest keeps a test event and its one delivery, out of the dispatchers' way until the given time.
func (s Alerts) ClaimTest(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, until time.Time, e alert.Event,
) (alert.Delivery, error) {
	d := alert.Delivery{Partner: id, Endpoint: endpoint, Event: e.ID}
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		kept, err := s.insertEvents(ctx, tx, id, []alert.Event{e})
		if err != nil {
			return err
		}
		if _, err := s.endpointByID(ctx, tx, id, endpoint); err != nil {
			return err
		}
		d.Seq = kept[0].seq
		return execStatement(ctx, tx, `INSERT INTO delivery
			(partner_id, endpoint_id, seq, event_id, person, state, ordered, attempts, next_at, created_at, finished_at)
			VALUES ($1, $2, $3, $4, $5, 'pending', $6, 0, $7, $8, 0)`,
			id,
			endpoint,
			d.Seq,
			e.ID,
			kept[0].person,
			false,
			until,
			s.now(),
		)
	})
	if err != nil {
		return d, err
	}
	d.Body, err = e.MarshalBody()
	return d, err
}
