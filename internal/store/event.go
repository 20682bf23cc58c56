package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/message"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/webhook"
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

// deliveryColumns are those of a new delivery, as bulk inserts write them.
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
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
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

var (
	_ alert.FeedStore    = Alerts{}
	_ alert.HistoryStore = Alerts{}
)

// keptColumns are those that scanning an event expects, in its order.
const keptColumns = `id, seq, type, body, created_at`

// scanKeptEvent reads and opens an event.
func (s Alerts) scanKeptEvent(id partner.ID) func(row scanner) (alert.Kept, error) {
	return func(row scanner) (alert.Kept, error) {
		var e alert.Kept
		var sealed []byte
		var created int64
		if err := row.Scan(&e.ID, &e.Seq, &e.Type, &sealed, &created); err != nil {
			return e, err
		}
		e.At = fromMicros(created)
		var err error
		if e.Body, err = s.keys.Unseal(eventPlace(id, string(e.ID)), sealed); err != nil {
			return e, fmt.Errorf("open event: %w", err)
		}
		return e, nil
	}
}

// EventsAfter returns up to limit events of some areas that follow seq. The newest number is read first, so that it is
// never ahead of the events.
func (s Alerts) EventsAfter(ctx context.Context, id partner.ID, of alert.Areas, seq int64, limit int) (alert.Stretch, error) {
	var found alert.Stretch
	q := s.readQuerier()
	err := q.QueryRowContext(ctx, `SELECT c.last, coalesce((SELECT e.id FROM event e WHERE e.partner_id = $1 AND e.seq = c.last), ''),
			coalesce((SELECT e.id FROM event e WHERE e.partner_id = $1 AND e.seq = $2), '')
		FROM event_counter c WHERE c.partner_id = $1`, partnerNumber(id), seq).Scan(&found.Newest, &found.NewestID, &found.At)
	if errors.Is(err, sql.ErrNoRows) {
		return found, nil
	}
	if err != nil {
		return found, classifyError(fmt.Errorf("read events: %w", err))
	}
	args, only := []any{partnerNumber(id), seq, int64(limit)}, ""
	if of != alert.Everything {
		only = ` AND type IN (` + appendListMarks(&args, of.ListTypes()) + `)`
	}
	found.Events, err = collectRows(ctx, q, s.scanKeptEvent(id), `SELECT `+keptColumns+` FROM event WHERE partner_id = $1 AND seq > $2`+only+`
		ORDER BY seq LIMIT $3`, args...)
	next := seq + 1
	if err != nil || found.Newest < next || len(found.Events) > 0 && found.Events[0].Seq == next {
		return found, err
	}
	err = q.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM event WHERE partner_id = $1 AND seq = $2)
		AND NOT EXISTS (SELECT 1 FROM event_gap WHERE partner_id = $1 AND seq = $2)`, partnerNumber(id), next).Scan(&found.Gap)
	return found, classifyError(wrapError("read events", err))
}

// NewestEvents returns up to limit events of some areas, the newest first.
func (s Alerts) NewestEvents(ctx context.Context, id partner.ID, of alert.Areas, limit int) ([]alert.Kept, error) {
	args := []any{partnerNumber(id), int64(limit)}
	return collectRows(ctx, s.readQuerier(), s.scanKeptEvent(id), `SELECT `+keptColumns+` FROM event WHERE partner_id = $1
		AND type IN (`+appendListMarks(&args, of.ListTypes())+`) ORDER BY seq DESC LIMIT $2`, args...)
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
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		return execStatement(ctx, tx, "note pull", `INSERT INTO event_pull (partner_id, seq, subscription_seq, at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (partner_id) DO UPDATE SET at = excluded.at,
				seq = CASE WHEN event_pull.seq < excluded.seq THEN excluded.seq ELSE event_pull.seq END,
				subscription_seq = CASE WHEN event_pull.subscription_seq < excluded.subscription_seq THEN excluded.subscription_seq
					ELSE event_pull.subscription_seq END`, partnerNumber(id), next.Cyber, next.Subscriptions, toMicros(s.now()))
	})
}

// loadPulls returns how far the partner has read.
func (s Alerts) loadPulls(ctx context.Context, id partner.ID) (alert.Pulls, error) {
	var p alert.Pulls
	err := s.readQuerier().QueryRowContext(ctx, `SELECT seq, subscription_seq FROM event_pull WHERE partner_id = $1`, partnerNumber(id)).
		Scan(&p.Cyber, &p.Subscriptions)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return p, classifyError(fmt.Errorf("read pull: %w", err))
	}
	return p, nil
}

// eventSeq returns the number of an event.
func (s Alerts) eventSeq(ctx context.Context, q querier, id partner.ID, event alert.EventID) (int64, error) {
	var seq int64
	err := q.QueryRowContext(ctx, `SELECT seq FROM event WHERE partner_id = $1 AND id = $2`, partnerNumber(id), string(event)).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, alert.ErrEventNotFound
	}
	return seq, classifyError(err)
}

// Deliveries returns where an event has gone.
func (s Alerts) Deliveries(ctx context.Context, id partner.ID, event alert.EventID) ([]alert.DeliveryStatus, error) {
	seq, err := s.eventSeq(ctx, s.readQuerier(), id, event)
	if err != nil {
		return nil, err
	}
	return collectRows(ctx, s.readQuerier(), func(row scanner) (alert.DeliveryStatus, error) {
		d := alert.DeliveryStatus{Event: event, Seq: seq}
		var next, finished int64
		err := row.Scan(&d.Endpoint, &d.State, &d.Attempts, &next, &finished)
		if d.FinishedAt = fromMicros(finished); d.State == alert.Pending {
			d.NextAt = fromMicros(next)
		}
		return d, err
	}, `SELECT d.endpoint_id, d.state, d.attempts, d.next_at, d.finished_at FROM delivery d
		WHERE d.partner_id = $1 AND d.seq = $2 AND `+atEndpoints+` ORDER BY d.endpoint_id`, partnerNumber(id), seq)
}

// atEndpoints are the deliveries of partner $1 whose endpoint there still is. Named one by one, they are looked up by their key; joined to
// the endpoints, SQLite reads all deliveries of the partner for those of one event.
const atEndpoints = `d.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1)`

// ListAttempts returns every logged try of an event, in order.
func (s Alerts) ListAttempts(ctx context.Context, id partner.ID, event alert.EventID) ([]alert.AttemptLog, error) {
	seq, err := s.eventSeq(ctx, s.readQuerier(), id, event)
	if err != nil {
		return nil, err
	}
	list, err := collectRows(ctx, s.readQuerier(), func(row scanner) (alert.AttemptLog, error) {
		var a alert.AttemptLog
		var at, status, duration int64
		var worker, failure string
		var sealed []byte
		if err := row.Scan(&a.Endpoint, &at, &worker, &status, &failure, &duration, &sealed); err != nil {
			return a, err
		}
		a.At, a.Status, a.Failure, a.Duration = fromMicros(at), int(status), webhook.Failure(failure), time.Duration(duration)*time.Microsecond
		if sealed != nil {
			plain, err := s.keys.Unseal(attemptPlace(string(id), string(a.Endpoint), strconv.FormatInt(seq, 10), strconv.FormatInt(at, 10), worker), sealed)
			if err != nil {
				return a, fmt.Errorf("open answer: %w", err)
			}
			a.Answer = string(plain)
		}
		return a, nil
	}, `SELECT a.endpoint_id, a.at, a.worker, a.status, a.failure, a.duration, a.answer FROM attempt a
		WHERE a.partner_id = $1 AND a.seq = $2 AND a.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1)`, partnerNumber(id), seq)
	if err != nil {
		return nil, err
	}
	folded, err := collectRows(ctx, s.readQuerier(), func(row scanner) (alert.AttemptLog, error) {
		var endpoint alert.EndpointID
		var tried []byte
		err := row.Scan(&endpoint, &tried)
		a := decodeAttempt(tried)
		a.Endpoint = endpoint
		return a, err
	}, `SELECT d.endpoint_id, d.tried FROM delivery d WHERE d.partner_id = $1 AND d.seq = $2 AND `+atEndpoints+` AND d.tried IS NOT NULL`, partnerNumber(id), seq)
	list = append(list, folded...)
	sortByTime(list)
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
func (c core) seqRange(ctx context.Context, q querier, id partner.ID, from, to time.Time) (first, last int64, err error) {
	first, last = 0, math.MaxInt64
	if !from.IsZero() {
		err = q.QueryRowContext(ctx, `SELECT coalesce((SELECT seq FROM event WHERE partner_id = $1 AND created_at >= $2 ORDER BY created_at, seq LIMIT 1), $3)`,
			partnerNumber(id), toMicros(from.Add(-outOfOrder)), int64(math.MaxInt64)).Scan(&first)
	}
	if err == nil && !to.IsZero() {
		err = q.QueryRowContext(ctx, `SELECT coalesce((SELECT seq FROM event WHERE partner_id = $1 AND created_at < $2 ORDER BY created_at DESC, seq DESC LIMIT 1), 0)`,
			partnerNumber(id), toMicros(to.Add(outOfOrder))).Scan(&last)
	}
	return first, last, classifyError(wrapError("find events of a time", err))
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
	endpoints, err := collectRows(ctx, q, func(row scanner) (e alert.EndpointReport, err error) { return e, row.Scan(&e.Endpoint, &e.State) },
		`SELECT id, state FROM endpoint WHERE partner_id = $1 ORDER BY created_at, id`, partnerNumber(id))
	if err != nil {
		return alert.Report{}, fmt.Errorf("report events: %w", err)
	}
	tally := alert.NewTally(of, pulled, endpoints)
	from, to := timeWindow(of.From, of.To)
	for after, more := max(of.After, first-1), true; ; {
		args, most := []any{partnerNumber(id), after, last, from, to}, tally.Remaining(reportAtOnce)
		if !more || most == 0 {
			return s.finishReport(ctx, id, tally, more, args)
		}
		rows, err := collectRows(ctx, q, scanSentEvent, `SELECT e.seq, e.created_at, e.type, coalesce(d.endpoint_id, ''), coalesce(d.state, '')
			FROM (SELECT partner_id, seq, created_at, type FROM event WHERE partner_id = $1 AND seq > $2 AND seq <= $3 AND created_at >= $4 AND created_at < $5
				AND type <> 'webhook.test' ORDER BY seq LIMIT $6) e
			LEFT JOIN delivery d ON d.partner_id = e.partner_id AND d.seq = e.seq AND d.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1)
			ORDER BY e.seq`, append(args, most)...)
		if err != nil {
			return alert.Report{}, fmt.Errorf("report events: %w", err)
		}
		var read int64
		read, after = tally.AddEvents(rows)
		more = read == most
	}
}

// scanSentEvent reads an event with one of its deliveries.
func scanSentEvent(row scanner) (e alert.Sent, err error) {
	var at int64
	err = row.Scan(&e.Seq, &at, &e.Type, &e.Endpoint, &e.State)
	e.At = fromMicros(at)
	return e, err
}

// finishReport names the first of what is missing. Where as many events were looked at as should be, it asks whether there
// are more.
func (s Alerts) finishReport(ctx context.Context, id partner.ID, tally *alert.Tally, more bool, rest []any) (alert.Report, error) {
	q := s.readQuerier()
	if more {
		err := q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM event WHERE partner_id = $1 AND seq > $2 AND seq <= $3 AND created_at >= $4 AND created_at < $5
				AND type <> 'webhook.test')`, rest...).Scan(&more)
		if err != nil {
			return alert.Report{}, classifyError(fmt.Errorf("report events: %w", err))
		}
	}
	r, oldest := tally.FinishReport(more)
	if len(oldest) == 0 {
		return r, nil
	}
	var err error
	args := []any{partnerNumber(id)}
	r.Oldest, err = collectRows(ctx, q, s.scanKeptEvent(id), `SELECT `+keptColumns+` FROM event WHERE partner_id = $1 AND seq IN (`+appendSeqMarks(&args, oldest)+`)
		ORDER BY seq`, args...)
	return r, err
}

