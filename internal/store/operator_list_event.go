package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

func (s Overview) GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error) {
	return Alerts(s).GetEvent(ctx, id, event)
}

// ListEvents returns a page of a partner's events that fit, without their bodies, and the number that the next goes on
// from; 0 at the end. Types are sifted, and times within the numbers between which they lie.
func (s Overview) ListEvents(ctx context.Context, id partner.ID, f alert.EventFilter) ([]alert.Kept, int64, error) {
	c := conditions{args: []any{id}}
	if err := s.addPerson(ctx, &c, `person`, id, f.User); err != nil {
		return nil, 0, err
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
	look := rowsToLook(f.Limit, f.Type != "" || !f.From.IsZero() || !f.To.IsZero())
	fits := func(e alert.Kept) bool {
		return (f.Type == "" || e.Type == f.Type) && !e.At.Before(f.From) && (f.To.IsZero() || e.At.Before(f.To))
	}
	mark := func(e alert.Kept) int64 { return e.Seq }
	scan := func(row scanner, e *alert.Kept) error { return row.Scan(&e.ID, &e.Seq, &e.Type, &e.At) }
	return collectPage(ctx, s.readQuerier(), f.Limit, look, fits, mark, scan,
		`SELECT id, seq, type, created_at FROM event WHERE partner_id = $1`+c.text+order+c.addLimit(look+1),
		c.args...,
	)
}
