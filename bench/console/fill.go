package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/draft"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

const breach = "bench"

type page struct{ name, path string }

// pages are those that show something of the long tables, and the first page.
func pages(id string) []page {
	return []page{
		{"overview", "/"}, {"partners", "/partners"}, {"partner", "/partners/" + id}, {"plans", "/plans?partner=" + id},
		{"subscriptions, first page", "/subscriptions?partner=" + id}, {"subscriptions, deep page", fmt.Sprintf("/subscriptions?page=%d&partner=%s", *subscriptions*7/10/50, id)},
		{"subscription", fmt.Sprintf("/subscriptions/%s/%d", id, *subscriptions/2)}, {"findings, open", "/findings"}, {"findings, all", "/findings?all=1"},
		{"findings of a breach", "/findings?all=1&breach=" + breach}, {"values, compromised", "/monitoring?status=comprometido"},
		{"values, monitored", "/monitoring?status=monitorado"}, {"breaches", "/breaches"}, {"breach", "/breaches/" + breach}, {"passwords", "/passwords"},
		{"cases", "/cases"}, {"services", "/services"}, {"devices", "/devices?partner=" + id}, {"content", "/content"}, {"feeds", "/feeds"},
		{"deliveries, failed", "/deliveries"}, {"deliveries, pending", "/deliveries?state=pending"}, {"deliveries, done", "/deliveries?state=delivered"},
		{"events", "/events?partner=" + id}, {"jobs", "/jobs"}, {"audit", "/audit"}, {"operators", "/operators"}, {"account", "/account"},
		{"subjects", "/subjects"}, {"incidents", "/incidents"}, {"sealing keys", "/keys"},
	}
}

// fill makes one of each through the rules and copies of it by loading rows, each sealed for its own place. A folder
// that was filled before is left as it is.
func fill(ctx context.Context, s *site.Service) {
	if s.Credentials.APIKey == "" {
		return
	}
	db := load.Must(sqldb.Open(ctx, s.DatabaseAddress(), sqldb.Options{}))
	defer func() { _ = db.Close() }() // the measured process has its own
	first := draft.NewJSONLines(strings.NewReader(site.Item(1)))
	report := load.Must(s.Subscriptions.Import(ctx, s.Partner, first, false, func(subscription.Reject) error { return nil }, func(subscription.ImportReport) {}))
	if report.Created != 1 {
		load.Fail("first subscription: %+v", report)
	}
	s.FillSubscriptions(ctx, db, *subscriptions)
	fillFindings(ctx, s, db, *findings)
}

// fillFindings makes a breach through the rules, then values that it holds, spread over thirty days; every tenth is
// resolved.
func fillFindings(ctx context.Context, s *site.Service, db *sqldb.DB, n int64) {
	dump := filepath.Join(s.Data, "dump.txt")
	load.Check(os.WriteFile(dump, []byte("alguem@exemplo.org\n"), 0o600))
	load.Must(s.ImportBreach(ctx, intake.Spec{Inputs: load.Must(intake.Inputs(ctx, nil, []string{dump})), Breach: cyber.Breach{
		Name: breach, Title: "Vazamento de bancada", Kind: cyber.SourceBreach, Exposes: []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword},
		Date: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	}}))
	names := make([]string, n+1)
	for i := range names {
		names[i] = load.Must(uuid.NewV7()).String()
	}
	id, now := s.Partner.ID.Number(), time.Now()
	at := func(i int64) int64 {
		return now.Add(-time.Duration(n-i) * 30 * 24 * time.Hour / time.Duration(n)).UnixMicro()
	}
	plain := []byte(`{"value":"vitima@exemplo.com.br","userHash":"` + strings.Repeat("ab", 32) + `"}`)
	columns := []string{"id", "partner_id", "user_index", "kind", "value_index", "fingerprint", "pending", "value", "status", "created_at"}
	site.LoadRows(ctx, db, "asset", columns, 1, n, func(i int64) ([]any, error) {
		name := "as_" + names[i]
		value, err := s.Keys.Seal(seal.Place{Table: "asset", Column: "value", Partner: string(s.Partner.ID), Row: name}, plain)
		return []any{name, id, fmt.Appendf(nil, "%016d", i), int64(1), fmt.Appendf(nil, "%016d", i), i, false, value, "comprometido", at(i)}, err
	})
	columns = []string{"id", "partner_id", "asset_id", "breach", "quiet", "found_at", "resolution", "resolved_at"}
	site.LoadRows(ctx, db, "finding", columns, 1, n, func(i int64) ([]any, error) {
		resolution, resolved := "", int64(0)
		if i%10 == 0 {
			resolution, resolved = "other", at(i)
		}
		return []any{"fd_" + names[i], id, "as_" + names[i], breach, false, at(i), resolution, resolved}, nil
	})
}
