package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// DeliveryList returns a page of the deliveries in a state that fit: finished ones latest first, others by endpoint, oldest
// first. The index knows state and end; the partner of a delivered one and types are sifted.
func (s Overview) DeliveryList(ctx context.Context, f alert.DeliveryFilter) ([]alert.Listed, alert.DeliveryMark, error) {
	var c conditions
	c.text = ` AND d.state = '` + string(f.State) + `'` // a constant of ours: the indexes are for one state each
	order, over := ` ORDER BY d.partner_id, d.endpoint_id, d.seq`, f.State == alert.Delivered || f.State == alert.DeliveryFailed
	if over {
		c.text += ` AND d.finished_at > 0`
		c.addPeriod(`d.finished_at`, f.From, f.To)
		order = ` ORDER BY d.finished_at DESC, d.partner_id DESC, d.endpoint_id DESC, d.seq DESC`
	}
	if f.Partner != "" && f.State != alert.Delivered {
		c.addCondition(`d.partner_id = `, partnerNumber(f.Partner))
	}
	if f.User != "" {
		if err := s.deliveriesOf(ctx, &c, f); err != nil {
			return nil, alert.DeliveryMark{}, err
		}
		order = strings.Replace(order, `d.finished_at`, `d.finished_at + 0`, 1) // a person has few: no index is walked for its order
	}
	if m := f.Before; m.Endpoint != "" {
		switch {
		case over:
			c.addPast(`d.finished_at, d.partner_id, d.endpoint_id, d.seq`, `<`, toMicros(m.At), partnerNumber(m.Partner), string(m.Endpoint), m.Seq)
		case f.Partner != "": // or SQLite begins at the partner's first
			c.addPast(`d.endpoint_id, d.seq`, `>`, string(m.Endpoint), m.Seq)
		default:
			c.addPast(`d.partner_id, d.endpoint_id, d.seq`, `>`, partnerNumber(m.Partner), string(m.Endpoint), m.Seq)
		}
	}
	look := f.Limit
	if f.User == "" && (f.Partner != "" && f.State == alert.Delivered || f.Type != "" || f.Endpoint != "") {
		look = max(f.Limit, looks)
	}
	kept, last, more, err := collectPage(ctx, s.readQuerier(), f.Limit, look, func(l alert.Listed) bool {
		return (f.Partner == "" || l.Partner == f.Partner) && (f.Type == "" || l.Type == f.Type) && (f.Endpoint == "" || l.Endpoint == f.Endpoint)
	}, func(row scanner) (alert.Listed, error) {
		var l alert.Listed
		var attempts, next, finished, created int64
		err := row.Scan(scanPartnerID(&l.Partner), &l.Endpoint, &l.Event, &l.Seq, &l.State, &attempts, &next, &finished, &created, &l.Type)
		l.Attempts, l.NextAt, l.FinishedAt, l.CreatedAt = int(attempts), fromMicros(next), fromMicros(finished), fromMicros(created)
		return l, err
	}, `SELECT d.partner_id, d.endpoint_id, d.event_id, d.seq, d.state, d.attempts, d.next_at, d.finished_at, d.created_at,
		coalesce((SELECT e.type FROM event e WHERE e.partner_id = d.partner_id AND e.seq = d.seq), '')
		FROM delivery d WHERE true`+c.text+order+c.addLimit(look+1), c.args...)
	if err != nil {
		return nil, alert.DeliveryMark{}, fmt.Errorf("list deliveries: %w", err)
	}
	if !more {
		return kept, alert.DeliveryMark{}, nil
	}
	return kept, alert.DeliveryMark{At: last.FinishedAt, Partner: last.Partner, Endpoint: last.Endpoint, Seq: last.Seq}, nil
}

// deliveriesOf leaves those of events about a person: the events by their index, and their deliveries by the key.
func (s Overview) deliveriesOf(ctx context.Context, c *conditions, f alert.DeliveryFilter) error {
	u, err := s.findUser(ctx, s.readQuerier(), f.Partner, f.User)
	if err != nil {
		return err
	}
	c.args = append(c.args, partnerNumber(f.Partner), u.write, u.other)
	n := len(c.args)
	at := func(back int) string { return `$` + strconv.Itoa(n-back) }
	c.text += ` AND d.partner_id = ` + at(2) + ` AND d.endpoint_id IN (SELECT p.id FROM endpoint p WHERE p.partner_id = ` + at(2) + `)
		AND d.seq IN (SELECT v.seq FROM event v WHERE v.partner_id = ` + at(2) + ` AND v.person IN (` + at(1) + `, ` + at(0) + `))`
	return nil
}

// ListEvents returns a page of a partner's events that fit, without their bodies, and the number that the next goes on from; 0
// at the end. Types are sifted, and times within the numbers between which they lie.
func (s Overview) ListEvents(ctx context.Context, id partner.ID, f alert.EventFilter) ([]alert.Kept, int64, error) {
	c := conditions{args: []any{partnerNumber(id)}}
	if f.User != "" {
		u, err := s.findUser(ctx, s.readQuerier(), id, f.User)
		if err != nil {
			return nil, 0, err
		}
		c.addEither(`person`, u.write, u.other)
	}
	column := `seq`
	if f.User != "" {
		column = byPerson + column
	}
	order := ` ORDER BY ` + column + ` DESC`
	switch {
	case f.OldestFirst:
		order = ` ORDER BY ` + column
		c.addCondition(`seq > `, f.After)
	case f.After > 0:
		c.addCondition(`seq < `, f.After)
	}
	if f.User == "" && !(f.From.IsZero() && f.To.IsZero()) {
		first, last, err := s.seqRange(ctx, s.readQuerier(), id, f.From, f.To)
		if err != nil {
			return nil, 0, err
		}
		c.addCondition(`seq >= `, first)
		c.addCondition(`seq <= `, last)
	}
	look := f.Limit
	if f.Type != "" || !f.From.IsZero() || !f.To.IsZero() {
		look = max(f.Limit, looks)
	}
	kept, last, more, err := collectPage(ctx, s.readQuerier(), f.Limit, look, func(e alert.Kept) bool {
		return (f.Type == "" || e.Type == f.Type) && !e.At.Before(f.From) && (f.To.IsZero() || e.At.Before(f.To))
	}, func(row scanner) (alert.Kept, error) {
		var e alert.Kept
		var created int64
		err := row.Scan(&e.ID, &e.Seq, &e.Type, &created)
		e.At = fromMicros(created)
		return e, err
	}, `SELECT id, seq, type, created_at FROM event WHERE partner_id = $1`+c.text+order+c.addLimit(look+1), c.args...)
	if err != nil {
		return nil, 0, fmt.Errorf("list events: %w", err)
	}
	if !more {
		return kept, 0, nil
	}
	return kept, last.Seq, nil
}
