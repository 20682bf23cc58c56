package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subscription"
)

var personColumns = []string{"partner_id", "cpf", "user_256", "user_512", "created_at"}

// copyTables makes copies of the two tables that a bulk request fills, indexes included. They begin with what the
// originals hold, so that both sides meet trees of one depth.
func (b *bench) copyTables(ctx context.Context) {
	for _, m := range load.Must(store.MigrationList()) {
		for _, table := range []string{"subscription", "person"} {
			for _, st := range copied(m.SQL, table) {
				site.Exec(ctx, b.db, st)
			}
		}
	}
	site.Exec(ctx, b.db, `INSERT INTO raw_subscription SELECT * FROM subscription`)
	site.Exec(ctx, b.db, `INSERT INTO raw_person SELECT * FROM person`)
}

var comment = regexp.MustCompile(`--[^\n]*`)

// copied has the statements of a migration that concern a table, renamed to a copy of it.
func copied(schema, table string) (list []string) {
	for _, st := range strings.Split(comment.ReplaceAllString(schema, ""), ";") {
		if name, dropped := strings.CutPrefix(strings.TrimSpace(st), "DROP INDEX "+table+"_"); dropped {
			list = append(list, "DROP INDEX raw_"+table+"_"+name)
			continue
		}
		at := strings.Index(st, "CREATE ")
		if at < 0 {
			continue
		}
		st = st[at:]
		if strings.HasPrefix(st, "CREATE TABLE "+table+" (") || strings.Contains(st, " ON "+table+" (") {
			st = strings.Replace(st, "CREATE TABLE "+table, "CREATE TABLE raw_"+table, 1)
			st = strings.Replace(st, "INDEX "+table, "INDEX raw_"+table, 1)
			list = append(list, strings.Replace(st, " ON "+table, " ON raw_"+table, 1))
		}
	}
	return list
}

// rawLoad times one transaction that loads the rows of the last subscriptions and their people.
func (b *bench) rawLoad(ctx context.Context) load.Result {
	subs := b.rows(ctx, `SELECT `+strings.Join(site.SubscriptionColumns, ", ")+` FROM subscription WHERE partner_id = $1
		ORDER BY seq DESC LIMIT $2`, len(site.SubscriptionColumns))
	people := b.rows(ctx, `SELECT p.partner_id, p.cpf, p.user_256, p.user_512, p.created_at FROM subscription s
		JOIN person p ON p.partner_id = s.partner_id AND p.cpf = s.cpf WHERE s.partner_id = $1 ORDER BY s.seq DESC LIMIT $2`, len(personColumns))
	return load.Time(*items, func() {
		load.Check(b.db.InTx(ctx, func(tx *sqldb.Tx) error {
			if _, err := tx.Load(ctx, "raw_person", personColumns, backwards(people)); err != nil {
				return err
			}
			_, err := tx.Load(ctx, "raw_subscription", site.SubscriptionColumns, backwards(subs))
			return err
		}))
	})
}

// backwards hands rows over from the last to the first: they were read newest first.
func backwards(rows [][]any) func() ([]any, error) {
	i := len(rows)
	return func() ([]any, error) {
		if i--; i < 0 {
			return nil, nil
		}
		return rows[i], nil
	}
}

func (b *bench) rows(ctx context.Context, query string, columns int) (list [][]any) {
	found := load.Must(b.db.Reader().QueryContext(ctx, query, b.Partner.ID.Number(), *items))
	defer func() { _ = found.Close() }()
	for found.Next() {
		row, dest := make([]any, columns), make([]any, columns)
		for i := range row {
			dest[i] = &row[i]
		}
		load.Check(found.Scan(dest...))
		list = append(list, row)
	}
	load.Check(found.Err())
	if len(list) != *items {
		load.Fail("the rows of the last request are not all there")
	}
	return list
}

// lists compares the deepest page with the first one of a very long list.
func (b *bench) lists(ctx context.Context) {
	begin := time.Now()
	b.FillSubscriptions(ctx, b.db, *list)
	filled := time.Since(begin)
	deepest := *list / 100
	times := b.pages(1, deepest)
	fmt.Printf("  list: %d subscriptions (made in %v), pages of 100: page 1 p50 %v, page %d p50 %v: %.2f x (bar: 3)\n",
		*list, filled.Round(time.Second), times[0], deepest, times[1], times[1].Seconds()/times[0].Seconds())
	b.midnight(ctx)
}

// pages asks for some pages in turns and returns the median of each.
func (b *bench) pages(pages ...int64) (medians []time.Duration) {
	var sides []func() load.Result
	for _, page := range pages {
		sides = append(sides, func() load.Result {
			return load.Time(1, func() { b.Ask("GET", fmt.Sprintf("/v1/subscriptions?page=%d&page_size=100", page), nil) })
		})
	}
	for _, took := range load.Turns(301, sides...) {
		medians = append(medians, load.Median(took.Elapsed()))
	}
	return medians
}

// midnight asks for pages when many have come past their date and no sweep has been by: in one run, then mixed with
// others.
func (b *bench) midnight(ctx context.Context) {
	many, middle := min(100_000, *list/4), *list/2
	day, id := int64(subscription.DayOf(time.Now()))-1, b.Partner.ID.Number()
	for _, c := range []struct {
		name, where string
		to          int64
	}{
		{"in one run", `seq > $3 AND seq <= $4`, middle + many},
		{"one in two", `seq > $3 AND seq <= $4 AND seq % 2 = 0`, middle + 2*many},
	} {
		site.Exec(ctx, b.db, `UPDATE subscription SET expiry_day = 0 WHERE partner_id = $1 AND expiry_day > 0`, id)
		site.Exec(ctx, b.db, `UPDATE subscription SET expiry_day = $2 WHERE partner_id = $1 AND `+c.where, id, day, middle, c.to)
		b.CountSubscriptions(ctx, b.db)
		times := b.pages(1, middle/100, middle/100+1, (*list-many)/100)
		fmt.Printf("  list: %d past their date and not swept, %s: page 1 p50 %v, the page before them %v, the page across %v, the last %v\n",
			many, c.name, times[0], times[1], times[2], times[3])
	}
}
