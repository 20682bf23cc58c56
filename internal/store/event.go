package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// eventPlace binds the sealed body of an event to the partner and the event's ID.
func eventPlace(id partner.ID, event string) seal.Place {
	return seal.Place{Table: "event", Column: "body", Partner: string(id), Row: event}
}

// AddEvents stores events that have no other cause in the store.
func (s Alerts) AddEvents(ctx context.Context, id partner.ID, events ...alert.Event) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error { return s.addPartnerEvents(ctx, tx, id, events...) })
}

// addPartnerEvents stores events of one partner in the transaction of what caused them, with a delivery for each
// endpoint that wants them.
func (s Alerts) addPartnerEvents(ctx context.Context, tx *sqldb.Tx, id partner.ID, events ...alert.Event) error {
	if len(events) == 0 {
		return nil
	}
	kept, err := s.insertEvents(ctx, tx, id, events)
	if err != nil {
		return err
	}
	endpoints, err := s.endpointFilters(ctx, tx, id)
	if err != nil || len(endpoints) == 0 {
		return err
	}
	return s.insertDeliveries(ctx, tx, id, kept, endpoints)
}

// keptEvent is what a delivery takes over from its event.
type keptEvent struct {
	id     alert.EventID
	kind   alert.Type
	seq    int64
	person []byte
}

// insertEvents numbers and stores events. The counter's row stays locked until the transaction ends, so numbers are in
// the order of commits, and no reader can see an event before all events with lower numbers.
func (s Alerts) insertEvents(ctx context.Context, tx *sqldb.Tx, id partner.ID, events []alert.Event) ([]keptEvent, error) {
	events, persons, err := s.namePersons(ctx, tx, id, events)
	if err != nil {
		return nil, err
	}
	var last int64
	err = tx.QueryRowContext(ctx, `INSERT INTO event_counter (partner_id, last) VALUES ($1, $2)
		ON CONFLICT (partner_id) DO UPDATE SET last = event_counter.last + $2 RETURNING last`,
		partnerNumber(id), int64(len(events))).Scan(&last)
	if err != nil {
		return nil, fmt.Errorf("number events: %w", err)
	}
	kept := make([]keptEvent, len(events))
	first, i := last-int64(len(events))+1, 0
	_, err = tx.InsertRows(ctx, "event", []string{"id", "partner_id", "seq", "type", "person", "body", "created_at"}, func() ([]any, error) {
		if i == len(events) {
			return nil, nil
		}
		e := events[i]
		kept[i] = keptEvent{e.ID, e.Type, first + int64(i), persons[i]}
		body, err := e.MarshalBody()
		if err != nil {
			return nil, err
		}
		sealed, err := s.keys.Seal(eventPlace(id, string(e.ID)), body)
		if err != nil {
			return nil, fmt.Errorf("seal event: %w", err)
		}
		row := []any{string(e.ID), partnerNumber(id), kept[i].seq, string(e.Type), persons[i], sealed, toMicros(e.At)}
		i++
		return row, nil
	})
	return kept, wrapError("keep events", err)
}

// namePersons names the person of each event as the partner named them last, and returns the keys by which a person's
// events stay in order: that of the longer digest once the service knows both.
func (s Alerts) namePersons(ctx context.Context, tx *sqldb.Tx, id partner.ID, events []alert.Event) ([]alert.Event, [][]byte, error) {
	keys := make([][]byte, len(events))
	for i, e := range events {
		keys[i] = s.blindUserIndex(id, e.User)
	}
	people, err := s.findPersons(ctx, tx, id, keys)
	if err != nil {
		return nil, nil, err
	}
	events = slices.Clone(events)
	for i, key := range keys {
		who, known := people[string(key)]
		if !known {
			continue
		}
		if keys[i] = who.key; who.name != "" {
			events[i].User = who.name
		}
	}
	return events, keys, nil
}

// endpointFilters returns the endpoints of a partner with what fan-out needs of them. It comes after the events were
// numbered: from then on no endpoint of the partner changes until the transaction ends.
func (c core) endpointFilters(ctx context.Context, q querier, id partner.ID) ([]alert.Endpoint, error) {
	list, err := collectGenuine(ctx, q, func(row scanner) (checked[alert.Endpoint], error) {
		e := alert.Endpoint{Partner: id}
		var types string
		var created int64
		var mac []byte
		err := row.Scan(&e.ID, &types, &e.State, &e.Reason, &created, &mac)
		e.Types, e.CreatedAt = splitTypes(types), fromMicros(created)
		return checked[alert.Endpoint]{value: e, forged: !c.isGenuine("endpoint", endpointGrant(e), mac)}, err
	}, `SELECT id, types, state, reason, created_at, mac FROM endpoint WHERE partner_id = $1`, partnerNumber(id))
	return list, wrapError("read endpoints", err)
}

var deliveryColumns = []string{
	"partner_id", "endpoint_id", "seq", "event_id", "person", "state", "ordered", "attempts", "next_at", "created_at", "finished_at",
}

// insertDeliveries makes one delivery per event and endpoint that wants it; for a disabled endpoint it is held.
func (s Alerts) insertDeliveries(ctx context.Context, tx *sqldb.Tx, id partner.ID, events []keptEvent, endpoints []alert.Endpoint) error {
	now := toMicros(s.now())
	i, j, due := 0, -1, false
	_, err := tx.InsertRows(ctx, "delivery", deliveryColumns, func() ([]any, error) {
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
				partnerNumber(id), string(to.ID), e.seq, string(e.id), e.person, string(state), len(e.person) > 0, int64(0), now, now, int64(0),
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
func (s Alerts) ClaimTest(ctx context.Context, id partner.ID, endpoint alert.EndpointID, until time.Time, e alert.Event) (alert.Delivery, error) {
	d := alert.Delivery{Partner: id, Endpoint: endpoint, Event: e.ID}
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
		kept, err := s.insertEvents(ctx, tx, id, []alert.Event{e})
		if err != nil {
			return err
		}
		if _, err := s.endpointByID(ctx, tx, id, endpoint); err != nil {
			return err
		}
		d.Seq = kept[0].seq
		return execStatement(ctx, tx, "keep delivery", `INSERT INTO delivery
			(partner_id, endpoint_id, seq, event_id, person, state, ordered, attempts, next_at, created_at, finished_at)
			VALUES ($1, $2, $3, $4, $5, 'pending', $6, 0, $7, $8, 0)`, partnerNumber(id), string(endpoint), d.Seq, string(e.ID),
			kept[0].person, false, toMicros(until), toMicros(s.now()))
	})
	if err != nil {
		return d, err
	}
	d.Body, err = e.MarshalBody()
	return d, err
}
