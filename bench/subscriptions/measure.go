package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/telemetry"
)

// bench is the service under measurement.
type bench struct {
	options
	app     *app.App
	db      *sqldb.DB // beside the app's own, for the raw sides
	api     string
	partner partner.ID
	key     string
	sent    int // people made up so far
}

const planID = "protecao"

func measure(o options, folder string) (err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	common := config.Common{Data: folder}
	if o.engine == "postgres" {
		var drop func() error
		if common.Database, drop, err = load.NewSchema(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, drop()) }()
	}
	b := &bench{options: o}
	if b.app, err = app.Open(ctx, common, sqldb.Options{}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.app.Close()) }()
	if b.db, err = sqldb.Open(ctx, common.DatabaseAddress(), sqldb.Options{StatementTimeout: time.Hour}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.db.Close()) }()
	done, err := b.start(ctx, folder)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\n", o.engine)
	for _, step := range []func(context.Context) error{b.memory, b.bulk, b.get, b.lists} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	stop()
	return <-done
}

func (b *bench) start(ctx context.Context, folder string) (<-chan error, error) {
	p, cred, err := b.app.Partners.Create(ctx, "bench", partner.Live, partner.Settings{RatePerSecond: 1_000_000, Burst: 1_000_000})
	if err != nil {
		return nil, err
	}
	b.partner, b.key = p.ID, cred.APIKey
	if _, err := b.app.Plans.Create(ctx, plan.Plan{ID: planID, Partner: p.ID, Name: "Proteção", Coverage: plan.Demo()}); err != nil {
		return nil, err
	}
	logFile, err := telemetry.OpenLogFile(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	srv, err := app.NewServer(ctx, b.app, config.Serve{
		Listen: "127.0.0.1:0", ConsoleListen: "127.0.0.1:0", Roles: []string{"api"}, MaxConnections: 16, StopTime: time.Second,
	}, telemetry.NewLogger(logFile, telemetry.LogOptions{Format: "json"}), "bench")
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	select {
	case <-srv.Ready:
	case err := <-done:
		return nil, err
	}
	b.api = srv.APIAddr.String()
	return done, nil
}

func run(ctx context.Context, db *sqldb.DB, statement string) error {
	return db.InTx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	})
}

// body makes up a bulk request of people nobody has sent before.
func (b *bench) body(items int) []byte {
	var text bytes.Buffer
	text.WriteByte('[')
	for i := range items {
		if i > 0 {
			text.WriteByte(',')
		}
		b.sent++
		fmt.Fprintf(&text, `{"start_date":"2026-02-01","expiry_date":"2099-01-31","plan_id":%q,"is_group_plan":true,"group_size":"120",`+
			`"benefit_holder":"12ABC34501DE35","beneficiary":{"primary_card":"4111111111111111","user_card":"5555555555554444",`+
			`"name":"Pessoa Inventada de Souza %d","cpf":%q,"birth_date":"1990-05-17","gender":"F","email":"pessoa.%d@exemplo.com.br",`+
			`"phone_number":"+55119%08d","address":{"zipcode":"01001000","street":"Rua das Laranjeiras","number":"%d",`+
			`"complement":"Apto 12","neighborhood":"Centro","city":"São Paulo","state":"SP"}},"partner_metadata":"{\"canal\":\"app\"}",`+
			`"partner_internal_id":"contrato-%d"}`, planID, b.sent, load.CPF(b.sent), b.sent, b.sent%100_000_000, b.sent%1000, b.sent)
	}
	text.WriteByte(']')
	return text.Bytes()
}

// post sends a bulk request and makes sure that all of it was created.
func (b *bench) post(ctx context.Context, body []byte, items int) (time.Duration, error) {
	begin := time.Now()
	answer, err := b.ask(ctx, http.MethodPost, "/v1/subscriptions", body)
	took := time.Since(begin)
	if err != nil {
		return 0, err
	}
	var outcome struct {
		Created int `json:"total_created_items"`
	}
	if err := json.Unmarshal(answer, &outcome); err != nil || outcome.Created != items {
		return 0, fmt.Errorf("created %d of %d items: %.200s (%w)", outcome.Created, items, answer, err)
	}
	return took, nil
}

func (b *bench) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	return load.Ask(ctx, method, b.api, path, "x-api-key: "+b.key, body)
}

// memory tells how far the resident set grows during one bulk request, from its state before to its highest point.
func (b *bench) memory(ctx context.Context) error {
	warm, body := b.body(10), b.body(b.items)
	if _, err := b.post(ctx, warm, 10); err != nil {
		return err
	}
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // forgets the highest point so far
		return err
	}
	before := resident("VmRSS")
	if _, err := b.post(ctx, body, b.items); err != nil {
		return err
	}
	fmt.Printf("  memory: one request of %d items, %.1f MiB: %.1f MiB more at its highest than the %.1f MiB before (bar: 64)\n",
		b.items, mib(int64(len(body))), mib(resident("VmHWM")-before), mib(before))
	return nil
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// bulk compares requests with raw loads of the rows that the requests stored.
func (b *bench) bulk(ctx context.Context) error {
	raw, err := newRawSide(ctx, b)
	if err != nil {
		return err
	}
	if b.profile != "" {
		f, err := os.Create(b.profile + "." + b.engine)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	var whole, plain []time.Duration
	for range b.rounds {
		body := b.body(b.items)
		took, err := b.post(ctx, body, b.items)
		if err != nil {
			return err
		}
		whole = append(whole, took)
		if took, err = raw.load(ctx, int64(b.items)); err != nil {
			return err
		}
		plain = append(plain, took)
	}
	w, p := median(whole), median(plain)
	fmt.Printf("  bulk: %d items, median of %d: raw load %v (%.0f rows/s), request %v (%.0f rows/s): %.0f %% (bar: 40 %%)\n",
		b.items, b.rounds, p.Round(time.Millisecond), rate(b.items, p), w.Round(time.Millisecond), rate(b.items, w),
		100*p.Seconds()/w.Seconds())
	return nil
}

func rate(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }

func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[len(s)/2]
}

// statements of the schema that concern a table, renamed to a copy of it.
func copied(schema, table string) []string {
	var list []string
	schema = regexp.MustCompile(`--[^\n]*`).ReplaceAllString(schema, "")
	for _, st := range strings.Split(schema, ";") {
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
