package store

import (
	"context"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/notify/alert"
)

// DeliveryList returns a page of the deliveries in a state that fit: finished ones latest first, others by endpoint,
// oldest first. The index knows state and end; the partner of a delivered one and types are sifted.
func (s Overview) DeliveryList(
	ctx context.Context,
	f alert.DeliveryFilter,
) ([]alert.Listed, alert.DeliveryMark, error) {
	var c conditions
	c.text = ` AND d.state = '` + string(f.State) + `'` // a constant of ours: the indexes are for one state each
	order, over := ` ORDER BY d.partner_id, d.endpoint_id, d.seq`, f.State == alert.Delivered ||
		f.State == alert.DeliveryFailed
	if over {
		c.text += ` AND d.finished_at > 0`
		c.addPeriod(`d.finished_at`, f.From, f.To)
		order = ` ORDER BY d.finished_at DESC, d.partner_id DESC, d.endpoint_id DESC, d.seq DESC`
	}
	if f.Partner != "" && f.State != alert.Delivered {
		c.addCondition(`d.partner_id = `, f.Partner)
	}
	c.addLiveOnly(`d.partner_id`, f.LiveOnly)
	if f.User != "" {
		if err := s.deliveriesOf(ctx, &c, f); err != nil {
			return nil, alert.DeliveryMark{}, err
		}
		order = strings.Replace(
			order,
			`d.finished_at`,
			`d.finished_at + 0`,
			1,
		) // a person has few: no index is walked for its order
	}
	if m := f.Before; m.Endpoint != "" {
		switch {
		case over:
			c.addPastCondition(
				`d.finished_at, d.partner_id, d.endpoint_id, d.seq`,
				`<`,
				m.At,
				m.Partner,
				m.Endpoint,
				m.Seq,
			)
		case f.Partner != "": // or SQLite begins at the partner's first
			c.addPastCondition(`d.endpoint_id, d.seq`, `>`, m.Endpoint, m.Seq)
		default:
			c.addPastCondition(`d.partner_id, d.endpoint_id, d.seq`, `>`, m.Partner, m.Endpoint, m.Seq)
		}
	}
	look := rowsToLook(
		f.Limit,
		f.User == "" && (f.Partner != "" && f.State == alert.Delivered || f.Type != "" || f.Endpoint != ""),
	)
	return collectPage(ctx, s.readQuerier(), f.Limit, look, func(l alert.Listed) bool {
		return (f.Partner == "" || l.Partner == f.Partner) && (f.Type == "" || l.Type == f.Type) &&
			(f.Endpoint == "" || l.Endpoint == f.Endpoint)
	}, func(l alert.Listed) alert.DeliveryMark {
		return alert.DeliveryMark{At: l.FinishedAt, Partner: l.Partner, Endpoint: l.Endpoint, Seq: l.Seq}
	}, func(row scanner, l *alert.Listed) error {
		return row.Scan(
			&l.Partner,
			&l.Endpoint,
			&l.Event,
			&l.Seq,
			&l.State,
			&l.Attempts,
			&l.NextAt,
			&l.FinishedAt,
			&l.CreatedAt,
			&l.Type,
		)
	}, `SELECT d.partner_id, d.endpoint_id, d.event_id, d.seq, d.state, d.attempts, d.next_at, d.finished_at,
		d.created_at, coalesce((SELECT e.type FROM event e WHERE e.partner_id = d.partner_id AND e.seq = d.seq), '')
		FROM delivery d WHERE true`+c.text+order+c.addLimit(look+1),
		c.args...,
	)
}

// deliveriesOf leaves those of events about a person: the events by their index, and their deliveries by the key.
func (s Overview) deliveriesOf(ctx context.Context, c *conditions, f alert.DeliveryFilter) error {
	u, err := s.findUser(ctx, s.readQuerier(), f.Partner, f.User)
	if err != nil {
		return err
	}
	c.args = append(c.args, f.Partner, u.write, u.other)
	n := len(c.args)
	at := func(back int) string { return `$` + strconv.Itoa(n-back) }
	c.text += ` AND d.partner_id = ` + at(2) + ` AND d.endpoint_id IN (SELECT p.id FROM endpoint p
		WHERE p.partner_id = ` + at(2) + `)
		AND d.seq IN (SELECT v.seq FROM event v
		WHERE v.partner_id = ` + at(2) + ` AND v.person IN (` + at(1) + `, ` + at(0) + `))`
	return nil
}
