// Command subscriptions measures the subscription operations through the whole stack, on both engines: bulk creation
// against a raw load of the same stored rows, the memory of the server during one bulk request, the deepest page of a
// long list against its first, and a point get against a bare handler with one primary-key select. Both sides of each
// pair run in turns in one server process. PostgreSQL is the one that VIGIA_TEST_POSTGRES names (scripts/with-postgres
// starts a private one).
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var (
	engine  = flag.String("engine", "", "sqlite or postgres; both unless given")
	rounds  = flag.Int("rounds", 7, "rounds of each side, taken in turns")
	items   = flag.Int("items", 10_000, "items of a bulk request")
	list    = flag.Int64("n", 5_000_000, "subscriptions in the long list; 0 leaves the lists out")
	conns   = flag.Int("c", 32, "connections of the point get")
	each    = flag.Duration("d", 2*time.Second, "length of a round of the point get")
	profile = flag.String("cpuprofile", "", "write a profile of the bulk requests here")
	child   = flag.String("child", "", "internal: measure in this folder")
)

// bench is the service under measurement.
type bench struct {
	*site.Service
	db   *sqldb.DB // beside the app's own, for the raw sides
	sent int       // people made up so far
}

func main() {
	load.Main(func(ctx context.Context) {
		if *child != "" {
			measure(ctx)
			return
		}
		// Each engine in a process of its own, so that the memory of one says nothing about the other.
		for _, e := range site.Engines(*engine) {
			folder, remove := load.Folder()
			defer remove()
			args := []string{"-engine", e, "-child", filepath.Join(folder, "data")}
			flag.Visit(func(f *flag.Flag) {
				if f.Name != "engine" {
					args = append(args, "-"+f.Name+"="+f.Value.String())
				}
			})
			cmd := load.Self(args...)
			cmd.Stdout = os.Stdout
			load.Check(cmd.Run())
		}
	})
}

func measure(ctx context.Context) {
	b := &bench{Service: site.NewService(ctx, *child, *engine)}
	defer b.Close()
	b.db = load.Must(sqldb.Open(ctx, b.DatabaseAddress(), sqldb.Options{StatementTimeout: time.Hour}))
	defer func() { _ = b.db.Close() }()
	b.Listen(ctx, "api", 16)
	fmt.Printf("\n%s\n", *engine)
	b.memory()
	b.bulk(ctx)
	b.get(ctx)
	if *list > 0 {
		b.lists(ctx)
	}
}

// body makes up a bulk request of people nobody has sent before.
func (b *bench) body(items int) []byte {
	from := b.sent + 1
	b.sent += items
	return site.Items(from, b.sent+1, func(n int) string {
		return fmt.Sprintf(`{"start_date":"2026-02-01","expiry_date":"2099-01-31","plan_id":%q,"is_group_plan":true,"group_size":"120",`+
			`"benefit_holder":"12ABC34501DE35","beneficiary":{"primary_card":"4111111111111111","user_card":"5555555555554444",`+
			`"name":"Pessoa Inventada de Souza %d","cpf":%q,"birth_date":"1990-05-17","gender":"F","email":"pessoa.%d@exemplo.com.br",`+
			`"phone_number":"+55119%08d","address":{"zipcode":"01001000","street":"Rua das Laranjeiras","number":"%d",`+
			`"complement":"Apto 12","neighborhood":"Centro","city":"São Paulo","state":"SP"}},"partner_metadata":"{\"canal\":\"app\"}",`+
			`"partner_internal_id":"contrato-%d"}`, site.Plan, n, site.CPF(n), n, n%100_000_000, n%1000, n)
	})
}

// post times a bulk request and makes sure that all of it was created.
func (b *bench) post(body []byte, items int) load.Result {
	var answer []byte
	took := load.Time(items, func() { answer = b.Ask("POST", "/v1/subscriptions", body) })
	var outcome struct {
		Created int `json:"total_created_items"`
	}
	if err := json.Unmarshal(answer, &outcome); err != nil || outcome.Created != items {
		load.Fail("created %d of %d items: %.200s", outcome.Created, items, answer)
	}
	return took
}

