// Command console measures how fast the operator's pages answer on a long-lived installation: SQLite with millions of
// subscriptions, a million findings and a hundred thousand open cases. Every page is asked in turns, through HTTP, with
// a session. The figures that pages show are counted beside them, and that is measured too.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/web/console"
)

var (
	subscriptions = flag.Int64("subscriptions", 5_000_000, "subscriptions of one partner")
	findings      = flag.Int64("findings", 1_000_000, "findings, one for each watched value")
	cases         = flag.Int64("cases", 100_000, "open cases; half as many are resolved")
	events        = flag.Int64("events", 300_000, "events, each with a delivery")
	data          = flag.String(
		"data",
		"",
		"folder to fill or, when it is filled, to use again; by default one that is removed afterwards",
	)
)

func main() { load.Main("rounds=21", load.Step{Name: "pages", Run: measure}) }

func measure(ctx context.Context) {
	if *data == "" {
		*data = load.Folder()
	}
	s := site.Open(ctx, config.Common{Data: *data})
	made := load.Time(1, func() { fill(ctx, s); watchFirst(ctx, s) })
	fmt.Printf("       %d subscriptions, %d watched values with a finding each, %d open cases, %d events, made in %v\n",
		*subscriptions, *findings, *cases, *events, made.Elapsed.Round(time.Second))
	counted := load.Time(1, func() { load.Check(s.Store.Overview.CountFigures(ctx, 0)) })
	fmt.Printf(
		"       the figures counted anew in %v, beside the pages and once a minute\n",
		counted.Elapsed.Round(time.Millisecond),
	)
	s.Listen(ctx, "console", 8)
	s.Console.Header = "Cookie: " + session(ctx, s)
	ask(ctx, s, pages(ctx, s))
}

// session makes an operator who is logged in.
func session(ctx context.Context, s *site.Service) string {
	const password = "girafa amarela no telhado"
	_, link, err := s.Operators.CreateOperator(
		ctx,
		fmt.Sprintf("bench%d@exemplo.com.br", time.Now().UnixNano()),
		operator.Admin,
	)
	load.Check(err)
	o, token := load.Must2(s.Operators.AcceptInvitation(ctx, link, password, "127.0.0.1"))
	o = load.Must(s.Operators.BeginTOTP(ctx, o.ID))
	load.Must(s.Operators.ConfirmTOTP(ctx, o.ID, operator.AuthenticatorCode(o.TOTP, time.Now())))
	return (&http.Cookie{Name: "__Host-vigia", Value: token}).String()
}

// bar is what 95 of 100 answers of each page have to keep.
const bar = 100 * time.Millisecond

// ask takes the pages in turns, so that whatever else the machine does falls on all of them.
func ask(ctx context.Context, s *site.Service, pages []page) {
	var sides []func() load.Result
	for _, page := range pages {
		sides = append(sides, func() load.Result {
			return load.Time(1, func() {
				// A page that sends to the log-in is no answer; a search sends to what it found.
				if status, _ := page.send(
					ctx,
					s.Console,
				); status != http.StatusOK &&
					(page.form == nil || status != http.StatusSeeOther) {
					load.Fail("%s answered %d", page.path, status)
				}
			})
		})
	}
	over, worst, unit := 0, time.Duration(0), 10*time.Microsecond
	for i, took := range load.Turns(load.Rounds, sides...) {
		all := took.Took()
		late := load.Percentile(all, 95)
		if worst = max(worst, late); late >= bar {
			over++
		}
		load.Bar(
			late < bar,
			"%-34s p50 %8v  p95 %8v  slowest of %d %8v",
			pages[i].name,
			load.Median(all).Round(unit),
			late.Round(unit),
			load.Rounds,
			slices.Max(all).Round(unit),
		)
	}
	fmt.Printf(
		"       %d of %d pages over the bar of %v; the slowest p95 is %v\n",
		over,
		len(pages),
		bar,
		worst.Round(unit),
	)
}