var _ message.Store = Alerts{}

// templateColumns are those that scanning a message text expects, in its order.
const templateColumns = `partner_id, event, channel, lang, subject, body, mac`

// scanTemplate reads a template and checks its MAC, which covers the partner.
func (c core) scanTemplate(row scanner) (t checked[message.Template], err error) {
	var id partner.ID
	var mac []byte
	v := &t.value
	err = row.Scan(scanPartnerID(&id), &v.Event, &v.Channel, &v.Language, &v.Subject, &v.Text, &mac)
	t.row = fmt.Sprintf("message_template %s/%s/%s/%s", id, v.Event, v.Channel, v.Language)
	t.forged = !c.isGenuine("message_template", templateGrant(id, *v), mac)
	return t, err
}

// ListTemplates returns the operator's texts for a partner; without one, those for everybody, kept under the number 0. A forged
// one is left out: the built-in text takes its place.
func (s Alerts) ListTemplates(ctx context.Context, id partner.ID) ([]message.Template, error) {
	list, err := collectGenuine(ctx, s.readQuerier(), s.scanTemplate, `SELECT `+templateColumns+` FROM message_template WHERE partner_id = $1
		ORDER BY event, channel, lang`, partnerNumber(id))
	return list, wrapError("read messages", err)
}

// KeepTemplate stores a text over the one that was there.
func (s Alerts) KeepTemplate(ctx context.Context, id partner.ID, t message.Template) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if id != "" {
			if _, err := s.partnerByID(ctx, tx, id); err != nil {
				return err
			}
		}
		return execStatement(ctx, tx, "keep message", `INSERT INTO message_template (partner_id, event, channel, lang, subject, body, changed_at, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (partner_id, event, channel, lang)
			DO UPDATE SET subject = excluded.subject, body = excluded.body, changed_at = excluded.changed_at, mac = excluded.mac`,
			partnerNumber(id), string(t.Event), string(t.Channel), string(t.Language), t.Subject, t.Text, toMicros(s.now()),
			s.grantMAC("message_template", templateGrant(id, t)))
	})
}