// memory tells how far the resident set grows during one bulk request, from its state before to its highest point.
func (b *bench) memory() {
	warm, body := b.body(10), b.body(*items)
	b.post(warm, 10)
	debug.FreeOSMemory()
	load.Check(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // forgets the highest point so far
	before := load.Memory("self", "VmRSS")
	b.post(body, *items)
	mib := func(n int64) float64 { return float64(n) / (1 << 20) }
	fmt.Printf("  memory: one request of %d items, %.1f MiB: %.1f MiB more at its highest than the %.1f MiB before (bar: 64)\n",
		*items, mib(int64(len(body))), mib(load.Memory("self", "VmHWM")-before), mib(before))
}

// bulk compares requests with raw loads of the rows that the requests stored.
func (b *bench) bulk(ctx context.Context) {
	b.copyTables(ctx)
	stop := func() {}
	if *profile != "" {
		stop = load.Profile(*profile + "." + *engine)
	}
	took := load.Turns(*rounds, func() load.Result { return b.post(b.body(*items), *items) }, func() load.Result { return b.rawLoad(ctx) })
	stop()
	whole, plain := load.Median(took[0].Elapsed()), load.Median(took[1].Elapsed())
	rate := func(d time.Duration) float64 { return float64(*items) / d.Seconds() }
	fmt.Printf("  bulk: %d items, median of %d: raw load %v (%.0f rows/s), request %v (%.0f rows/s): %.0f %% (bar: 40 %%; rounds %.2f)\n",
		*items, *rounds, plain.Round(time.Millisecond), rate(plain), whole.Round(time.Millisecond), rate(whole),
		100*plain.Seconds()/whole.Seconds(), load.Ratios(took[0], took[1]))
}

// get compares GET /subscriptions/{plan}/{cpf} with a bare handler that selects one row by its primary key.
func (b *bench) get(ctx context.Context) {
	bare := load.Must(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { _ = bare.Close() }()
	go func() { _ = http.Serve(bare, http.HandlerFunc(b.bareGet)) }()
	ask := func(address string, path func(n int) string) func() load.Result {
		return func() load.Result {
			return load.Run(ctx, address, *conns, *each, func() []byte {
				return load.Request("GET", address, path(1+rand.IntN(b.sent)), b.Header(), nil)
			})
		}
	}
	took := load.Turns(*rounds,
		ask(b.API, func(n int) string { return "/v1/subscriptions/" + site.Plan + "/" + site.CPF(n) }),
		ask(bare.Addr().String(), func(n int) string { return "/" + strconv.Itoa(n) }))
	whole, plain, ratios := took[0].Best(), took[1].Best(), load.Ratios(took[0], took[1])
	fmt.Printf("  get: %d connections, best of %d, ratio their median: bare %.0f requests/s (p50 %v), whole stack %.0f (p50 %v): %.0f %% (bar: 60 %%; rounds %.2f)\n",
		*conns, *rounds, plain.Rate(), plain.P50, whole.Rate(), whole.P50, 100*load.Median(ratios), ratios)
}

func (b *bench) bareGet(w http.ResponseWriter, r *http.Request) {
	seq, err := strconv.ParseInt(r.URL.Path[1:], 10, 64)
	var planID string
	var body []byte
	var start, expiry int64
	if err == nil {
		err = b.db.Reader().QueryRowContext(r.Context(), `SELECT plan_id, start_day, expiry_day, body FROM subscription
			WHERE partner_id = $1 AND seq = $2`, b.Partner.ID.Number(), seq).Scan(&planID, &start, &expiry, &body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("content-type", "application/json; charset=utf-8")
	w.Header().Set("content-length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}