// send asks for a page or posts a form, and returns the status and where the answer leads.
func (p page) send(ctx context.Context, to load.Server) (status int, location string) {
	method, body := http.MethodGet, []byte(nil)
	if p.form != nil {
		method, body = http.MethodPost, []byte(p.form.Encode())
	}
	status, header, _ := to.Do(ctx, method, p.path, body, "Content-Type: application/x-www-form-urlencoded")
	return status, header.Get("Location")
}

// page is something that an operator asks for.
type page struct {
	name, path string
	form       url.Values // what is posted; nil for a page
}

// unasked are the routes that show no page of a session.
var unasked = map[string]string{
	"/login":             "before a session",
	"/secret":            "only after something secret was made",
	"/link/{token}":      "before a session",
	"/second-factor":     "before a session is whole",
	"/jobs/{id}/events":  "a stream",
	"/content/export":    "a file",
	"/exports/{id}":      "a file",
	"/subjects/erasures": "a file",
}

// pages are a search and every page that the console has a route for, those of the long tables in several ways. A route
// of which nobody says what to put into it is an error.
func pages(ctx context.Context, s *site.Service) []page {
	person, ask := found(ctx, s, site.CPF(1)), queries(string(s.Partner.ID))
	names := names(ctx, s, person)
	list := []page{
		{"POST /search for a CPF", "/search", url.Values{"q": {site.CPF(1)}}},
		{"POST /search for an e-mail", "/search", url.Values{"q": {"ninguem@exemplo.org"}}},
	}
	for _, p := range console.ListPages() {
		if p.Method != http.MethodGet || unasked[p.Path] != "" {
			continue
		}
		path, ways := names.Replace(p.Path), ask[p.Path]
		if strings.Contains(path, "{") {
			load.Fail("nobody says what to ask of %s", p.Path)
		}
		if ways == nil {
			ways = []string{""}
		}
		for _, query := range ways {
			list = append(list, page{strings.ReplaceAll(p.Path+query, string(s.Partner.ID), "..."), path + query, nil})
		}
	}
	return list
}

// names puts things that are there into the addresses of routes.
func names(ctx context.Context, s *site.Service, person string) *strings.Replacer {
	id := string(s.Partner.ID)
	devices, _ := load.Must2(s.Endpoints.ListPartnerDevices(ctx, s.Partner.ID))
	events, _ := load.Must2(s.Store.Overview.ListEvents(ctx, s.Partner.ID, alert.EventFilter{Limit: 1}))
	hits, _ := load.Must2(s.Store.Overview.FindingList(ctx, cyber.FindingFilter{Limit: 1}))
	return strings.NewReplacer(
		"/{$}",
		"/",
		"/people/{partner}/{ref}",
		person,
		"/partners/{id}",
		"/partners/"+id,
		"{partner}",
		id,
		"{key}",
		string(load.Must(s.Partners.ListKeys(ctx, s.Partner.ID))[0].ID),
		"{endpoint}",
		string(load.Must(s.Webhooks.ListEndpoints(ctx, s.Partner.ID))[0].ID),
		"/services/{id}",
		"/services/"+string(services[0]),
		"{plan}",
		site.Plan,
		"{seq}",
		fmt.Sprint(*subscriptions/2),
		"{finding}",
		string(hits[0].Finding.ID),
		"/breaches/{name}",
		"/breaches/"+breach,
		"/cases/{id}",
		"/cases/"+string(load.Must(s.Cases.ListCases(ctx, cyber.CaseFilter{Limit: 1}))[0].ID),
		"/devices/{id}",
		"/devices/"+string(devices[0].ID),
		"/content/{id}",
		"/content/"+string(load.Must(s.Content.ListItems(ctx))[0].ID),
		"/messages/{event}/{channel}/{lang}",
		"/messages/monitoring.leak_detected/sms/pt-BR",
		"{event}",
		string(events[0].ID),
		"/operators/{id}",
		"/operators/"+string(load.Must(s.Operators.ListOperators(ctx))[0].ID),
	)
}

