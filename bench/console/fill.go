package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

const breach, leaked = "bench", "alguem@exemplo.org"

// The services and owners of the cases.
var (
	services = []cyber.ServiceID{"sv_ajuda_phishing", "sv_recuperacao_conta", "sv_apoio_vazamento", "sv_compra_segura"}
	desk     = []string{"", "bruna@exemplo.com.br", "caio@exemplo.com.br"}
)

// fill makes one of each through the rules and copies of it by loading rows, each sealed for its own place. A folder
// that was filled before is left as it is.
func fill(ctx context.Context, s *site.Service) {
	if s.Credentials.APIKey == "" {
		return
	}
	db := s.DB(ctx)
	s.Import(ctx, 2)
	s.FillSubscriptions(ctx, db, *subscriptions)
	fillFindings(ctx, s, db, *findings)
	fillCases(ctx, s, db, *cases)
	fillEvents(ctx, s, db, *events)
	load.Must(s.Endpoints.Issue(ctx, s.Partner.ID, cyber.DeviceRequest{User: "ana", System: cyber.Android, Name: "Celular"}))
}

// watchFirst has the first person found in the breach, by the rules: copies have no page of their own.
func watchFirst(ctx context.Context, s *site.Service) {
	load.Check(s.Leaks.Library.Load(ctx))
	user := client.UserHash(site.CPF(1), load.Must(s.Store.Partners.Salt(ctx, s.Partner.ID)))
	owner := cyber.Owner{Partner: s.Partner.ID, Mode: s.Partner.Mode}
	load.Check(s.Monitoring.Watch(ctx, owner, partner.UserHash(user), "email", leaked))
}

// fillCases makes so many open cases, a third of them late, and half as many that were resolved.
func fillCases(ctx context.Context, s *site.Service, db *sqldb.DB, open int64) {
	n := open * 3 / 2
	names, at, id := site.Names(n), site.Spread(n), s.Partner.ID.Number()
	target := cyber.DefaultTarget.Microseconds()
	plain := []byte(`{"user":"` + strings.Repeat("ab", 32) + `"}`)
	statuses := []cyber.CaseStatus{cyber.CaseOpen, cyber.CaseInProgress, cyber.CaseResolved}
	columns := "id partner_id user_index service_id status assignee details target clock_used clock_since due_at created_at changed_at rating"
	site.LoadRows(ctx, db, "support_case", columns, 1, n, func(i int64) ([]any, error) {
		name, created := "cs_"+names[i], at(i)
		since, due, used := created, created+10*target, int64(0)
		if status := statuses[i%3]; status == cyber.CaseResolved {
			since, due, used = 0, int64(math.MaxInt64), target*(i%10)/8
		}
		details, err := s.Keys.Seal(s.Place("support_case", "details", name), plain)
		return []any{
			name, id, fmt.Appendf(nil, "%016d", i), string(services[i%4]), string(statuses[i%3]), desk[i/3%3], details, 10 * target, used, since, due, created, created, int64(0),
		}, err
	})
	columns = "partner_id case_id number kind from_status to_status actor moved_at"
	site.LoadRows(ctx, db, "case_move", columns, 1, 2*n, func(i int64) ([]any, error) {
		of, from, to := (i+1)/2, "", cyber.CaseOpen
		if i%2 == 0 {
			from, to = string(cyber.CaseOpen), statuses[of%3]
		}
		return []any{id, "cs_" + names[of], 2 - i%2, "", from, string(to), desk[1], at(of)}, nil
	})
}

// fillEvents makes a webhook and so many events: nine in ten arrived, the others failed or wait.
func fillEvents(ctx context.Context, s *site.Service, db *sqldb.DB, n int64) {
	hook := load.Must(s.Webhooks.Create(ctx, s.Partner.ID, "https://banco.exemplo.com.br/", nil, anywhere{}))
	names, at, id := site.Names(n), site.Spread(n), s.Partner.ID.Number()
	plain := []byte(`{"type":"monitoring.leak_detected","data":{"userHash":"` + strings.Repeat("ab", 32) + `"}}`)
	site.LoadRows(ctx, db, "event", "seq created_at partner_id id type person body", 1, n, func(i int64) ([]any, error) {
		name := "evt_" + names[i]
		body, err := s.Keys.Seal(s.Place("event", "body", name), plain)
		return []any{i, at(i), id, name, "monitoring.leak_detected", fmt.Appendf(nil, "%016d", i), body}, err
	})
	columns := "seq attempts next_at created_at finished_at partner_id ordered endpoint_id event_id person state"
	site.LoadRows(ctx, db, "delivery", columns, 1, n, func(i int64) ([]any, error) {
		state, finished, next := "delivered", at(i)+300_000, at(i)
		switch i % 20 {
		case 7:
			state = "failed"
		case 13:
			state, finished, next = "pending", 0, at(i)+1e15
		}
		return []any{i, int64(1), next, at(i), finished, id, false, string(hook.ID), "evt_" + names[i], fmt.Appendf(nil, "%016d", i), state}, nil
	})
	site.Exec(ctx, db, `INSERT INTO event_counter (partner_id, last) VALUES ($1, $2) ON CONFLICT (partner_id) DO UPDATE SET last = $2`, id, n)
}

// anywhere lets every address pass: nothing is sent.
type anywhere struct{}

func (anywhere) CheckURL(context.Context, string) error { return nil }

// fillFindings makes a breach through the rules, then values that it holds, spread over thirty days; every tenth is
// resolved.
func fillFindings(ctx context.Context, s *site.Service, db *sqldb.DB, n int64) {
	dump := filepath.Join(s.Data, "dump.txt")
	load.Check(os.WriteFile(dump, []byte(leaked+"\n"), 0o600))
	load.Must(s.ImportBreach(ctx, intake.Spec{Inputs: load.Must(intake.Inputs(ctx, nil, []string{dump})), Breach: cyber.Breach{
		Name: breach, Title: "Vazamento de bancada", Kind: cyber.SourceBreach, Exposes: []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword},
		Date: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	}}))
	names, at := s.FillValues(ctx, db, n, "comprometido"), site.Spread(n)
	columns := "id partner_id asset_id breach quiet found_at resolution resolved_at"
	site.LoadRows(ctx, db, "finding", columns, 1, n, func(i int64) ([]any, error) {
		resolution, resolved := "", int64(0)
		if i%10 == 0 {
			resolution, resolved = "other", at(i)
		}
		return []any{"fd_" + names[i], s.Partner.ID.Number(), "as_" + names[i], breach, false, at(i), resolution, resolved}, nil
	})
}
