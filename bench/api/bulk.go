package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// bulk compares requests with raw loads of the very rows that the request before stored, into another installation: it
// has the same tables and indexes, and both grow alike.
func bulk(ctx context.Context, s *site.Service) {
	other := site.New(ctx, s.Data+"-raw", s.String())
	defer other.Close()
	from, raw, sent := s.DB(ctx), other.DB(ctx), 0
	request := func() load.Result {
		sent += *items
		body := site.Items(sent-*items, sent, site.Item)
		return load.Time(*items, func() { s.Ask("POST", list, body) })
	}
	request()
	load.Compare(fmt.Sprintf("%v, bulk of %d items", s, *items), "rows/s", load.Result.Rate,
		load.Side{Name: "raw load", Run: func() load.Result {
			people, subscriptions := stored(ctx, from, s.Partner.ID.Number(), "person"), stored(ctx, from, s.Partner.ID.Number(), "subscription")
			return load.Time(*items, func() {
				load.Check(raw.InTx(ctx, func(tx *sqldb.Tx) error { return errors.Join(people.write(ctx, tx), subscriptions.write(ctx, tx)) }))
			})
		}},
		load.Side{Name: "request", Run: request, Least: 0.4})
}

// rows are what a request stored in one of the tables that it fills.
type rows struct {
	table   string
	columns []string
	list    [][]any
}

// stored reads the rows of the last request.
func stored(ctx context.Context, db *sqldb.DB, id int64, table string) rows {
	found := load.Must(db.Reader().QueryContext(ctx, `SELECT `+table+`.* FROM subscription
		JOIN person ON person.partner_id = subscription.partner_id AND person.cpf = subscription.cpf
		WHERE subscription.partner_id = $1 AND seq > (SELECT last FROM subscription_counter WHERE partner_id = $1) - $2 ORDER BY seq`, id, *items))
	defer func() { _ = found.Close() }()
	r := rows{table: table, columns: load.Must(found.Columns())}
	for found.Next() {
		row, to := make([]any, len(r.columns)), make([]any, len(r.columns))
		for i := range row {
			to[i] = &row[i]
		}
		load.Check(found.Scan(to...))
		for i, v := range row {
			if bytes, ok := v.([]byte); ok && bytes == nil {
				row[i] = []byte{} // an empty one, which would be written as none
			}
		}
		r.list = append(r.list, row)
	}
	if load.Check(found.Err()); len(r.list) != *items {
		load.Fail("%d of %d rows of the last request are there", len(r.list), *items)
	}
	return r
}

func (r rows) write(ctx context.Context, tx *sqldb.Tx) error {
	at := -1
	_, err := tx.Load(ctx, r.table, r.columns, func() ([]any, error) {
		if at++; at == len(r.list) {
			return nil, nil
		}
		return r.list[at], nil
	})
	return err
}