// queries are the ways in which some pages are asked for.
func queries(id string) map[string][]string {
	today := time.Now().Format("2006-01-02")
	return map[string][]string{
		"/{$}":                  {"", "?dias=365"},
		"/plans":                {"?partner=" + id},
		"/subscriptions":        {"?partner=" + id, fmt.Sprintf("?page=%d&partner=%s", *subscriptions*7/10/50, id)},
		"/subscriptions/import": {"?partner=" + id},
		"/subscriptions/move":   {"?partner=" + id},
		"/findings": {
			"",
			"?state=all",
			"?state=all&breach=" + breach,
			"?severity=low",
			"?sort=old&partner=" + id,
			"?state=resolved&from=2026-01-01&to=" + today,
		},
		"/monitoring": {"?status=comprometido", "?kind=cpf"},
		"/cases": {
			"",
			"?service=" + string(services[1]),
			"?owner=ninguem",
			"?owner=" + url.QueryEscape(desk[1]) + "&status=Resolvido",
		},
		"/devices":       {"?partner=" + id},
		"/events":        {"?partner=" + id, "?type=epp.key_expiring&partner=" + id},
		"/events/report": {"?partner=" + id + "&from=" + today + "T00:00&to=" + today + "T23:59"},
		"/deliveries":    {"", "?state=pending", "?state=delivered", "?state=delivered&type=epp.key_expiring"},
		"/audit":         {"", "?actor=ninguem@exemplo.org"},
		"/prove":         {"?next=/"},
	}
}

// found is the page of the person whom a search finds.
func found(ctx context.Context, s *site.Service, text string) string {
	status, path := page{path: "/search", form: url.Values{"q": {text}}}.send(ctx, s.Console)
	if status != http.StatusSeeOther || !strings.HasPrefix(path, "/people/") {
		load.Fail("the search found %q (%d)", path, status)
	}
	return path
}

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
	load.Must(
		s.Endpoints.IssueKey(
			ctx,
			s.Partner.ID,
			cyber.DeviceRequest{User: "ana", System: cyber.Android, Name: "Celular"},
		),
	)
}

// watchFirst has the first person found in the breach, by the rules: copies have no page of their own.
func watchFirst(ctx context.Context, s *site.Service) {
	load.Check(s.Leaks.Library.LoadPublished(ctx))
	user := client.UserHash(site.CPF(1), load.Must(s.Store.Partners.OpenSalt(ctx, s.Partner.ID)))
	owner := cyber.Owner{Partner: s.Partner.ID, Mode: s.Partner.Mode}
	_, err := s.Monitoring.AddAsset(
		ctx,
		cyber.AssetRequest{Owner: owner, User: partner.UserHash(user), Type: "email", Value: leaked},
	)
	load.Check(err)
}

// fillCases makes so many open cases, a third of them late, and half as many that were resolved.
func fillCases(ctx context.Context, s *site.Service, db *sqldb.DB, open int64) {
	n := open * 3 / 2
	at, id := site.Spread(n), s.Partner.ID.Number()
	target := cyber.DefaultTarget.Microseconds()
	plain := []byte(`{"user":"` + strings.Repeat("ab", 32) + `"}`)
	statuses := []cyber.CaseStatus{cyber.CaseOpen, cyber.CaseInProgress, cyber.CaseResolved}
	columns := "id partner_id user_index service_id status assignee details target clock_used clock_since due_at " +
		"created_at changed_at rating"
	site.LoadRows(ctx, db, "support_case", columns, 1, n, func(i int64) ([]any, error) {
		name, created := site.ID("cs_"), at(i)
		since, due, used := created, created+10*target, int64(0)
		if status := statuses[i%3]; status == cyber.CaseResolved {
			since, due, used = 0, int64(math.MaxInt64), target*(i%10)/8
		}
		details, err := s.Keys.Seal(s.Place("support_case", "details", name), plain)
		return []any{
			name,
			id,
			fmt.Appendf(nil, "%016d", i),
			string(services[i%4]),
			string(statuses[i%3]),
			desk[i/3%3],
			details,
			10 * target,
			used,
			since,
			due,
			created,
			created,
			int64(0),
		}, err
	})
	site.Exec(
		ctx,
		db,
		`INSERT INTO case_move (partner_id, case_id, number, kind, from_status, to_status, actor, moved_at)
		SELECT partner_id, id, 1, '', '', $1, $2, created_at FROM support_case
		UNION ALL SELECT partner_id, id, 2, '', $1, status, $2, created_at FROM support_case`,
		string(cyber.CaseOpen),
		desk[1],
	)
}

