package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
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
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	events []alert.Event,
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
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	events []alert.Event,
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
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	events []keptEvent,
	endpoints []alert.Endpoint,
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
	ctx context.Context,
	id partner.ID,
	endpoint alert.EndpointID,
	until time.Time,
	e alert.Event,
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

var (
	_ alert.FeedStore    = Alerts{}
	_ alert.HistoryStore = Alerts{}
)

// keptColumns are those that scanning an event expects, in its order.
const keptColumns = `id, seq, type, body, created_at`

// scanKeptEvent reads and opens an event.
func (s Alerts) scanKeptEvent(id partner.ID) func(scanner, *alert.Kept) error {
	return func(row scanner, e *alert.Kept) error {
		return row.Scan(
			&e.ID,
			&e.Seq,
			&e.Type,
			s.unseals(&e.Body, func() seal.Place { return eventPlace(id, string(e.ID)) }),
			&e.At,
		)
	}
}

// EventsAfter returns up to limit events of some areas that follow seq. The newest number is read first, so that it is
// never ahead of the events.
func (s Alerts) EventsAfter(
	ctx context.Context,
	id partner.ID,
	of alert.Areas,
	seq int64,
	limit int,
) (alert.Stretch, error) {
	var found alert.Stretch
	q := s.readQuerier()
	err := readColumns(
		ctx,
		q,
		[]any{&found.Newest, &found.NewestID, &found.At},
		`SELECT c.last, coalesce((SELECT e.id FROM event e WHERE e.partner_id = $1 AND e.seq = c.last), ''),
			coalesce((SELECT e.id FROM event e WHERE e.partner_id = $1 AND e.seq = $2), '')
		FROM event_counter c WHERE c.partner_id = $1`,
		id,
		seq,
	)
	if errors.Is(err, sql.ErrNoRows) {
		return found, nil
	}
	if err != nil {
		return found, err
	}
	args, only := []any{id, seq, limit}, ""
	if of != alert.Everything {
		only = ` AND type IN (` + appendMarks(&args, of.ListTypes()) + `)`
	}
	found.Events, err = collectRows(
		ctx,
		q,
		s.scanKeptEvent(id),
		`SELECT `+keptColumns+` FROM event WHERE partner_id = $1 AND seq > $2`+only+`
		ORDER BY seq LIMIT $3`,
		args...,
	)
	next := seq + 1
	if err != nil || found.Newest < next || len(found.Events) > 0 && found.Events[0].Seq == next {
		return found, err
	}
	found.Gap, err = readValue[bool](ctx, q, `SELECT NOT EXISTS (SELECT 1 FROM event WHERE partner_id = $1 AND seq = $2)
		AND NOT EXISTS (SELECT 1 FROM event_gap WHERE partner_id = $1 AND seq = $2)`,
		id,
		next,
	)
	return found, err
}

// NewestEvents returns up to limit events of some areas, the newest first.
func (s Alerts) NewestEvents(ctx context.Context, id partner.ID, of alert.Areas, limit int) ([]alert.Kept, error) {
	args := []any{id, limit}
	return collectRows(
		ctx,
		s.readQuerier(),
		s.scanKeptEvent(id),
		`SELECT `+keptColumns+` FROM event WHERE partner_id = $1
		AND type IN (`+appendMarks(&args, of.ListTypes())+`) ORDER BY seq DESC LIMIT $2`,
		args...,
	)
}

// SavePull remembers how far a partner has read. A poll that brings nothing new writes nothing.
func (s Alerts) SavePull(ctx context.Context, id partner.ID, of alert.Areas, seq int64) error {
	known, err := s.loadPulls(ctx, id)
	if err != nil {
		return err
	}
	next := known.WithRead(of, seq)
	if next == known {
		return nil
	}
	return s.execAlone(ctx, `INSERT INTO event_pull (partner_id, seq, subscription_seq, at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (partner_id) DO UPDATE SET at = excluded.at,
				seq = CASE WHEN event_pull.seq < excluded.seq THEN excluded.seq ELSE event_pull.seq END,
				subscription_seq = CASE WHEN event_pull.subscription_seq < excluded.subscription_seq
					THEN excluded.subscription_seq ELSE event_pull.subscription_seq END`,
		id,
		next.Cyber,
		next.Subscriptions,
		s.now(),
	)
}

