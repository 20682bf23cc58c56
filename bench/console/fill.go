package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/draft"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// world is a filled installation.
type world struct {
	app     *app.App
	db      *sqldb.DB
	partner partner.Partner
	// count is how many subscriptions there are.
	count  int64
	breach string
}

type page struct{ name, path string }

// pages are those that show something of the long tables, and the first page.
func (w *world) pages() []page {
	id := string(w.partner.ID)
	return []page{
		{"overview", "/"}, {"partners", "/partners"}, {"partner", "/partners/" + id}, {"plans", "/plans?partner=" + id},
		{"subscriptions, first page", "/subscriptions?partner=" + id}, {"subscriptions, deep page", fmt.Sprintf("/subscriptions?page=%d&partner=%s", w.count*7/10/50, id)},
		{"subscription", fmt.Sprintf("/subscriptions/%s/%d", id, w.count/2)}, {"findings, open", "/findings"}, {"findings, all", "/findings?all=1"},
		{"findings of a breach", "/findings?all=1&breach=" + w.breach}, {"values, compromised", "/monitoring?status=comprometido"},
		{"values, monitored", "/monitoring?status=monitorado"}, {"breaches", "/breaches"}, {"breach", "/breaches/" + w.breach}, {"passwords", "/passwords"},
		{"cases", "/cases"}, {"services", "/services"}, {"devices", "/devices?partner=" + id}, {"content", "/content"}, {"feeds", "/feeds"},
		{"deliveries, failed", "/deliveries"}, {"deliveries, pending", "/deliveries?state=pending"}, {"deliveries, done", "/deliveries?state=delivered"},
		{"events", "/events?partner=" + id}, {"jobs", "/jobs"}, {"audit", "/audit"}, {"operators", "/operators"}, {"account", "/account"},
		{"subjects", "/subjects"}, {"incidents", "/incidents"}, {"sealing keys", "/keys"},
	}
}