// DropTemplate deletes a text.
func (s Alerts) DropTemplate(ctx context.Context, id partner.ID, k message.Key) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		n, err := rowsAffected(tx.ExecContext(ctx, `DELETE FROM message_template WHERE partner_id = $1 AND event = $2 AND channel = $3 AND lang = $4`,
			partnerNumber(id), string(k.Event), string(k.Channel), string(k.Language)))
		if err != nil {
			return fmt.Errorf("drop message: %w", err)
		}
		if n == 0 {
			return message.ErrUnchanged
		}
		return nil
	})
}

// GetEvent returns one event of a partner.
func (s Alerts) GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error) {
	e, err := s.scanKeptEvent(id)(s.readQuerier().QueryRowContext(ctx, `SELECT `+keptColumns+` FROM event WHERE partner_id = $1 AND id = $2`, partnerNumber(id), string(event)))
	return e, readError("read event", err, alert.ErrEventNotFound)
}

// PartnerName returns a partner's name.
func (s Alerts) PartnerName(ctx context.Context, id partner.ID) (string, error) {
	p, err := s.partnerByID(ctx, s.readQuerier(), id)
	return p.Name, err
}

// BreachTitle returns a breach's title; empty where there is none.
func (s Alerts) BreachTitle(ctx context.Context, name string) (string, error) {
	b, err := s.scanBreach(s.readQuerier().QueryRowContext(ctx, `SELECT `+breachColumns+` FROM breach b WHERE b.name = $1`, name))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", classifyError(fmt.Errorf("read breach: %w", err))
	}
	return b.Title, nil
}

// FindPlanName returns a plan's name; empty where there is none.
func (s Alerts) FindPlanName(ctx context.Context, id partner.ID, planID plan.ID) (string, error) {
	p, err := s.readPlan(ctx, s.readQuerier(), id, planID)
	if errors.Is(err, plan.ErrNotFound) || errors.Is(err, ErrForged) {
		return "", nil
	}
	return p.Name, err
}
