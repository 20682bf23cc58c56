package store

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// eventPlace binds the sealed body of an event to the partner and the event's ID.
func eventPlace(id partner.ID, event string) seal.Place {
	return seal.Place{Table: "event", Column: "body", Partner: string(id), Row: event}
}

// AddEvents stores events that have no other cause in the store.
func (s Alerts) AddEvents(ctx context.Context, id partner.ID, events ...alert.Event) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return s.addPartnerEvents(ctx, tx, id, events...) })
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
func (s Alerts) insertEvents(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, events []alert.Event,
) ([]keptEvent, error) {
	events, persons, err := s.namePersons(ctx, tx, id, events)
	if err != nil {
		return nil, err
	}
	last, err := readValue[int64](ctx, tx, `INSERT INTO event_counter (partner_id, last) VALUES ($1, $2)
		ON CONFLICT (partner_id) DO UPDATE SET last = event_counter.last + $2 RETURNING last`,
		id,
		len(events),
	)
	if err != nil {
		return nil, err
	}
	kept := make([]keptEvent, len(events))
	first, columns := last-int64(len(events))+1, []string{
		"id",
		"partner_id",
		"seq",
		"type",
		"person",
		"body",
		"created_at",
	}
	err = tx.InsertRows(ctx, "event", columns, rowsOf(events, func(i int, e alert.Event) ([]any, error) {
		kept[i] = keptEvent{e.ID, e.Type, first + int64(i), persons[i]}
		body, err := e.MarshalBody()
		if err != nil {
			return nil, err
		}
		sealed, err := s.sealValue(eventPlace(id, string(e.ID)), body)
		return []any{e.ID, id, kept[i].seq, e.Type, persons[i], sealed, e.At}, err
	}))
	return kept, err
}

// namePersons names the person of each event as the partner named them last, and returns the keys by which a person's
// events stay in order: that of the longer digest once the service knows both.
func (s Alerts) namePersons(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, events []alert.Event,
) ([]alert.Event, [][]byte, error) {
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

// tellingAtOnce returns how many things of a partner may change in one transaction where each of them is an event: that
// is a row of the thing, one of the event and one for each endpoint.
func tellingAtOnce(ctx context.Context, q querier, id partner.ID) (int, error) {
	endpoints, err := readValue[int](ctx, q, `SELECT count(*) FROM endpoint WHERE partner_id = $1`, id)
	if err != nil {
		return 0, err
	}
	return max(1, sweepBatch/(2+endpoints)), nil
}

// inEventParts does something with things of a partner that are events each, in transactions of a few of them.
func inEventParts[T any](
	ctx context.Context, c core, id partner.ID, all []T, fn func(tx *sqldb.Tx, part []T) error,
) error {
	atOnce, err := tellingAtOnce(ctx, c.readQuerier(), id)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(all, atOnce) {
		if err := c.runInTransaction(ctx, func(tx *sqldb.Tx) error { return fn(tx, part) }); err != nil {
			return err
		}
	}
	return nil
}