// fill makes one of each through the rules and copies of it by loading rows, each sealed for its own place.
func (w *world) fill(ctx context.Context, subscriptions, findings int64) error {
	db, err := sqldb.Open(ctx, w.app.Config.DatabaseAddress(), sqldb.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // the measured process has its own
	w.db, w.breach, w.count = db, "bench", subscriptions
	all, err := w.app.Partners.Partners(ctx)
	if err != nil {
		return err
	}
	if len(all) > 0 { // filled before
		w.partner = all[0]
		return nil
	}
	if w.partner, _, err = w.app.Partners.Create(ctx, "Banco Exemplo", partner.Live, partner.Settings{}); err != nil {
		return err
	}
	_, err = w.app.Plans.Create(ctx, plan.Plan{ID: "ouro", Partner: w.partner.ID, Name: "Plano Ouro", Coverage: plan.Demo()})
	if err != nil {
		return err
	}
	if err := w.subscriptions(ctx, subscriptions); err != nil {
		return err
	}
	return w.findings(ctx, findings)
}

const oneSubscription = "plan_id;is_group_plan;start_date;name;cpf;birth_date;gender;email;phone_number;primary_card;user_card;zipcode;street;number;neighborhood;city;state\n" +
	"ouro;false;2026-01-01;Maria da Silva;52998224725;1980-02-03;F;maria@exemplo.com.br;+5511987654321;4111111111111111;4111111111111111;01310100;Avenida Paulista;1;Bela Vista;São Paulo;SP\n"

func (w *world) subscriptions(ctx context.Context, n int64) error {
	csv, err := draft.NewCSV(strings.NewReader(oneSubscription))
	if err != nil {
		return err
	}
	report, err := w.app.Subscriptions.Import(ctx, w.partner, csv, false, func(subscription.Reject) error { return nil }, func(subscription.ImportReport) {})
	if err != nil || report.Created != 1 {
		return fmt.Errorf("first subscription: %+v, %w", report, err)
	}
	place := func(seq int64) seal.Place {
		return seal.Place{Table: "subscription", Column: "body", Partner: string(w.partner.ID), Row: strconv.FormatInt(seq, 10)}
	}
	var sealed []byte
	err = w.db.Reader().QueryRowContext(ctx, `SELECT body FROM subscription WHERE partner_id = $1 AND seq = 1`, string(w.partner.ID)).Scan(&sealed)
	if err != nil {
		return err
	}
	plain, err := w.app.Keys.Unseal(place(1), sealed)
	if err != nil {
		return err
	}
	columns := []string{"partner_id", "seq", "plan_id", "cpf", "holder", "start_day", "expiry_day", "body", "created_at", "suspended_at", "ended_at"}
	err = w.load(ctx, "subscription", columns, 2, n, func(seq int64) ([]any, error) {
		body, err := w.app.Keys.Seal(place(seq), plain)
		return []any{string(w.partner.ID), seq, "ouro", fmt.Appendf(nil, "bench %010d", seq), []byte{}, int64(739648), int64(0), body, int64(1), int64(0), int64(0)}, err
	})
	if err != nil {
		return err
	}
	statements := []string{
		`DELETE FROM subscription_block WHERE partner_id = $1`,
		`UPDATE subscription_counter SET last = (SELECT max(seq) FROM subscription WHERE partner_id = $1),
			active = (SELECT count(*) FROM subscription WHERE partner_id = $1 AND ended_at = 0) WHERE partner_id = $1`,
	}
	for level, span := range []int64{128, 128 * 128, 128 * 128 * 128} {
		statements = append(statements, fmt.Sprintf(`INSERT INTO subscription_block (partner_id, level, block, active)
			SELECT partner_id, %d, seq / %d, count(*) FROM subscription WHERE partner_id = $1 AND ended_at = 0 GROUP BY partner_id, seq / %d`, level+1, span, span))
	}
	return w.db.InTx(ctx, func(tx *sqldb.Tx) error {
		for _, s := range statements {
			if _, err := tx.ExecContext(ctx, s, string(w.partner.ID)); err != nil {
				return err
			}
		}
		return nil
	})
}

// findings makes a breach through the rules, then values that it holds, spread over thirty days; every tenth is
// resolved.
func (w *world) findings(ctx context.Context, n int64) error {
	dump := filepath.Join(w.app.Config.Data, "dump.txt")
	if err := os.WriteFile(dump, []byte("alguem@exemplo.org\n"), 0o600); err != nil {
		return err
	}
	inputs, err := intake.Inputs(context.Background(), nil, []string{dump})
	if err != nil {
		return err
	}
	_, err = w.app.ImportBreach(ctx, intake.Spec{Inputs: inputs, Breach: cyber.Breach{
		Name: w.breach, Title: "Vazamento de bancada", Kind: cyber.SourceBreach, Exposes: []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword},
		Date: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	}})
	if err != nil {
		return err
	}
	names := make([]string, n+1)
	for i := range names {
		made, err := uuid.NewV7()
		if err != nil {
			return err
		}
		names[i] = made.String()
	}
	id, now := string(w.partner.ID), time.Now()
	at := func(i int64) int64 {
		return now.Add(-time.Duration(n-i) * 30 * 24 * time.Hour / time.Duration(n)).UnixMicro()
	}
	plain := []byte(`{"value":"vitima@exemplo.com.br","userHash":"` + strings.Repeat("ab", 32) + `"}`)
	columns := []string{"id", "partner_id", "user_index", "kind", "value_index", "fingerprint", "pending", "value", "status", "created_at"}
	err = w.load(ctx, "asset", columns, 1, n, func(i int64) ([]any, error) {
		name := "as_" + names[i]
		value, err := w.app.Keys.Seal(seal.Place{Table: "asset", Column: "value", Partner: id, Row: name}, plain)
		return []any{name, id, fmt.Appendf(nil, "%016d", i), int64(1), fmt.Appendf(nil, "%016d", i), i, false, value, "comprometido", at(i)}, err
	})
	if err != nil {
		return err
	}
	columns = []string{"id", "partner_id", "asset_id", "breach", "quiet", "found_at", "resolution", "resolved_at"}
	return w.load(ctx, "finding", columns, 1, n, func(i int64) ([]any, error) {
		resolution, resolved := "", int64(0)
		if i%10 == 0 {
			resolution, resolved = "other", at(i)
		}
		return []any{"fd_" + names[i], id, "as_" + names[i], w.breach, false, at(i), resolution, resolved}, nil
	})
}

// load writes rows from one number to another, in transactions that others would not mind.
func (w *world) load(ctx context.Context, table string, columns []string, from, to int64, row func(int64) ([]any, error)) error {
	const batch = 250_000
	for next := from; next <= to; {
		end := min(next+batch, to+1)
		err := w.db.InTx(ctx, func(tx *sqldb.Tx) error {
			i := next
			_, err := tx.Load(ctx, table, columns, func() ([]any, error) {
				if i == end {
					return nil, nil
				}
				i++
				return row(i - 1)
			})
			return err
		})
		if err != nil {
			return err
		}
		next = end
	}
	return nil
}