// fillEvents makes a webhook and so many events: nine in ten arrived, the others failed or wait.
func fillEvents(ctx context.Context, s *site.Service, db *sqldb.DB, n int64) {
	hook := load.Must(s.Webhooks.CreateEndpoint(ctx, s.Partner.ID, "https://banco.exemplo.com.br/", nil, anywhere{}))
	at, id := site.Spread(n), s.Partner.ID.Number()
	plain := []byte(`{"type":"monitoring.leak_detected","data":{"userHash":"` + strings.Repeat("ab", 32) + `"}}`)
	site.LoadRows(
		ctx,
		db,
		"event",
		"seq created_at partner_id id type person body",
		1,
		n,
		func(i int64) ([]any, error) {
			name := site.ID("evt_")
			body, err := s.Keys.Seal(s.Place("event", "body", name), plain)
			return []any{i, at(i), id, name, "monitoring.leak_detected", fmt.Appendf(nil, "%016d", i), body}, err
		},
	)
	site.Exec(ctx, db, `INSERT INTO delivery
		(seq, attempts, next_at, created_at, finished_at, partner_id, ordered, endpoint_id, event_id, person, state)
		SELECT seq, 1, created_at + CASE seq % 20 WHEN 13 THEN 1000000000000000 ELSE 0 END, created_at,
			CASE seq % 20 WHEN 13 THEN 0 ELSE created_at + 300000 END, partner_id, FALSE, $1, id, person,
			CASE seq % 20 WHEN 7 THEN 'failed' WHEN 13 THEN 'pending' ELSE 'delivered' END FROM event`, string(hook.ID))
	site.Exec(
		ctx,
		db,
		`INSERT INTO event_counter (partner_id, last) VALUES ($1, $2) ON CONFLICT (partner_id) DO UPDATE SET last = $2`,
		id,
		n,
	)
}

// anywhere lets every address pass: nothing is sent.
type anywhere struct{}

func (anywhere) CheckTargetURL(context.Context, string) error { return nil }

// fillFindings makes a breach through the rules, then values that it holds, spread over thirty days; every tenth is
// resolved.
func fillFindings(ctx context.Context, s *site.Service, db *sqldb.DB, n int64) {
	dump := load.File("dump.txt")
	load.Check(os.WriteFile(dump, []byte(leaked+"\n"), 0o600))
	load.Must(
		s.Leaks.Foreground.ImportBreach(
			ctx,
			intake.Spec{Inputs: load.Must(intake.ListInputs(ctx, nil, []string{dump})), Breach: cyber.Breach{
				Name:    breach,
				Title:   "Vazamento de bancada",
				Kind:    cyber.SourceBreach,
				Exposes: []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword},
				Date:    time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
			}},
		),
	)
	s.FillValues(ctx, db, 1, n, "comprometido") // the fingerprint is the number
	site.Exec(ctx, db, `INSERT INTO finding (id, partner_id, asset_id, breach, quiet, found_at, resolution, resolved_at)
		SELECT 'fd_' || substr(id, 4), partner_id, id, $1, FALSE, created_at, CASE fingerprint % 10 WHEN 0 THEN 'other' ELSE '' END,
			CASE fingerprint % 10 WHEN 0 THEN created_at ELSE 0 END FROM asset`, breach)
}