// loadPulls returns how far the partner has read.
func (s Alerts) loadPulls(ctx context.Context, id partner.ID) (alert.Pulls, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		func(row scanner, p *alert.Pulls) error { return row.Scan(&p.Cyber, &p.Subscriptions) },
		nil,
		`SELECT seq, subscription_seq FROM event_pull WHERE partner_id = $1`,
		id,
	)
}

// eventSeq returns the number of an event.
func (s Alerts) eventSeq(ctx context.Context, q querier, id partner.ID, event alert.EventID) (int64, error) {
	return findValue[int64](
		ctx,
		q,
		alert.ErrEventNotFound,
		`SELECT seq FROM event WHERE partner_id = $1 AND id = $2`,
		id,
		event,
	)
}

// Deliveries returns where an event has gone.
func (s Alerts) Deliveries(ctx context.Context, id partner.ID, event alert.EventID) ([]alert.DeliveryStatus, error) {
	seq, err := s.eventSeq(ctx, s.readQuerier(), id, event)
	if err != nil {
		return nil, err
	}
	return collectRows(ctx, s.readQuerier(), func(row scanner, d *alert.DeliveryStatus) error {
		*d = alert.DeliveryStatus{Event: event, Seq: seq}
		err := row.Scan(&d.Endpoint, &d.State, &d.Attempts, &d.NextAt, &d.FinishedAt)
		if d.State != alert.Pending {
			d.NextAt = time.Time{}
		}
		return err
	}, `SELECT d.endpoint_id, d.state, d.attempts, d.next_at, d.finished_at FROM delivery d
		WHERE d.partner_id = $1 AND d.seq = $2 AND `+atEndpoints+` ORDER BY d.endpoint_id`,
		id,
		seq,
	)
}

// atEndpoints are the deliveries of partner $1 whose endpoint there still is. Named one by one, they are looked up by
// their key; joined to the endpoints, SQLite reads all deliveries of the partner for those of one event.
const atEndpoints = `d.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1)`

// ListAttempts returns every logged try of an event, in order.
func (s Alerts) ListAttempts(ctx context.Context, id partner.ID, event alert.EventID) ([]alert.AttemptLog, error) {
	seq, err := s.eventSeq(ctx, s.readQuerier(), id, event)
	if err != nil {
		return nil, err
	}
	list, err := collectRows(ctx, s.readQuerier(), func(row scanner, a *alert.AttemptLog) error {
		var worker string
		return row.Scan(
			&a.Endpoint,
			&a.At,
			&worker,
			&a.Status,
			&a.Failure,
			&a.Duration,
			s.unseals(&a.Answer, func() seal.Place {
				return attemptPlace(
					string(id),
					string(a.Endpoint),
					strconv.FormatInt(seq, 10),
					strconv.FormatInt(toMicros(a.At), 10),
					worker,
				)
			}),
		)
	}, `SELECT a.endpoint_id, a.at, a.worker, a.status, a.failure, a.duration, a.answer FROM attempt a
		WHERE a.partner_id = $1 AND a.seq = $2 AND a.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1)`,
		id,
		seq,
	)
	if err != nil {
		return nil, err
	}
	folded, err := collectRows(ctx, s.readQuerier(), func(row scanner, a *alert.AttemptLog) error {
		return row.Scan(&a.Endpoint, scanFunc(func(tried []byte) error { return decodeAttempt(tried, a) }))
	}, `SELECT d.endpoint_id, d.tried FROM delivery d WHERE d.partner_id = $1 AND d.seq = $2
		AND `+atEndpoints+` AND d.tried IS NOT NULL`,
		id,
		seq,
	)
	list = append(list, folded...)
	slices.SortStableFunc(list, func(a, b alert.AttemptLog) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	return list, err
}

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
	ctx context.Context,
	q querier,
	id partner.ID,
	from, to time.Time,
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
	ctx context.Context,
	id partner.ID,
	tally *alert.Tally,
	more bool,
	rest []any,
) (alert.Report, error) {
	q := s.readQuerier()
	var err error
	if more {
		if more, err = readValue[bool](
			ctx,
			q,
			`SELECT EXISTS (SELECT 1 FROM event WHERE partner_id = $1 AND seq > $2 AND seq <= $3 AND created_at >= $4
			AND created_at < $5 AND type <> 'webhook.test')`,
			rest...,
		); err != nil {
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

var _ message.Store = Alerts{}

// templateColumns are those that scanning a message text expects, in its order.
const templateColumns = `partner_id, event, channel, lang, subject, body, mac`

// scanTemplate reads a template and checks its MAC, which covers the partner.
func (c core) scanTemplate(row scanner, t *checked[message.Template]) error {
	var id partner.ID
	v := &t.value
	err := row.Scan(&id, &v.Event, &v.Channel, &v.Language, &v.Subject, &v.Text,
		c.checksMAC(&t.forged, "message_template", func() *grant { return templateGrant(id, *v) }))
	t.row = fmt.Sprintf("message_template %s/%s/%s/%s", id, v.Event, v.Channel, v.Language)
	return err
}

// ListTemplates returns the operator's texts for a partner; without one, those for everybody, kept under the number 0.
// A forged one is left out: the built-in text takes its place.
func (s Alerts) ListTemplates(ctx context.Context, id partner.ID) ([]message.Template, error) {
	return collectGenuine(
		ctx,
		s.readQuerier(),
		s.scanTemplate,
		`SELECT `+templateColumns+` FROM message_template WHERE partner_id = $1
		ORDER BY event, channel, lang`,
		id,
	)
}

// KeepTemplate stores a text over the one that was there.
func (s Alerts) KeepTemplate(ctx context.Context, id partner.ID, t message.Template) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if id != "" {
			if _, err := s.partnerByID(ctx, tx, id); err != nil {
				return err
			}
		}
		return execStatement(
			ctx,
			tx,
			`INSERT INTO message_template (partner_id, event, channel, lang, subject, body, changed_at, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (partner_id, event, channel, lang)
			DO UPDATE SET subject = excluded.subject, body = excluded.body, changed_at = excluded.changed_at,
			mac = excluded.mac`,
			id,
			t.Event,
			t.Channel,
			t.Language,
			t.Subject,
			t.Text,
			s.now(),
			s.grantMAC("message_template", templateGrant(id, t)),
		)
	})
}

// DropTemplate deletes a text.
func (s Alerts) DropTemplate(ctx context.Context, id partner.ID, k message.Key) error {
	return s.expectAlone(
		ctx,
		message.ErrUnchanged,
		`DELETE FROM message_template WHERE partner_id = $1 AND event = $2 AND channel = $3 AND lang = $4`,
		id,
		k.Event,
		k.Channel,
		k.Language,
	)
}

func (s Alerts) GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		s.scanKeptEvent(id),
		alert.ErrEventNotFound,
		`SELECT `+keptColumns+` FROM event WHERE partner_id = $1 AND id = $2`,
		id,
		event,
	)
}

func (s Alerts) PartnerName(ctx context.Context, id partner.ID) (string, error) {
	p, err := s.partnerByID(ctx, s.readQuerier(), id)
	return p.Name, err
}

// BreachTitle returns a breach's title; empty where there is none.
func (s Alerts) BreachTitle(ctx context.Context, name string) (string, error) {
	b, err := readRow(
		ctx,
		s.readQuerier(),
		s.scanBreach,
		nil,
		`SELECT `+breachColumns+` FROM breach b WHERE b.name = $1`,
		name,
	)
	return b.Title, err
}

// FindPlanName returns a plan's name; empty where there is none.
func (s Alerts) FindPlanName(ctx context.Context, id partner.ID, planID plan.ID) (string, error) {
	p, err := s.readPlan(ctx, s.readQuerier(), id, planID)
	if errors.Is(err, plan.ErrNotFound) || errors.Is(err, ErrForged) {
		return "", nil
	}
	return p.Name, err
}
